"""What joints in turn count: cycles of a round, rounds of a task, and rounds."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Signal, Value

from ..schedule.fabric import ADDRESSED
from ..schedule.round_plan import Origin, RoundPlan
from .channel import NOT_SHARED
from .counting import next_count
from .phases import Phases

TURNED = 60  # loads of one copy of the round's number, or of a task's first cycle


class Rounds:
    """Counts cycles, rounds, and the tasks' turns of ``plan.rounds`` rounds each."""

    def __init__(self, m: Module, plan: RoundPlan) -> None:
        self._m, self.plan = m, plan
        self.cycles = plan.template.interval
        self.phases = Phases(m, self.cycles)
        self.ends: Value = self.phases.copy([-1]) if self.cycles > 1 else Const(1)
        self.turn = self.turn_copy("turn")
        origins = [o for phases in plan.origins.values() for o in phases.values()]
        deepest = max((o.ago for o in origins if isinstance(o, Origin)), default=1)
        self._bits = max(deepest.bit_length(), 1)
        self._turn: Signal | None = None
        self._used = self._made = 0
        self._first: Signal | None = None
        self._first_used = self._firsts = 0
        self._counts: dict[int, tuple[Signal, int]] = {}

    def turn_copy(self, name: str) -> Signal:
        """The round, modulo ``plan.rounds``."""
        turn = Signal(range(max(self.plan.rounds, 2)), name=name, attrs=NOT_SHARED)
        with self._m.If(self.ends):
            self._m.d.sync += turn.eq(next_count(turn, self.plan.rounds))
        return turn

    def turn_for(self, loads: int) -> Signal:
        """A copy of ``turn``, shared by users with so many loads each."""
        if self._turn is None or self._used + loads > TURNED:
            self._turn, self._used = self.turn_copy(f"turn_{self._made}"), 0
            self._made += 1
        self._used += loads
        return self._turn

    def first_for(self, loads: int) -> Signal:
        """A register set in a task's first cycle, shared by users with so many loads each."""
        if self._first is None or self._first_used + loads > TURNED:
            self._first = Signal(name=f"first_{self._firsts}", attrs=NOT_SHARED)
            last = self.turn_for(1) == self.plan.rounds - 1
            self._m.d.sync += self._first.eq(self.ends & last)
            self._first_used, self._firsts = 0, self._firsts + 1
        self._first_used += loads
        return self._first

    def count(self, behind: int, bits: int) -> Signal:
        """The number of the round ``behind`` this one, for an address of so many bits of memory."""
        count, used = self._counts.get(behind, (None, 0))
        if count is None or used + bits > ADDRESSED:
            name = f"round_less_{behind}" if behind >= 0 else f"round_plus_{-behind}"
            start = -behind % (1 << self._bits)
            count, used = Signal(self._bits, name=name, init=start, attrs=NOT_SHARED), 0
            with self._m.If(self.ends):
                self._m.d.sync += count.eq(count + 1)
        self._counts[behind] = count, used + bits
        return count

    def at(self, phase: int) -> Value:
        """Whether this is a round's cycle ``phase``."""
        return self.phases.bit(phase, 1) if self.cycles > 1 else Const(1)
