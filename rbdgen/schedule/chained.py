"""Operations chained within a clock: the fewest cycles at a given, slow clock.

Sums, selections and products are combinational, each on hardware of its own, and start as soon as
their operands are there, in the same cycle if they then end within it. A value is registered only
where it is read in a later cycle. Units that have registers inside (sine, reciprocal, shifter)
keep them. That is the shortest latency; operations that can wait at that latency then do so where
it saves register bits.

The fewest cycles from start to done within a budget of multipliers, at the fastest clock.

At the least initiation interval that the budget allows, every unit is busy in nearly every phase,
and jobs wait for one. A longer interval leaves the same units idle more often. So intervals are
tried from the least up, in growing steps, until nothing waits or nothing is gained.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..design.target import Target
from ..graph.fixed import FixedGraph
from ..graph.graph import operands, source
from ..graph.node import STILL, Node, Op
from .difference_constraints import Delay, delay, gathering
from .fold import Chain, Fold, Place, register_number, verify_fold
from .modulo import fold
from .pipelined import INPUT_REGISTER, duration
from .units import Jobs, UnitKind, all_hardware, job, shared_jobs

SWEEPS = 8  # most of what can be saved is saved by the first


class ChainError(ValueError):
    """A period in which an operation does not fit; says which."""


def chain(
    fixed: FixedGraph, target: Target, period: float, interval: int = 1, jobs: Jobs | None = None
) -> Fold:
    """The schedule at a clock of ``period`` ns, a task every ``interval`` cycles.

    Raises:
        ChainError: the period is too short for some operation.
    """
    jobs = jobs or shared_jobs(fixed, target)
    binding = all_hardware(fixed, jobs.multipliers(1))
    work = _Work(fixed, target, period, interval)
    for node in fixed.graph.nodes:
        if node.op not in (*STILL, Op.MULC):
            work.takes[node] = _cycles(node, duration(fixed, binding, target, node))
    work.start_early()
    work.gather_flags()
    for _ in range(SWEEPS):
        if not work.start_later():
            break
    units = {kind: len(of) for kind, of in jobs.of.items() if kind.name != "mul"}
    return verify_fold(
        Fold(
            fixed=fixed,
            binding=binding,
            target=target,
            jobs=jobs,
            interval=interval,
            time=work.time,
            takes=work.takes,
            registered={n for n in work.time if n.op is Op.INPUT},
            units=units,
            place={own: Place(kind, k) for kind in units for k, own in enumerate(jobs.of[kind])},
            chain=Chain(period, work.flag),
        )
    )


def _cycles(node: Node, pipelined: int) -> int:
    """Cycles from operands to a result; 0 where it is combinational."""
    if node.op is Op.INPUT or job(node)[0] in ("sincos", "recip"):
        return pipelined
    return pipelined - 1 if node.op is Op.SCALE else 0  # but for its rounding adder


@dataclass
class _Work:
    """A schedule in the making. Cycles and, within them, nanoseconds since they began."""

    fixed: FixedGraph
    target: Target
    period: float
    interval: int
    takes: dict[Node, int] = field(default_factory=dict)
    time: dict[Node, int] = field(default_factory=dict)
    flag: int | None = None  # the cycle in which overflow bits are gathered
    gathering: float = 0.0

    @cached_property
    def delays(self) -> Mapping[Node, Delay]:
        return {node: delay(self.fixed, self.target, node) for node in self.takes}

    @cached_property
    def readers(self) -> Mapping[Node, list[Node]]:
        found: dict[Node, list[Node]] = {node: [] for node in self.takes}
        for node in self.takes:
            for operand in operands(node):
                found[operand].append(node)
        return found

    @property
    def launch(self) -> float:
        return self.target.delays.launch

    @property
    def room(self) -> float:
        """The time in a cycle at which a path has to reach its register."""
        return self.period - self.target.delays.capture

    def start(self, node: Node) -> int:
        return self.time[node] - self.takes[node]

    def begins(self, node: Node, cycle: int, arrives: Mapping[Node, float]) -> float:
        """When the last operand is there of a node that starts in ``cycle``."""
        here = (arrives[a] for a in operands(node) if self.time[a] == cycle)
        return max(here, default=self.launch)

    def ends(self, node: Node, begins: float) -> float:
        """When the result is there, in the cycle in which it first is."""
        own = self.delays[node]
        return self.launch + own.leave if self.takes[node] else begins + own.enter

    def start_early(self) -> None:
        """Every node as soon as it can; ChainError where a cycle is too short for one."""
        arrives: dict[Node, float] = {}
        for node, takes in self.takes.items():
            if node.op is Op.INPUT:
                self.time[node], arrives[node] = INPUT_REGISTER, self.launch
                continue
            own = self.delays[node]
            path = own.enter if takes else own.enter + own.check
            shortest = self.launch + max(path, own.leave + own.check)
            if shortest > self.room:
                need = shortest + self.target.delays.capture
                raise ChainError(f"one {node.op.value} takes {need:.1f} ns, of {self.period:g} ns")
            cycle = max((self.time[a] for a in operands(node)), default=INPUT_REGISTER)
            begins = self.begins(node, cycle, arrives)
            if begins + path > self.room:
                cycle, begins = cycle + 1, self.launch
            self.time[node], arrives[node] = cycle + takes, self.ends(node, begins)

    def arrivals(self) -> dict[Node, float]:
        """When each result is there, in the cycle in which it first is."""
        arrives: dict[Node, float] = {}
        for node in self.takes:
            begins = self.begins(node, self.start(node), arrives)
            arrives[node] = self.launch if node.op is Op.INPUT else self.ends(node, begins)
        return arrives

    def gather_flags(self) -> None:
        """The first cycle in which every overflow bit is known and there is time for an OR."""
        arrives = self.arrivals()
        seen = [n for n in self.time if self.fixed.overflowing(n)]
        if not seen:
            return
        self.gathering = gathering(self.target, len(seen) + 1)
        if self.launch + self.gathering > self.room:
            need = self.launch + self.gathering + self.target.delays.capture
            raise ChainError(f"gathering the overflows takes {need:.1f} ns, of {self.period:g} ns")
        last = max(self.time[n] for n in seen)
        bits = (arrives[n] + self.delays[n].check for n in seen if self.time[n] == last)
        self.flag = last + (max(bits) + self.gathering > self.room)

    def start_later(self) -> bool:
        """Nodes, users first, moved to later cycles where that saves register bits, or none.

        No path gets longer than a cycle, and nothing that leaves does so later. Whether any node
        was moved.
        """
        arrives = self.arrivals()
        end = max(*self.time.values(), self.flag or 0)
        tail: dict[Node, float] = {}  # from a node's operands to the end of its longest path
        moved = False
        for node in reversed(self.takes):
            own, users = self.delays[node], self.readers[node]
            latest = min((self.start(u) for u in users), default=end)
            if node.op is Op.INPUT or job(node)[0] in ("sincos", "recip"):
                latest = self.time[node]  # two nodes of a unit stay together
            elif self.flag is not None and self.fixed.overflowing(node):
                latest = min(latest, max(self.time[node], self.flag - 1))
            best: tuple[int, int, float] | None = None
            for time in range(self.time[node], latest + 1):
                start = time - self.takes[node]
                begins = self.begins(node, start, arrives)
                behind = self._behind(node, time, tail)
                fits = begins + own.enter <= self.room
                if time == self.time[node] or (
                    fits and self.ends(node, begins) + behind <= self.room
                ):
                    best = min(best or (1 << 62, 0, 0.0), (self._bits(node, start), -time, behind))
            assert best is not None
            _, negative, behind = best
            moved |= self.time[node] != -negative
            self.time[node] = -negative
            tail[node] = own.enter + (0.0 if self.takes[node] else behind)
        return moved

    def _behind(self, node: Node, time: int, tail: Mapping[Node, float]) -> float:
        """The longest path from a node's result to a register, if it is there in cycle ``time``."""
        check = self.delays[node].check
        if time == self.flag and self.fixed.overflowing(node):
            check += self.gathering
        return max([check, *(tail[u] for u in self.readers[node] if self.start(u) == time)])

    def _bits(self, node: Node, start: int) -> int:
        """Bits of the registers in which the node's operands and result wait, if it starts then."""
        last = max((self.start(u) for u in self.readers[node]), default=0)
        bits = self._waiting(node, start + self.takes[node], last)
        for operand in operands(node):
            others = (self.start(u) for u in self.readers[operand] if u is not node)
            bits += self._waiting(operand, self.time[operand], max([start, *others]))
        return bits

    def _waiting(self, node: Node, time: int, last: int) -> int:
        count = register_number(node.op is Op.INPUT, max(last - time, 0), self.interval)
        return count * self.fixed.formats[source(node)].width


STEPS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0)  # times the least interval


def quickest(
    fixed: FixedGraph, target: Target, jobs: Jobs, budget: int, interval: int | None = None
) -> Fold:
    """The fold of the smallest latency, and of those the one of the smallest interval.

    ``budget``: hardware multipliers. ``interval``: the only one to try, if given.

    Raises:
        ValueError: one unit of each kind is more than the budget; says how many that takes.
    """
    least = jobs.least_interval(budget)
    if least == 1:  # every job on a unit of its own: nothing waits
        return fold(fixed, target, interval or 1, jobs, jobs.units(1))
    bound = fold(fixed, target, 1, jobs, selected=True).latency
    intervals = [interval] if interval else sorted({math.ceil(least * step) for step in STEPS})
    most, best = _within(jobs, budget, least), None
    # first as the throughput style does it, so as never to be slower than that
    first = intervals[0], jobs.units(intervals[0])
    for tried, units in (first, *((k, most) for k in intervals)):
        found = fold(fixed, target, tried, jobs, units, selected=True)
        if best is None or found.latency < best.latency:
            best = found
        if best.latency <= bound:
            break
    assert best is not None
    return best


def _within(jobs: Jobs, budget: int, least: int) -> dict[UnitKind, int]:
    """Units of each kind: those that the least interval takes, and what else fits."""
    units = jobs.units(least)
    for kind in sorted(units, key=lambda k: -len(jobs.of[k]) / units[k]):
        left = (budget - jobs.hardware(units)) // max(jobs.each[kind], 1)
        units[kind] = min(units[kind] + left, len(jobs.of[kind]))
    return units
