"""A value on its way through a region: the registers and LUT-RAM rings that delay it."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Signal, Value

from ..schedule.fabric import LONGEST_RING
from .counting import next_count
from .lut_ram import LutRam


class Rings:
    """The counters that rings of one length share within a module; notes ``rams`` it uses."""

    def __init__(self, m: Module, rams: list[LutRam]) -> None:
        self._m, self._rams = m, rams
        self._pointers: dict[int, Signal] = {}

    def pointer(self, size: int) -> Signal:
        """Counts 0 to ``size`` - 1, over and over."""
        if size not in self._pointers:
            pointer = Signal(range(max(size, 2)), name=f"ring_{size}")
            self._m.d.sync += pointer.eq(next_count(pointer, size))
            self._pointers[size] = pointer
        return self._pointers[size]

    def delay(self, value: Value, cycles: int, name: str) -> Value:
        """``value`` after 3 to 17 cycles: a memory read just before it is overwritten."""
        size = cycles - 1
        ram = LutRam(len(value), size)
        pointer = self.pointer(size)
        q = Signal(value.shape(), name=f"q_{name}")
        register = Signal(value.shape(), name=name, reset_less=True)
        self._m.submodules[f"ring_{name}"] = ram.instance(
            write=Const(1), write_address=pointer, data=value, read_address=pointer, q=q
        )
        self._m.d.sync += register.eq(q)
        self._rams.append(ram)
        return register


class DelayLine:
    """One value of a region, at every cycle in which something reads it.

    ``first``: the cycle, from the region's firing, in which ``signal`` shows it. Cycles are
    collected in ``wanted``; ``build`` then fills ``at``.
    """

    def __init__(self, name: str, first: int, signal: Signal) -> None:
        self.name, self.first, self.signal = name, first, signal
        self.wanted: set[int] = set()
        self.at: dict[int, Value] = {}

    def build(self, m: Module, rings: Rings, shortest_ring: int) -> None:
        """Chain of delays from one wanted cycle to the next."""
        now, value = self.first, self.signal
        self.at[now] = value
        for cycle in sorted(self.wanted):
            while now < cycle:
                step = min(cycle - now, LONGEST_RING)
                if step < shortest_ring:
                    step = 1
                name = f"{self.name}_{now + step}"
                if step == 1:
                    register = Signal(value.shape(), name=name, reset_less=True)
                    m.d.sync += register.eq(value)
                    value = register
                else:
                    value = rings.delay(value, step, name)
                now += step
            self.at[cycle] = value
