"""The reciprocal unit: ``rbdgen.graph.reciprocal`` as a pipeline, one operand every cycle."""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.back import rtlil
from amaranth.hdl import (
    Cat,
    ClockDomain,
    ClockSignal,
    Const,
    Elaboratable,
    Instance,
    Module,
    Mux,
    Signal,
    Value,
    signed,
)
from amaranth.lib.memory import Memory

from ..graph.reciprocal import GUARD, INDEX, SEED, Reciprocal
from ..schedule.binding import normalising, reciprocal_latency
from .arithmetic import later
from .multiplier import Multiplier


@dataclass(frozen=True)
class ReciprocalUnit:
    """Mantissa and exponent of 1 / ``operand``, ``latency`` cycles later; one in every cycle.

    Like a multiplier this is a description: a datapath instantiates it by its module name, and
    each distinct unit is emitted once.

    ``operand``: signed, ``spec.operand`` bits. ``mantissa``: signed, ``spec.width`` bits, two of
    them before the point. ``exponent``: signed, ``spec.exponent_width`` bits. ``outside``: one bit,
    the operand is not positive or too small. ``multipliers``: those of ``spec.products``.
    """

    spec: Reciprocal
    multipliers: tuple[Multiplier, ...]

    @property
    def name(self) -> str:
        """The module's name."""
        spec = self.spec
        top = f"m{-spec.top}" if spec.top < 0 else f"{spec.top}"
        style = "_logic" if self.multipliers[0].style == "logic" else ""
        return f"rbdgen_recip_{spec.operand}t{top}s{spec.steps}_{spec.width}{style}"

    @property
    def latency(self) -> int:
        return reciprocal_latency(self.spec, [unit.latency for unit in self.multipliers])

    def instance(
        self, *, operand: Value, mantissa: Value, exponent: Value, outside: Value
    ) -> Instance:
        """One unit in the ``sync`` domain of an Amaranth module."""
        return Instance(
            self.name,
            i_clk=ClockSignal(),
            i_operand=operand,
            o_mantissa=mantissa,
            o_exponent=exponent,
            o_outside=outside,
        )

    def to_rtlil(self) -> str:
        """The module, portable but for its multipliers, which it instantiates."""
        unit = ReciprocalPipeline(self)
        ports = [unit.domain.clk, unit.operand, unit.mantissa, unit.exponent, unit.outside]
        return rtlil.convert(unit, name=self.name, ports=ports, emit_src=False)


class ReciprocalPipeline(Elaboratable):
    """The unit as an Amaranth module with ports clk, operand, mantissa, exponent, outside."""

    def __init__(self, unit: ReciprocalUnit) -> None:
        self.unit, self.spec = unit, unit.spec
        self.domain = ClockDomain("sync", reset_less=True)
        self.operand = Signal(signed(unit.spec.operand))
        self.mantissa = Signal(signed(unit.spec.width))
        self.exponent = Signal(signed(unit.spec.exponent_width))
        self.outside = Signal()

    def elaborate(self, platform: object) -> Module:
        m, spec = Module(), self.spec
        m.domains += self.domain
        x, places, negative = self._normalise(m)

        # f's bits behind the leading one: table index, and what the lines need of the rest
        f = x[spec.window - 1 - spec.fraction : -1]
        mantissa, took = self._line(m, f), self.unit.multipliers[0].latency + 4
        if spec.newton:
            mantissa = self._newton_step(m, later(m, f, took), mantissa)
            took += sum(unit.latency for unit in self.unit.multipliers[1:]) + 2
        m.d.comb += self.mantissa.eq(mantissa)

        places, found, negative = (later(m, v, 1) for v in (places, x[-1], negative))
        exponent = later(m, (Const(spec.top) - places)[: spec.exponent_width], 1)
        outside = later(m, negative | ~found, 1)
        m.d.comb += self.exponent.eq(later(m, exponent, took - 2))
        m.d.comb += self.outside.eq(later(m, outside, took - 2))
        return m

    def _normalise(self, m: Module) -> tuple[Value, Value, Value]:
        """(window, its first bit the leading one; places shifted; sign), not registered at last."""
        spec = self.spec
        x: Value = Cat(Const(0, spec.window - spec.operand + 1), self.operand[:-1])
        negative: Value = self.operand[-1]
        places: Value = Const(0, 0)
        for cycle, steps in enumerate(normalising(spec)):
            if cycle:
                x, places, negative = (later(m, v, 1) for v in (x, places, negative))
            for j in steps:
                empty = ~x[len(x) - (1 << j) :].any()
                x = Mux(empty, Cat(Const(0, 1 << j), x)[: len(x)], x)
                places = Cat(empty, places)
        return x, places, negative

    def _line(self, m: Module, f: Value) -> Value:
        """v - s δ with ``spec.seed`` bits, 4 cycles and a product later."""
        spec = self.spec
        # Table: address and data registers of a block RAM, then its output register.
        bits = spec.seed
        rows = [int(v) | int(s) << bits for v, s in spec.table]
        shape = bits + spec.slope_width - 1
        memory = Memory(shape=shape, depth=1 << INDEX, init=rows, attrs={"ram_style": "block"})
        m.submodules.table = memory
        port = memory.read_port(domain="sync")
        m.d.comb += [port.addr.eq(f[-INDEX:]), port.en.eq(1)]
        data = later(m, port.data, 1)
        value, slope = data[:bits], Cat(data[bits:], 0).as_signed()

        # δ: distance to the interval's middle, low - half
        low = f[-INDEX - spec.delta_width : -INDEX]
        delta = later(m, Cat(low[:-1], ~low[-1]).as_signed(), 2)
        product = self._product(m, 0, slope, delta)
        value = Cat(later(m, value, self.unit.multipliers[0].latency), 1)
        change = product >> (spec.seed - 6)
        total = later(m, ((value - change) >> GUARD)[: spec.seed], 1)
        return _below_two(m, total)

    def _newton_step(self, m: Module, f: Value, y: Value) -> Value:
        """y - y (f y - 1), two products and 2 cycles later."""
        spec = self.spec
        step = self.unit.multipliers[1:]
        f = Cat(f, 1, 0).as_signed()
        product = self._product(m, 1, f, y)
        # near 1 the bits below 2^-16 are f y - 1, the one of 2^-16 its sign
        one = spec.fraction + SEED - 1
        low = one - spec.error_fraction
        off = product[low : low + spec.error_width].as_signed()
        y = later(m, y, step[0].latency)
        product = self._product(m, 2, y, off)
        y = later(m, y, step[1].latency)
        change = product >> (SEED - 2 + spec.error_fraction - spec.width)
        start = Cat(Const(1, spec.width - SEED + GUARD), y).as_signed()
        total = later(m, ((start - change) >> GUARD)[: spec.width], 1)
        return _below_two(m, total)

    def _product(self, m: Module, number: int, a: Value, b: Value) -> Value:
        unit = self.unit.multipliers[number]
        product = Signal(signed(len(a) + len(b)), name=f"product_{number}")
        m.submodules[f"multiply_{number}"] = unit.instance(a=a, b=b, p=product)
        return product


def _below_two(m: Module, total: Value) -> Value:
    """A positive sum of which 2, with the sign bit set, becomes 2 - ulp; a cycle later."""
    return later(m, Cat(total[:-1] | total[-1].replicate(len(total) - 1), 0).as_signed(), 1)
