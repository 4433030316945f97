"""Modulo scheduling: every task the same, one every ``interval`` cycles, on shared units.

First a linear program says when each operation would start if nothing were shared, values waiting
the least. Then jobs that share units take slots in that order: the phase with a free unit that is
nearest to their time. Since a graph has no cycles and every job can wait, this always ends; since
there are as many slots as jobs, or a few more, latency grows by little. With those cycles given,
the program finds the times of everything else anew. The best of a few rules for the order and the
choice is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from ..design.target import Target
from ..graph.fixed import FixedGraph
from ..graph.graph import operands
from ..graph.node import STILL, Node, Op
from .assign import assign
from .difference_constraints import DifferenceConstraints
from .exact import exact
from .fold import Fold, ends_in_register, in_port, keeping, register_number, verify_fold
from .pipelined import INPUT, INPUT_REGISTER, duration
from .units import Job, Jobs, UnitKind, all_hardware, job, shared_jobs

# Whether jobs on the longest path hurry; and whether jobs choose by their wish, or by urgency.
RULES = ((True, False), (False, True), (False, False), (True, True))
LARGE = 10_000  # operations from which on a program knows of no more words than it must
LATE = 2  # a cycle after the wanted one costs as much as so many before it


@dataclass(frozen=True, eq=False)
class GraphJobs:
    """A graph as jobs: how long each node takes, whose job it is, and what it waits for."""

    fixed: FixedGraph
    takes: Mapping[Node, int]
    job: Mapping[Node, Job]
    operands: Mapping[Node, list[Node]]
    before: Mapping[Job, list[Node]]  # job → operands of its nodes

    @classmethod
    def of(cls, fixed: FixedGraph, takes: Mapping[Node, int]) -> GraphJobs:
        jobs = {node: job(node) for node in takes}
        reads = {node: operands(node) for node in takes}
        return cls(fixed, takes, jobs, reads, {jobs[node]: reads[node] for node in takes})

    @property
    def nodes(self) -> Iterable[Node]:
        return self.takes


def fold(
    fixed: FixedGraph,
    target: Target,
    interval: int,
    jobs: Jobs | None = None,
    units: Mapping[UnitKind, int] | None = None,
    solver: bool = False,
    selected: bool = False,
) -> Fold:
    """A datapath that takes a task every ``interval`` cycles.

    On so many ``units`` of each kind; None: on the fewest that there can be. ``solver``: let CP-SAT
    better the list schedule; see ``exact``, also for what it raises. ``selected``: operands are
    chosen a cycle before a shared unit takes them, for a faster clock.
    """
    jobs = jobs or shared_jobs(fixed, target)
    units = units or jobs.units(interval)
    work = folding(fixed, target, jobs, selected)
    takes = work.takes
    wish, latest = least_waiting(work, {}), latest_starts(work)
    found: list[tuple[int, dict[Job, int]]] = []
    for hurry, by_wish in RULES:
        order = {n: wish[n] - takes[n] for n in takes} if by_wish else latest
        slots = _take_slots(work, jobs, units, interval, wish, order, latest if hurry else None)
        found.append((_latest(work, _pins(work, slots)), slots))
    least = min(end for end, _ in found)  # which is known before any program is solved
    soonest = [least_waiting(work, slots) for end, slots in found if end == least]
    time = min(soonest, key=lambda times: waiting_bits(fixed, times, takes, interval))
    if solver:
        starts, _ = exact(fixed, takes, jobs, units, interval, time)
        time = least_waiting(work, starts)
    start = {work.job[n]: time[n] - takes[n] for n in takes}
    place = assign(fixed, jobs, units, interval, time, start)
    binding = all_hardware(fixed, jobs.hardware(units), jobs.kind)
    held = keeping(fixed, time, takes)
    return verify_fold(
        Fold(fixed, binding, target, jobs, interval, time, takes, held, units, place, selected)
    )


def folding(fixed: FixedGraph, target: Target, jobs: Jobs, selected: bool) -> GraphJobs:
    """The graph as jobs; ``selected``: those that are shared take a cycle more, see `fold`."""
    takes = durations(fixed, target, jobs.kind)
    for node in takes:
        kind = jobs.kind.get(job(node))
        takes[node] += in_port(kind, selected) if kind else 0
    return GraphJobs.of(fixed, takes)


def durations(
    fixed: FixedGraph, target: Target, kind: Mapping[Job, UnitKind] | None = None
) -> dict[Node, int]:
    """Cycles of every operation on a unit of its kind."""
    binding = all_hardware(fixed, 0, kind)
    nodes = (n for n in fixed.graph.nodes if n.op not in (*STILL, Op.MULC))
    return {n: duration(fixed, binding, target, n) for n in nodes}


def least_waiting(work: GraphJobs, given: Mapping[Job, int]) -> dict[Node, int]:
    """Times at the shortest latency, with the least bits waiting; ``given``: starts of jobs."""
    program, formats, jobs = DifferenceConstraints(), work.fixed.formats, work.job
    program.variable(INPUT)
    alone = _read_once(work) if len(work.takes) > LARGE else frozenset()
    for node in work.nodes:
        own, takes = jobs[node], work.takes[node]
        # the time of a job's results, all there at once
        program.after(own, INPUT, takes)
        for operand in work.operands[node]:
            program.after(own, jobs[operand], takes)
            if operand in alone:  # until its one reader starts
                program.shorten(own, jobs[operand], formats[operand].width)
                continue
            last = "last", operand.index
            if last not in program.number:
                program.shorten(last, jobs[operand], formats[operand].width)
                program.after(last, jobs[operand], 0)
            program.after(last, own, -takes)
    pins = _pins(work, given)
    x = program.solve(pins, _latest(work, pins))
    return {node: x[jobs[node]] for node in work.nodes}


def _read_once(work: GraphJobs) -> frozenset[Node]:
    """The nodes that a single operand is."""
    reads = Counter(operand for node in work.nodes for operand in work.operands[node])
    return frozenset(operand for operand, n in reads.items() if n == 1)


def _pins(work: GraphJobs, given: Mapping[Job, int]) -> dict[object, int]:
    """The times of the task and its words, and of jobs whose starts are given."""
    pins: dict[object, int] = {INPUT: 0}
    for node, own in work.job.items():
        if node.op is Op.INPUT:
            pins[own] = INPUT_REGISTER
        elif own in given:
            pins[own] = given[own] + work.takes[node]
    return pins


def _latest(work: GraphJobs, pins: Mapping[object, int]) -> int:
    """The shortest latency with some times given."""
    time: dict[Job, int] = {}
    for node in work.nodes:
        own, takes = work.job[node], work.takes[node]
        ready = max((time[work.job[a]] + takes for a in work.operands[node]), default=0)
        time[own] = pins.get(own, max(ready, takes))
    return max(time.values(), default=0)


def latest_starts(work: GraphJobs) -> dict[Node, int]:
    """When each operation must start, counted back from the last result: all below zero."""
    latest: dict[Job, int] = {}
    start: dict[Node, int] = {}
    for node in reversed(list(work.nodes)):
        start[node] = min(latest.get(work.job[node], 0), 0) - work.takes[node]
        for operand in work.operands[node]:
            latest[work.job[operand]] = min(latest.get(work.job[operand], 0), start[node])
    return start


def _take_slots(
    work: GraphJobs,
    jobs: Jobs,
    units: Mapping[UnitKind, int],
    interval: int,
    wish: Mapping[Node, int],
    order: Mapping[Node, int],
    latest: Mapping[Node, int] | None,
) -> dict[Job, int]:
    """Job → start, for those that share units.

    They choose in the ``order`` given, the slot nearest to their wish; where ``latest`` starts are
    given, those that are on the longest path so far choose the earliest slot.
    """
    used = {kind: [0] * interval for kind in units}
    at: dict[Job, int] = {}  # when a job's results are there, at the earliest
    starts: dict[Job, int] = {}
    shared: dict[Job, Node] = {}
    for node in work.nodes:
        if work.job[node] in jobs.kind:
            shared.setdefault(work.job[node], node)

    def ready(own: Job) -> int:
        """The first cycle in which all that the job reads is there; all of it has its slot."""
        for operand in work.before[own]:
            stack = [operand]
            while stack:
                there = stack[-1]
                waits = [a for a in work.before[work.job[there]] if work.job[a] not in at]
                if waits:
                    stack += waits
                    continue
                stack.pop()
                first = max((at[work.job[a]] for a in work.before[work.job[there]]), default=0)
                at.setdefault(work.job[there], first + work.takes[there])
        return max((at[work.job[a]] for a in work.before[own]), default=INPUT_REGISTER)

    wanted = {own: wish[node] - work.takes[node] for own, node in shared.items()}
    longest = 0
    for own in sorted(shared, key=lambda j: (order[shared[j]], j[1].index, j[0])):
        first, kind = ready(own), jobs.kind[own]
        aim = max(first, wanted[own])
        if latest is not None:
            longest = max(longest, first - latest[shared[own]])
            # a slot up to an interval later shall not make the longest path longer
            aim = max(first, min(aim, longest + latest[shared[own]] - interval + 1))
        start = _nearest(aim, first, interval, used[kind], units[kind])
        used[kind][start % interval] += 1
        if latest is not None:
            longest = max(longest, start - latest[shared[own]])
        starts[own] = start
        at[own] = start + work.takes[shared[own]]
    return starts


def _nearest(aim: int, first: int, interval: int, used: Sequence[int], units: int) -> int:
    """The cycle nearest to ``aim``, in the two intervals from ``first``, with a unit in its phase.

    ``used``: units by phase. One that is later counts as `LATE` times as far; of two, the earlier.
    """
    end = first + 2 * interval
    for far in count(max(aim - end + 1, 0)):
        for t in (aim - far, aim + far // LATE):
            there = t <= aim or far % LATE == 0
            if there and first <= t < end and used[t % interval] < units:
                return t
    raise AssertionError("endless")


def waiting_bits(
    fixed: FixedGraph, time: Mapping[Node, int], takes: Mapping[Node, int], interval: int
) -> int:
    """Bits of the registers in which values wait, beyond those that end adders."""
    last: dict[Node, int] = {}
    for node in time:
        for operand in operands(node):
            last[operand] = max(last.get(operand, 0), time[node] - takes[node])
    bits = 0
    for node, until in last.items():
        registers = register_number(ends_in_register(fixed, node), until - time[node], interval)
        bits += registers * fixed.formats[node].width
    return bits
