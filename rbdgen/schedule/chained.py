"""Operations chained within a clock: the fewest cycles at a given, slow clock.

Sums, selections and products are combinational, each on hardware of its own, and start as soon as
their operands are there, in the same cycle if they then end within it. A value is registered only
where it is read in a later cycle. Units that have registers inside (sine, reciprocal, shifter)
keep them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op
from ..target import Target
from .binding import Binding
from .delays import Delay, delay, gathering
from .fold import Chain, Fold, Place, verify_fold
from .pipelined import INPUT_REGISTER, duration, operands
from .units import Jobs, all_hardware, job, shared_jobs

Moment = tuple[int, float]  # cycle, and ns since it began


class ChainError(ValueError):
    """A period in which an operation does not fit; says which."""


@dataclass(frozen=True)
class _Clock:
    """What fits into a cycle."""

    target: Target
    period: float

    def start(self, ready: Moment, own: Delay, takes: int, what: str) -> int:
        """The cycle in which an operation starts whose operands are there when they are."""
        cycle, at = ready
        # where there are registers inside, the result and its check are of another cycle
        path = own.enter + (0.0 if takes else own.check)
        room = self.period - self.target.delays.capture
        if at + path <= room:
            return cycle
        at = self.target.delays.launch
        if max(path, own.leave + own.check) > room - at:
            least = max(path, own.leave + own.check) + self.period - room + at
            raise ChainError(f"{what} takes {least:.1f} ns, of a clock of {self.period:g} ns")
        return cycle + 1


def chain(
    fixed: FixedGraph,
    target: Target,
    period: float,
    interval: int = 1,
    jobs: Jobs | None = None,
) -> Fold:
    """The schedule at a clock of ``period`` ns, a task every ``interval`` cycles.

    Raises:
        ChainError: the period is too short for some operation.
    """
    jobs = jobs or shared_jobs(fixed, target)
    binding = all_hardware(fixed, jobs.multipliers(1))
    clock, launch = _Clock(target, period), target.delays.launch
    time: dict[Node, int] = {}
    takes: dict[Node, int] = {}
    arrives: dict[Node, float] = {}
    for node in fixed.graph.nodes:
        if node.op in (Op.CONST, Op.MULC):
            continue
        own = delay(fixed, target, node)
        if node.op is Op.INPUT:
            time[node], takes[node], arrives[node] = INPUT_REGISTER, INPUT_REGISTER, launch
            continue
        takes[node] = _cycles(fixed, binding, target, node)
        ready = max(((time[a], arrives[a]) for a in operands(node)), default=(1, launch))
        start = clock.start(ready, own, takes[node], f"{node.op.value} {node.index}")
        time[node] = start + takes[node]
        begins = ready[1] if start == ready[0] else launch
        arrives[node] = launch + own.leave if takes[node] else begins + own.enter
    units = {kind: len(of) for kind, of in jobs.of.items() if kind.name != "mul"}
    place = {own: Place(kind, k) for kind in units for k, own in enumerate(jobs.of[kind])}
    return verify_fold(
        Fold(
            fixed=fixed,
            binding=binding,
            target=target,
            jobs=jobs,
            interval=interval,
            time=time,
            takes=takes,
            registered={n for n in time if n.op is Op.INPUT},
            units=units,
            place=place,
            chain=Chain(period, _flag(clock, fixed, time, arrives)),
        )
    )


def _cycles(fixed: FixedGraph, binding: Binding, target: Target, node: Node) -> int:
    """Cycles from operands to a result; 0 where it is combinational."""
    if job(node)[0] in ("sincos", "recip"):
        return duration(fixed, binding, target, node)
    # of a shifter the last cycle is its rounding adder
    return duration(fixed, binding, target, node) - 1 if node.op is Op.SCALE else 0


def _flag(
    clock: _Clock, fixed: FixedGraph, time: Mapping[Node, int], arrives: Mapping[Node, float]
) -> int | None:
    """The cycle in which every overflow bit is known, and time left to gather them."""
    bits = {n: delay(fixed, clock.target, n).check + arrives[n] for n in time}
    seen = {n: (time[n], bits[n]) for n in time if fixed.overflowing(n)}
    if not seen:
        return None
    gather = Delay(gathering(clock.target, len(seen) + 1))
    last, at = max(seen.values())
    at = max(at, clock.target.delays.launch)
    return clock.start((last, at), gather, 0, "gathering of overflow bits")
