"""Folds of one graph at many intervals at once, without a linear program for each.

What `modulo` finds with linear programs is found here by steps that go through the graph once for
all intervals, a column of an array for each. Jobs take slots by the first of its rules that gives
the shortest latency. Then every other operation moves, one at a time and several times over, to
where the fewest bits wait with all others where they are: later while what it reads is wider than
what it gives, else earlier. Units are chosen in one pass. The folds keep all rules of a fold; they
have somewhat more bits waiting and somewhat wider multiplexers than those of `modulo`.

The results of an exploration: designs and their costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design.clock import ClockEstimate, Span
from ..design.energy import EnergyEstimate
from ..design.target import Target
from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op
from ..system.records import Record
from .area import ModelError
from .assign import assign
from .fold import Fold, keeping, verify_fold
from .modulo import LATE, RULES, GraphJobs, folding, latest_starts, least_waiting
from .pipelined import INPUT_REGISTER
from .units import Job, Jobs, all_hardware

Cycles = NDArray[np.int64]  # (intervals,) of something
SWEEPS = 2  # each backward, then forward
NEVER = 1 << 40


@dataclass(frozen=True, eq=False)
class _Graph:
    """A graph as numbered jobs, in an order in which operands come first.

    ``takes`` [cycles]; ``reads``: the nodes that each reads; ``readers``: of each node, the jobs;
    ``maker``: of each node, the job.
    """

    work: GraphJobs
    jobs: list[Job]
    takes: list[int]
    reads: list[list[Node]]
    readers: dict[Node, list[int]]
    maker: dict[Node, int]
    gives: list[list[Node]]

    @classmethod
    def of(cls, work: GraphJobs) -> _Graph:
        number: dict[Job, int] = {}
        takes: list[int] = []
        reads: list[list[Node]] = []
        gives: list[list[Node]] = []
        readers: dict[Node, list[int]] = {}
        for node in work.nodes:
            own = work.job[node]
            if own not in number:
                number[own] = len(number)
                takes.append(work.takes[node])
                reads.append(list(dict.fromkeys(work.operands[node])))
                gives.append([])
                for operand in reads[-1]:
                    readers.setdefault(operand, []).append(number[own])
            gives[number[own]].append(node)
        maker = {node: k for k, nodes in enumerate(gives) for node in nodes}
        return cls(work, list(number), takes, reads, readers, maker, gives)


def quick_folds(
    fixed: FixedGraph, target: Target, intervals: Sequence[int], jobs: Jobs
) -> Iterator[Fold]:
    """A fold for each of the intervals, in their order, operands chosen a cycle before they are
    taken, on the fewest units there can be."""
    if not intervals:
        return
    work = folding(fixed, target, jobs, selected=True)
    graph = _Graph.of(work)
    wish = least_waiting(work, {})
    latest = latest_starts(work)
    every = np.array(intervals, np.int64)
    best: Cycles | None = None
    for hurry, by_wish in RULES:
        order = {n: wish[n] - work.takes[n] for n in work.nodes} if by_wish else latest
        pinned = _slots(graph, jobs, every, wish, order, latest if hurry else None)
        soonest, end = _soonest(graph, pinned)
        if best is None:
            best, starts, times = end, pinned, soonest
        else:
            starts = {k: np.where(end < best, own, starts[k]) for k, own in pinned.items()}
            times = np.where(end < best, soonest, times)
            best = np.minimum(best, end)
    assert best is not None
    _settle(graph, set(starts), times, best)
    for column, interval in enumerate(intervals):
        own = times[:, column].tolist()
        time = {node: own[graph.maker[node]] for node in work.nodes}
        start = {job: own[k] - graph.takes[k] for k, job in enumerate(graph.jobs)}
        units = jobs.units(interval)
        place = assign(fixed, jobs, units, interval, time, start, passes=1)
        binding = all_hardware(fixed, jobs.hardware(units))
        held = keeping(fixed, time, work.takes)
        yield verify_fold(
            Fold(fixed, binding, target, jobs, interval, time, work.takes, held, units, place, True)
        )


def _slots(
    graph: _Graph,
    jobs: Jobs,
    every: Cycles,
    wish: dict[Node, int],
    order: dict[Node, int],
    latest: dict[Node, int] | None,
) -> dict[int, Cycles]:
    """Shared job → its start at each of the intervals, by a rule of `modulo`'s."""
    kinds = {kind: k for k, kind in enumerate(jobs.of)}
    there = np.array([list(jobs.units(int(i)).values()) for i in every])
    widest = int(every.max())
    used = np.zeros((len(kinds), len(every), widest), np.int64)
    columns, ahead = np.arange(len(every)), np.arange(2 * widest)
    beyond = ahead >= 2 * every[:, None]
    times = np.full((len(graph.jobs), len(every)), NEVER)
    shared = [k for k, own in enumerate(graph.jobs) if own in jobs.kind]
    first_of = {k: graph.gives[k][0] for k in shared}
    shared.sort(key=lambda k: (order[first_of[k]], graph.jobs[k][1].index, graph.jobs[k][0]))
    done: set[int] = set()
    starts: dict[int, Cycles] = {}
    longest = np.zeros(len(every), np.int64)

    def reach(job: int) -> None:
        """The times of all that ``job`` reads, which has its slots."""
        stack = [graph.maker[node] for node in graph.reads[job]]
        while stack:
            k = stack[-1]
            missing = [m for n in graph.reads[k] if (m := graph.maker[n]) not in done]
            stack += missing
            if not missing:
                stack.pop()
                if k not in done:
                    done.add(k)
                    times[k] = _ready(graph, times, k) + graph.takes[k]

    for k in shared:
        reach(k)
        node, kind = first_of[k], kinds[jobs.kind[graph.jobs[k]]]
        first = _ready(graph, times, k)
        aim = np.maximum(first, wish[node] - graph.takes[k])
        if latest is not None:
            longest = np.maximum(longest, first - latest[node])
            aim = np.maximum(first, np.minimum(aim, longest + latest[node] - every + 1))
        cycles = first[:, None] + ahead
        phases = cycles % every[:, None]
        full = used[kind][columns[:, None], phases] >= there[:, kind, None]
        late = cycles - aim[:, None]
        cost = np.where(late > 0, LATE * late, -late)
        cost[full | beyond] = NEVER
        choice = cost.argmin(axis=1)
        start = first + choice
        used[kind][columns, start % every] += 1
        if latest is not None:
            longest = np.maximum(longest, start - latest[node])
        starts[k] = start
        times[k] = start + graph.takes[k]
        done.add(k)
    return starts


def _ready(graph: _Graph, times: Cycles, k: int) -> Cycles:
    """When all is there that a job reads; of what reads nothing, when it would start."""
    makers = [graph.maker[node] for node in graph.reads[k]]
    if not makers:
        start = 0 if graph.gives[k][0].op is Op.INPUT else INPUT_REGISTER
        return np.full(times.shape[1], start)
    found: Cycles = times[makers].max(axis=0)
    return found


def _soonest(graph: _Graph, pinned: dict[int, Cycles]) -> tuple[Cycles, Cycles]:
    """The times of all jobs, as early as the pinned ones let them be, and the last of them."""
    first = next(iter(pinned.values()))
    times = np.zeros((len(graph.jobs), len(first)), np.int64)
    for k, takes in enumerate(graph.takes):
        times[k] = (pinned[k] if k in pinned else _ready(graph, times, k)) + takes
    return times, times.max(axis=0)


def _settle(graph: _Graph, pinned: set[int], times: Cycles, end: Cycles) -> None:
    """Move what is not pinned, in place, to where fewer bits wait; nothing after ``end``."""
    widths = {n: graph.work.fixed.formats[n].width for n in graph.work.nodes}
    free = [
        k
        for k, nodes in enumerate(graph.gives)
        if k not in pinned and nodes[0].op is not Op.INPUT and graph.reads[k]
    ]
    takes = np.array(graph.takes)[:, None]
    starts = times - takes
    for _ in range(SWEEPS):
        for later in (True, False):
            for k in reversed(free) if later else free:
                own = sum(widths[n] for n in graph.gives[k] if n in graph.readers)
                readers = [r for n in graph.gives[k] for r in graph.readers.get(n, ())]
                most = starts[readers].min(axis=0) if readers else end
                start = _best(graph, k, own, widths, times, starts, most - graph.takes[k], later)
                starts[k] = start
                times[k] = start + graph.takes[k]


def _best(
    graph: _Graph,
    k: int,
    own: int,
    widths: dict[Node, int],
    times: Cycles,
    starts: Cycles,
    most: Cycles,
    later: bool,
) -> Cycles:
    """The start of a job at which the fewest bits wait, of several the latest, or the earliest.

    A cycle later it saves a cycle of its ``own`` bits. It costs one of those operands that nothing
    else reads as late.
    """
    read = graph.reads[k]
    makers = [graph.maker[n] for n in read]
    there = times[makers]
    until = there.copy()  # when others read an operand last
    for row, node in enumerate(read):
        others = [r for r in graph.readers[node] if r != k]
        if others:
            until[row] = starts[others].max(axis=0)
    bits = np.array([widths[n] for n in read])
    order = until.argsort(axis=0, kind="stable")
    lasting = np.take_along_axis(until, order, axis=0)
    costs = bits[order].cumsum(axis=0)
    stops = (costs > own if later else costs >= own).argmax(axis=0)
    wanted = np.take_along_axis(lasting, stops[None], axis=0)[0]
    all_of = int(bits.sum())
    if own > all_of or (later and own == all_of):
        wanted = most
    found: Cycles = np.clip(wanted, there.max(axis=0), most)
    return found


@dataclass(frozen=True)
class DesignPoint(Record):
    """A design: its ``choices``, its rate, and sites by quantity as in `counted`.

    ``latency`` [cycles] and ``estimated`` are None of what needs too many multipliers, ``mapped``
    is where Yosys has not counted; ``generate`` is the command that makes it, None for what a
    command line cannot say. ``longest`` [cycles]: from a task that comes in any cycle to its
    result, at most. ``worst``: its coordinates with the largest errors, at the limits and at a
    tenth of them, and ``error`` the largest, relative; a tenth of it counts at a tenth. Both, and
    ``longest``, are None of quick designs. ``clock``: that is expected at the part's slowest speed
    grade; None where that is not known. ``smallest``: the smallest part of the family that has the
    multipliers, and the LUTs, which may be estimated, with room for the model's worst error.
    ``energy`` of a result, estimated; None where it is not known.
    """

    choices: Mapping[str, Any]
    interval: int
    latency: int | None
    evaluations_per_clock: float
    multipliers: int | None
    estimated: Mapping[str, int] | None
    mapped: Mapping[str, int] | None
    generate: str | None
    why_not: str | None = None
    worst: str | None = None
    fits: bool = False
    pareto: bool = False
    clock: ClockEstimate | None = None
    longest: int | None = None
    error: float | None = None
    smallest: str | None = None
    energy: EnergyEstimate | None = None

    @property
    def us(self) -> Span | None:
        """The µs from a task that comes in any cycle to its result, at most; of a quick design from
        one that is taken. None where the clock is not known."""
        cycles = self.latency if self.longest is None else self.longest
        return self.clock.us(cycles) if self.clock and cycles is not None else None

    @property
    def rate(self) -> Span | None:
        """M tasks/s; None where the clock is not known."""
        return self.clock.rate(self.interval) if self.clock else None

    @property
    def cells(self) -> Mapping[str, int] | None:
        """The cells that Yosys counted, else those of the model."""
        return self.mapped or self.estimated


@dataclass(frozen=True)
class Sites(Record):
    """The sites of a part."""

    multipliers: int
    luts: int


@dataclass(frozen=True)
class QuickError(Record):
    """How far estimates from quick schedules are off those from full ones, relative, over some
    ``designs``: root mean square, and the largest with its sign."""

    designs: int
    rms: float
    worst: float


@dataclass(frozen=True)
class Explored(Record):
    """Designs of a robot's functions for a part; ``model``: by quantity, how far the model is off
    where it was fitted; ``quick``: where schedules are quick ones, how far those are off."""

    robot: str
    functions: tuple[str, ...]
    target: str
    part: str
    limits: Sites
    model: Mapping[str, ModelError]
    points: tuple[DesignPoint, ...]
    quick: Mapping[str, QuickError] | None = None
