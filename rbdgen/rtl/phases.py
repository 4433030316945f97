"""The phase that a folded datapath is in, as one-hot bits with few loads each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value

from ..schedule.fabric import LOADS
from .queues import NOT_SHARED

COPIES = 24  # that follow one relay


class Phases:
    """Counts 0 to ``interval`` - 1, over and over, from 0 in the first cycle after reset.

    What users get are copies, registers behind relays, which are registers that follow one ring of
    master bits: no net has many ends, however large the datapath is.
    """

    def __init__(self, m: Module, interval: int) -> None:
        self._m, self.interval = m, interval
        self._ring = Signal(interval, init=1, name="phases", attrs=NOT_SHARED)
        m.d.sync += self._ring.eq(self._ring.rotate_left(1))
        self._relays: dict[int, tuple[Signal, int]] = {}  # by the phase in which they are set
        self._copies: dict[int, tuple[Signal, int]] = {}
        self._made = 0

    def copy(self, phases: Iterable[int]) -> Signal:
        """A register of the caller's own: set in these phases."""
        among = {p % self.interval for p in phases}
        before = Cat(self._relay((p - 1) % self.interval) for p in sorted(among))
        return self._register(f"phase_copy_{self._made}", 0 in among, before.any())

    def _relay(self, phase: int) -> Signal:
        """A register set in ``phase``, for one more copy."""
        relay, used = self._relays.get(phase, (None, 0))
        if relay is None or used == COPIES:
            before = self._ring[(phase - 1) % self.interval]
            relay, used = self._register(f"phase_relay_{self._made}", phase == 0, before), 0
        self._relays[phase] = relay, used + 1
        return relay

    def _register(self, name: str, init: bool, value: Value) -> Signal:
        self._made += 1
        register = Signal(init=int(init), name=name, attrs=NOT_SHARED)
        self._m.d.sync += register.eq(value)
        return register

    def bit(self, phase: int, loads: int) -> Signal:
        """A register set in ``phase``, shared by users with so many loads each."""
        phase %= self.interval
        copy, used = self._copies.get(phase, (None, 0))
        if copy is None or used + loads > LOADS:
            copy, used = self.copy([phase]), 0
        self._copies[phase] = copy, used + loads
        return copy

    def enable(self, m: Module, phase: int, register: Signal, value: Value) -> None:
        """``register`` takes ``value`` at the end of every cycle of ``phase``."""
        if self.interval == 1:
            m.d.sync += register.eq(value)
            return
        with m.If(self.bit(phase, len(register))):
            m.d.sync += register.eq(value)

    def select(self, choices: Mapping[int, tuple[Any, Value]], width: int) -> Value:
        """(``width``,) the value of the phase that it is; ``choices``: phase → its name, itself.

        AND-OR of one-hot bits: two values fill a LUT, with no decoding between. In phases without
        a choice it is any.
        """
        values: dict[Any, tuple[Value, list[int]]] = {}
        for phase, (name, value) in choices.items():
            values.setdefault(name, (value, []))[1].append(phase)
        wide = [Cat(v, v[-1].replicate(width - len(v))) for v, _ in values.values()]
        if len(values) == 1:
            return wide[0].as_signed()
        total: Value | None = None
        for bits, (_, phases) in zip(wide, values.values(), strict=True):
            term = bits & self.copy(phases).replicate(width)
            total = term if total is None else total | term
        assert total is not None
        return total.as_signed()
