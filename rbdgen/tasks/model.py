"""The integer model of an accelerator: the specification of its hardware."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

import numpy as np

from ..graph.fixed import Flags, Format, Held, Integers, convert, evaluate_fixed, parameters_of
from ..graph.node import Node
from .integration import turn_flags
from .routes import HOST, NOTHING, ROLLOUTS, STEPS, TOLD, TURN, Source, place
from .stages import Accelerator
from .visit import StageVisit

NOTHING_HELD: Held = MappingProxyType({})
Watch = Callable[[str, Node, Integers], None]


def evaluate_task(
    accelerator: Accelerator,
    function: str,
    words: Mapping[str, Integers],
    watch: Watch | None = None,
    held: Held = NOTHING_HELD,
) -> tuple[dict[str, Integers], Flags]:
    """Results (N,) of tasks, by output, and whether anything that a task visited overflowed.

    ``words``: the function's inputs (N,), in their own formats. ``watch`` sees every word of every
    stage that a task visits: the stage's name, the node, its values (N,). ``held``: words in
    registers for many tasks, ``STAGE.parameter[k]``, in place of those that stand there.
    """
    task = {place(field): np.asarray(values, np.int64) for field, values in words.items()}
    run = _Run(accelerator, function, task, len(next(iter(task.values()))), watch, held)
    if function not in ROLLOUTS:
        for visit in accelerator.ordered(function):
            run.compute(visit)
        return run.results()
    turns = np.maximum(task[STEPS], 1) * ROLLOUTS[function]
    results = {name: np.zeros(run.n, np.int64) for name in accelerator.results[function]}
    flags = np.zeros(run.n, np.bool_)
    for turn in range(int(turns.max(initial=0))):
        for visit in accelerator.turn(function, turn):
            run.compute(visit, turn)
        ends, (found, flagged) = turns == turn + 1, run.results()
        flags[ends] = flagged[ends]
        for name, values in found.items():
            results[name][ends] = values[ends]
    return results, flags


@dataclass
class _Run:
    """Tasks of one function on their way; each stage's last outputs and flags."""

    accelerator: Accelerator
    function: str
    task: Mapping[str, Integers]
    n: int
    watch: Watch | None = None
    held: Held = field(default_factory=dict)
    given: dict[str, dict[str, Integers]] = field(default_factory=dict)
    flagged: dict[str, Flags] = field(default_factory=dict)

    def compute(self, visit: StageVisit, turn: int = 0) -> None:
        stage = self.accelerator.stages[visit.stage]
        sources = stage.sources(self.function, visit)
        operands, flags = {}, np.zeros(self.n, np.bool_)
        for name, source in sources.items():
            operands[name], bad = self.operand(source, stage.fixed.inputs[name], turn)
            flags |= bad
        for name in {source.stage for source in sources.values()} & self.flagged.keys():
            flags = flags | self.flagged[name]
        watch = partial(self.watch, visit.stage) if self.watch else None
        found = evaluate_fixed(stage.fixed, operands | parameters_of(self.held, stage.name), watch)
        for bad in found.overflowed.values():
            flags = flags | bad
        self.given[stage.name] = {
            name: np.broadcast_to(values, self.n) for name, values in found.outputs.items()
        }
        self.flagged[stage.name] = flags

    def operand(self, source: Source, to: Format, turn: int) -> tuple[Integers, Flags]:
        if source.stage == NOTHING:
            return np.zeros(self.n, np.int64), np.zeros(self.n, np.bool_)
        if source.stage == TOLD:
            return np.full(self.n, -1), np.zeros(self.n, np.bool_)
        if source.stage == TURN:
            flags = turn_flags(turn % 4, self.function == "euler")
            return np.full(self.n, flags[source.field]), np.zeros(self.n, np.bool_)
        words = self.task if source.stage == HOST else self.given[source.stage]
        return convert(words[source.field], self.accelerator.given(self.function, source), to)

    def results(self) -> tuple[dict[str, Integers], Flags]:
        accelerator, function = self.accelerator, self.function
        givers = {name: accelerator.giver(function, name) for name in accelerator.results[function]}
        found = {name: self.given[own.stage][own.field] for name, own in givers.items()}
        flags = [self.flagged[stage] for stage in accelerator.flags_of(function)]
        return found, np.logical_or.reduce(flags)
