"""An accelerator's functions: as visits to the graph that its stages are cut from, and in integers.

The integer model is the specification of its hardware. A `Specification` is made when a design is
compiled, and read again from the folder that a design was written to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

import numpy as np

from ..design.arrays import left_out
from ..design.design import Design
from ..design.functions import GIVES
from ..design.target import Target
from ..graph.fixed import (
    FixedGraph,
    Flagged,
    Flags,
    Format,
    Held,
    Integers,
    convert,
    evaluate_fixed,
    parameters_of,
)
from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.visits import Program, Visit, VisitResult
from ..graph.visits import Source as VisitSource
from ..graph.word import indices, kind_of, renamed
from ..robot.model import Robot
from ..words.program_ranges import WHOLE
from .integration import turn_flags
from .routes import (
    CALLED,
    HOST,
    NOTHING,
    ROLLOUTS,
    ROUTES,
    STEPS,
    TOLD,
    TURN,
    Source,
    StageVisit,
    origin,
    place,
)
from .stages import Accelerator

FIRST, FORWARD, AGAIN = (
    StageVisit("rnea"),
    StageVisit("forward"),
    StageVisit("rnea", again=True),
)


def in_visits(graph: Graph, functions: Iterable[str], given: int) -> list[Program]:
    """The functions as programs, whose words of the task have the names of the graph's inputs.

    ``given``: how many of v's first entries are the base's, its motion being given. A rollout
    counts as its evaluation of forward dynamics.
    """
    named = dict.fromkeys("fd" if f in ROLLOUTS else f for f in functions)
    return [_task(graph, function, given) for function in named]


def _task(graph: Graph, function: str, given: int) -> Program:
    steps = [FIRST, *(visit for visit in (FORWARD, AGAIN) if visit in ROUTES[function])]
    visits = {step: Visit(WHOLE, (k,)) for k, step in enumerate(steps)}
    by_stage = {"rnea": visits[FIRST], "inverse": visits[FIRST], "forward": visits.get(FORWARD)}

    def source(field: str, step: StageVisit) -> VisitSource:
        of = origin(field, function, step, {}, given)
        if of.stage == NOTHING:
            return 0.0
        if of.stage == TOLD:
            return -1.0
        if of.stage == HOST:
            return field
        giver = by_stage[of.stage]
        assert giver is not None, f"{function}: {field} comes from a stage that it does not visit"
        return VisitResult(giver, of.field)

    reads = {
        visit: {field: source(field, step) for field in graph.inputs}
        for step, visit in visits.items()
    }
    own = {CALLED.get(kind, kind): kind for kind in GIVES[function]}
    last = visits[steps[-1]]
    outputs: dict[str, VisitSource] = {
        renamed(name, own[kind_of(name)]): VisitResult(
            visits.get(FORWARD, last) if kind_of(name) == "qdd" else last, name
        )
        for name in graph.outputs
        if kind_of(name) in own and min(indices(name)) >= left_out(function)
    }
    return Program({WHOLE: graph}, reads, outputs)


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


@dataclass(frozen=True, eq=False)
class DesignedRobot:
    """A design, and the robot that it is for."""

    design: Design
    target: Target  # the design's part
    robot: Robot  # as the file says
    canonical: Robot  # rewritten; same τ


@dataclass(frozen=True, eq=False)
class Specification:
    """Functions of a robot in fixed point, as the integer model computes them.

    ``accelerator``: the stages; a core is one stage, each task of which computes all functions.
    ``held``: words in registers in place of their own.
    """

    front: DesignedRobot
    accelerator: Accelerator
    held: Held = field(default_factory=dict, kw_only=True)

    @property
    def design(self) -> Design:
        """The choices, and what was chosen."""
        return self.front.design

    @property
    def is_core(self) -> bool:
        """Whether a task computes all functions."""
        return self.accelerator.is_core

    @property
    def graphs(self) -> dict[str, FixedGraph]:
        """Stage → its graph; a core's needs no name."""
        stages = self.accelerator.stages.items()
        return {"" if self.is_core else name: stage.fixed for name, stage in stages}

    @property
    def fixed(self) -> FixedGraph:
        """The graph of the one stage that there is."""
        (stage,) = self.accelerator.stages.values()
        return stage.fixed

    @property
    def flagged(self) -> Flagged:
        """Node of that graph that can overflow → the outputs, by number, whose flags it raises."""
        (stage,) = self.accelerator.stages.values()
        return stage.flagged
