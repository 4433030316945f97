"""A folded datapath: one task every ``interval`` cycles, on fewer units than operations.

Times are cycles since a task was taken; cycle t of every task has the phase t mod interval, and
an operation runs in the same phase for each of them. What a shared unit gives can be read in one
cycle only; every other result has a register of its own, which keeps it for an interval. Values
that are needed for longer move on through more registers, once an interval, or through a LUT-RAM.
Where operations are chained within a clock (``Chain``), results have no registers of their own:
they can be read in one cycle only, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..design.target import Target
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph, operands, source
from ..graph.node import STILL, Node, Op, Region
from .channels import PUSHES_ON_THE_WAY
from .difference_constraints import ScheduleError, delay, gathering
from .pipelined import INPUT, INPUT_REGISTER, OUTPUT
from .plan import Channel, ChannelWord, PlanDefaults
from .units import Binding, Job, Jobs, UnitKind, job

LOGIC_PORT = 2  # registers in front of each operand of a product in logic
EPSILON = 1e-9  # ns, of floating point
WAKING = 4  # cycles from a task that is offered until phases that rest take it
OR_REGISTERS = 1  # cycles in which overflow bits are gathered before they join a task's flag


@dataclass(frozen=True)
class Place:
    """The unit that a job runs on; ``swapped``: a multiplier takes its operands in turned order."""

    kind: UnitKind
    number: int
    swapped: bool = False


@dataclass(frozen=True)
class Chain:
    """Operations chained within a clock of ``period`` ns.

    ``flag``: the cycle in which all overflow bits of a task are gathered; None: there are none.
    """

    period: float
    flag: int | None


@dataclass(frozen=True, eq=False)
class Fold(PlanDefaults):
    """When and where everything happens.

    ``time``: node → first cycle in which its result can be read; ``takes``: cycles from its
    operands to there; ``registered``: nodes whose own register keeps the result for an interval.
    ``units`` there are of each kind, and the ``place`` of every job that runs on one of them.
    ``selected``: a register stands between a shared unit and what chooses its operands. In front
    of a product in logic stand `LOGIC_PORT`: it lies wherever there is room for it.
    """

    fixed: FixedGraph
    binding: Binding
    target: Target
    jobs: Jobs
    interval: int
    time: Mapping[Node, int]
    takes: Mapping[Node, int]
    registered: Set[Node]
    units: Mapping[UnitKind, int]
    place: Mapping[Job, Place]
    selected: bool = False
    chain: Chain | None = None

    @property
    def waking(self) -> int:
        """`WAKING` where there are phases to rest."""
        return WAKING if self.interval > 1 else 0

    def start(self, node: Node) -> int:
        """The cycle in which the node's unit takes its operands."""
        return self.time[node] - self.takes[node]

    def held(self, node: Node) -> bool:
        """Whether a register of the node's own keeps the result for an interval."""
        return node in self.registered

    def shared(self, node: Node) -> bool:
        """Whether the node runs on one of the ``units``; if not, on hardware of its own."""
        return job(node) in self.place

    def in_port(self, kind: UnitKind) -> int:
        """Registers in front of each operand of such units."""
        return in_port(kind, self.selected)

    def own(self, node: Node) -> bool:
        """Whether the result is made by hardware of the node's own, be it a last register."""
        return ends_in_register(self.fixed, node) or not self.shared(node)

    def register(self, node: Node, cycle: int) -> int:
        """Which of a value's registers shows it in ``cycle``: the first is number 0.

        For what has none of its own, 0 is its unit's output; what stands still is the same always.
        """
        if node.op in STILL:
            return 0
        return register_number(self.held(node), cycle - self.time[node], self.interval)

    def loads(self, node: Node) -> int:
        """The phase at whose end a value enters its registers."""
        return (self.time[node] - self.held(node)) % self.interval

    @cached_property
    def outputs(self) -> list[Node]:
        """The nodes whose values leave, each once."""
        found = {source(n): None for n in self.fixed.graph.outputs.values()}
        return [n for n in found if n.op not in STILL]

    @cached_property
    def checks(self) -> dict[int, list[Node]]:
        """Cycle → the nodes whose overflow bits are looked at in it, of all that can overflow."""
        return self.checks_of(self.time)

    def checks_of(self, nodes: Iterable[Node]) -> dict[int, list[Node]]:
        """``checks`` of some nodes.

        Each keeps its bit for an interval, and the last is looked at when it comes.
        """
        first = {
            node: self.time[node] if self.held(node) else self.time[node] + 1
            for node in nodes
            if self.fixed.overflowing(node)
        }
        if not first:
            return {}
        last = max(first.values())
        if self.chain is not None and self.chain.flag is not None:
            last = self.chain.flag  # in which bits of that very cycle are looked at, too
        groups: dict[int, list[Node]] = {}
        for node, cycle in first.items():
            before = max(last - cycle, 0) // self.interval * self.interval
            groups.setdefault(last - before, []).append(node)
        # a flag lasts an interval, so there is one in each from the first to the last
        ends = range(min(groups), last + 1, self.interval)
        return {cycle: groups.get(cycle, []) for cycle in ends}

    @cached_property
    def flagged_at(self) -> int | None:
        """The cycle in which the task's overflow flag can be read; None: nothing can overflow."""
        if self.chain is not None:
            return self.chain.flag
        return flag_time(self.checks) if self.checks else None

    @cached_property
    def channel(self) -> Channel:
        """Where results wait for the last of their task, each written when it is there."""
        words = [ChannelWord(n, self.fixed.formats[n].width, self.time[n], 0) for n in self.outputs]
        if self.flagged_at is not None:
            words.append(ChannelWord(None, 1, self.flagged_at, 0))
        channel = Channel(INPUT, OUTPUT, tuple(words))
        # read at once: a place is free again two cycles after its token is taken
        depth = -(-(channel.delay + 2) // self.interval) + 1 + PUSHES_ON_THE_WAY
        return replace(channel, depth=depth)

    @property
    def channels(self) -> tuple[Channel, ...]:
        """All of them: one."""
        return (self.channel,)

    @property
    def fire(self) -> dict[Region, int]:
        """When a task is taken, and when its result can be."""
        return {INPUT: 0, OUTPUT: self.channel.delay}

    @property
    def latency(self) -> int:
        """Cycles from the clock edge that takes a task in to the one that can take its result."""
        return self.channel.delay

    def flagged(self, overflowed: Mapping[Node, NDArray[np.bool_]], n: int) -> NDArray[np.bool_]:
        """(n, outputs): the flags of n results. An overflow anywhere in a task flags all of its."""
        return flagged_together(self.fixed.graph, overflowed, n)


def flagged_together(
    graph: Graph, overflowed: Mapping[Node, NDArray[np.bool_]], n: int
) -> NDArray[np.bool_]:
    """(n, outputs): whether anything overflowed in a task, for each output but constants."""
    seen = np.zeros(n, bool)
    for states in overflowed.values():
        seen |= states
    vary = [source(node).op not in STILL for node in graph.outputs.values()]
    return seen[:, None] & np.array(vary, bool)


def flag_time(checks: Mapping[int, list[Node]]) -> int:
    """The cycle in which the flag of what is looked at in these can be read."""
    return max(checks) + OR_REGISTERS + 1


def ends_in_register(fixed: FixedGraph, node: Node) -> bool:
    """Whether a node's unit is its own, and ends in a register."""
    if node.op is Op.MUL:
        return fixed.formats[node].rounded
    return node.op not in (Op.SIN, Op.COS, Op.MANTISSA, Op.EXPONENT)


def in_port(kind: UnitKind, selected: bool) -> int:
    """Registers in front of each operand of such units; see `Fold`."""
    return LOGIC_PORT if kind.style == "logic" else int(selected)


def keeping(fixed: FixedGraph, time: Mapping[Node, int], takes: Mapping[Node, int]) -> set[Node]:
    """The nodes whose own register keeps the result for an interval: a register that nothing reads
    later than at once need not keep what it has."""
    late = {a for n in takes for a in fixed.reads[n] if time[n] - takes[n] > time[a]}
    return {n for n in takes if ends_in_register(fixed, n) and (n in late or n.op is Op.INPUT)}


def register_number(held: bool, age: int, interval: int) -> int:
    """Which of a value's registers shows it ``age`` cycles after its time."""
    return age // interval if held else -(-age // interval)


def job_operands(own: Job) -> list[Node]:
    """The nodes whose bits a shared unit reads."""
    name, node = own
    read = node.args if name == "mul" else (node,)
    return [s for s in map(source, read) if s.op is not Op.CONST]


def verify_fold(fold: Fold) -> Fold:
    """The fold, if it keeps its own rules.

    Raises:
        ScheduleError: an operand read before it is there, two jobs on a unit in one phase, a job
            on a unit of another kind or beyond their number; says which.
    """
    if fold.chain is not None:
        _verify_chain(fold, fold.chain)
    busy: dict[tuple[UnitKind, int, int], Job] = {}
    starts: dict[Job, int] = {}
    for node in fold.time:
        if node.op is Op.INPUT:
            if fold.time[node] != INPUT_REGISTER:
                raise ScheduleError(f"input {node.name} in cycle {fold.time[node]}")
            continue
        start = fold.start(node)
        for operand in operands(node):
            if fold.time[operand] > start:
                raise ScheduleError(f"node {node.index} reads {operand.index} before it is there")
        own = job(node)
        if own not in fold.jobs.kind or (fold.chain is not None and node.op is Op.MUL):
            continue
        place = fold.place[own]
        if starts.setdefault(own, start) != start:
            raise ScheduleError(f"{own[0]} of {own[1].index} starts twice")
        if place.kind != fold.jobs.kind[own] or not 0 <= place.number < fold.units[place.kind]:
            raise ScheduleError(f"{own[0]} of {own[1].index} on a unit that there is not")
        slot = place.kind, place.number, start % fold.interval
        if busy.setdefault(slot, own) != own:
            raise ScheduleError(f"two jobs on {place.kind.name} {place.number} in one phase")
    missing = [n for n in fold.fixed.graph.nodes if n.op not in (*STILL, Op.MULC)]
    if len(missing) != len(fold.time):
        raise ScheduleError("not every operation has a time")
    return fold


def _verify_chain(fold: Fold, chain: Chain) -> None:
    """Every path from register to register within the period, whoever made the schedule.

    Raises:
        ScheduleError: a path that is longer, or an overflow bit that comes after the flag.
    """
    ns = fold.target.delays
    arrives: dict[Node, float] = {}  # ns after the clock edge that begins cycle time[node]

    def within(path: float, node: Node) -> None:
        if path + ns.capture > chain.period + EPSILON:
            raise ScheduleError(f"node {node.index}: {path + ns.capture:.2f} ns in a clock")

    for node, time in fold.time.items():
        own = delay(fold.fixed, fold.target, node)
        start = fold.start(node)
        chained = [arrives[a] for a in operands(node) if fold.time[a] == start]
        arrives[node] = max(chained, default=ns.launch) + own.enter
        within(arrives[node], node)
        if fold.takes[node]:
            arrives[node] = ns.launch + own.leave
        within(arrives[node] + own.check, node)
        if fold.fixed.overflowing(node) and (chain.flag is None or time > chain.flag):
            raise ScheduleError(f"overflow of node {node.index} after the flag")
    for cycle, nodes in fold.checks.items():
        bits = gathering(fold.target, len(nodes) + 1)
        for node in nodes:
            seen = arrives[node] + delay(fold.fixed, fold.target, node).check
            within((seen if fold.time[node] == cycle else ns.launch) + bits, node)
