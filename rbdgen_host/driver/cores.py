"""Tasks of a plain design, each of which computes all of its functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rbdgen.codegen.compiled import Results
from rbdgen.graph.fixed import Integers
from rbdgen.tools.model import Model, Result, Session

from .coder import Coder
from .registers import Registers
from .requests import Answer, Tasks
from .words import Flags


@dataclass(frozen=True, eq=False)
class Computed:
    """A core's results for N tasks: words and flags (N, outputs).

    For hardware also latencies (N,), and the cycles from the first accepted task to the last
    result.
    """

    results: Integers
    flags: Flags
    latency: Integers | None = None
    cycles: int | None = None


Compute = Callable[[Integers], Computed]  # of words (N, inputs)


def by_model(
    inputs: Sequence[str], model: Callable[[Mapping[str, Integers], str], Results]
) -> Compute:
    """The core's integer model, of ``inputs`` in the order of a task's words."""

    def compute(words: Integers) -> Computed:
        named = {name: words[:, k] for k, name in enumerate(inputs)}
        found, flags = model(named, "")
        return Computed(np.stack(list(found.values()), axis=1), flags)

    return compute


@dataclass(eq=False)
class Running:
    """A design's Verilog after one reset, with the words of ``registers`` in it.

    It keeps its state from one batch to the next. A batch that ends in a fault is followed by
    another reset.
    """

    model: Model
    registers: Registers | None = None
    _session: Session | None = None
    _written: list[int] = field(default_factory=list)

    def run(self, tokens: Integers) -> Result:
        """The results of (N, fields) tokens; as `Session.run`."""
        if self._session is None or not self._session.close.alive:
            self._session, self._written = self.model.session(), []
        words = self.registers.words if self.registers else []
        held = words if words != self._written else ()
        found = self._session.run(tokens, held=held, drain=0)
        self._written = list(words)
        return found


def by_hardware(running: Running, outputs: int) -> Compute:
    """The core's Verilog, of so many ``outputs``."""

    def compute(words: Integers) -> Computed:
        run = running.run(words)
        results, flags = run.outputs[:, :outputs], run.outputs[:, outputs:]
        taken, left = run.accept_cycle, run.result_cycle
        cycles = int(left.max() - taken.min())
        return Computed(results, flags.astype(np.bool_), left - taken, cycles)

    return compute


def run_core(
    coder: Coder, outputs: Sequence[str], compute: Compute, batches: Sequence[Tasks]
) -> tuple[list[Answer], int | None]:
    """Batches that follow each other at the same states share tasks; ``outputs``: of the core.

    An overflow is of those results that are asked for.
    """
    rows, starts = _together([word.name for word in coder.tasks.words], batches)
    if len(rows):
        found = compute(rows)
    else:
        nothing = np.zeros((0, len(outputs)), np.int64)
        found = Computed(nothing, nothing.astype(np.bool_))
    place = {name: k for k, name in enumerate(outputs)}
    answers = []
    for tasks, start in zip(batches, starts, strict=True):
        own = slice(start, start + len(tasks.tags))
        columns = [place[own.name] for own in coder.tasks.functions[tasks.function].outputs]
        answers.append(
            Answer(
                coder.arrays(tasks.function, found.results[own][:, columns]),
                np.asarray(found.flags[own][:, columns].any(axis=1)),
                None if found.latency is None else found.latency[own],
            )
        )
    return answers, found.cycles


def _together(words: Sequence[str], batches: Sequence[Tasks]) -> tuple[Integers, list[int]]:
    """A row of words for each task, and the row with which each batch begins.

    A word that no function of a task reads is zero.
    """
    shared: list[tuple[int, dict[str, Integers]]] = []
    starts, start = [], 0
    for tasks in batches:
        n, own = len(tasks.tags), dict(tasks.values)
        if shared and shared[-1][0] == n and _agree(shared[-1][1], own):
            shared[-1][1].update(own)
        else:
            shared.append((n, own))
            start += n
        starts.append(start - n)
    blocks = [
        np.stack([own.get(word, np.zeros(n, np.int64)) for word in words], axis=1)
        for n, own in shared
    ]
    return np.concatenate(blocks or [np.zeros((0, len(words)), np.int64)]), starts


def _agree(one: dict[str, Integers], other: dict[str, Integers]) -> bool:
    return all(np.array_equal(one[word], other[word]) for word in one.keys() & other.keys())
