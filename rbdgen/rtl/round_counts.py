"""Counters of shared joint datapaths: cycles of a round, rounds of a task, and rounds."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Signal, Value

from ..schedule.round_plan import RoundPlan
from .arithmetic import next_count
from .phases import Phases
from .queues import NOT_SHARED

TURNED = 60  # loads of one copy of the round's number, or of a task's first cycle
FOLLOWING = 12  # copies that follow one relay
AHEAD = 2  # cycles from the counters to the copies


class Rounds:
    """Counts cycles, rounds, and the tasks' turns of ``plan.rounds`` rounds each.

    What users get are copies, registers behind relays, which are registers that follow counters
    two cycles ahead: a clock has the time for one wire across a part, and none for logic besides.
    Copies need no reset: they are right when the first task is taken.
    """

    def __init__(self, m: Module, plan: RoundPlan) -> None:
        self._m, self.plan = m, plan
        self.cycles = plan.template.interval
        self.phases = Phases(m, self.cycles)
        self.ends: Value = self._ends(0)
        origins = [own for phases in plan.origins.values() for own in phases.values()]
        deepest = max((ago for x, ago in origins if not isinstance(x, float)), default=1)
        self._bits = max(deepest.bit_length(), 1)
        every, begin, ends = plan.rounds, self._beginning(AHEAD), self._ends(AHEAD)
        turns = range(max(every, 2))
        turn = Signal(turns, name="turns", init=begin["turn"], attrs=NOT_SHARED)
        count = Signal(self._bits, name="rounds", init=begin["round"], attrs=NOT_SHARED)
        first = Signal(name="firsts", init=begin["first"], attrs=NOT_SHARED)
        m.d.sync += first.eq(ends & (turn == every - 1))
        with m.If(ends):
            m.d.sync += [turn.eq(next_count(turn, every)), count.eq(count + 1)]
        self._counters = {"turn": turn, "round": count, "first": first}
        self._relays: dict[str, tuple[Signal, int]] = {}
        self._shared: dict[str, tuple[Signal, int]] = {}
        self._made = 0
        self.turn = Signal(turns, name="turn")  # what takes tasks goes by it, from the reset on
        with m.If(self.ends):
            m.d.sync += self.turn.eq(next_count(self.turn, every))

    def _ends(self, ahead: int) -> Value:
        """Whether a round ends in so many cycles."""
        return self.phases.copy([-1 - ahead]) if self.cycles > 1 else Const(1)

    def copy(self, of: str) -> Signal:
        """A register of the caller's own: ``turn``, the round modulo ``plan.rounds``; ``round``,
        its number; or ``first``, whether it is a task's first cycle."""
        relay, used = self._relays.get(of, (None, 0))
        if relay is None or used == FOLLOWING:
            relay, used = self._following(of, self._counters[of], AHEAD - 1), 0
        self._relays[of] = relay, used + 1
        return self._following(of, relay, 0)

    def _beginning(self, cycle: int) -> dict[str, int]:
        """The counters in such a cycle after the reset."""
        rounds, first = cycle // self.cycles, cycle % self.plan.interval == 0
        count = rounds % (1 << self._bits)
        return {"turn": rounds % self.plan.rounds, "round": count, "first": int(first)}

    def _following(self, of: str, before: Signal, ahead: int) -> Signal:
        """A register that follows another, and in the beginning has what it would have then."""
        name, init = f"{of}_{self._made}", self._beginning(ahead)[of]
        self._made += 1
        register = Signal.like(before, name=name, init=init, reset_less=True, attrs=NOT_SHARED)
        self._m.d.sync += register.eq(before)
        return register

    def turn_for(self, loads: int) -> Signal:
        """A copy of ``turn``, shared by users with so many loads each."""
        return self._for("turn", loads)

    def first_for(self, loads: int) -> Signal:
        """A copy of ``first``, shared by users with so many loads each."""
        return self._for("first", loads)

    def _for(self, of: str, loads: int) -> Signal:
        copy, used = self._shared.get(of, (None, 0))
        if copy is None or used + loads > TURNED:
            copy, used = self.copy(of), 0
        self._shared[of] = copy, used + loads
        return copy

    def at(self, phase: int) -> Value:
        """Whether this is a round's cycle ``phase``."""
        return self.phases.bit(phase, 1) if self.cycles > 1 else Const(1)
