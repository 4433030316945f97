"""The sine and cosine unit: ``rbdgen.graph.sincos`` as a pipeline, one angle every cycle."""

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

from ..graph.sincos import GUARD, INDEX, SinCos
from ..passes.constants import Recipe, Sum
from ..schedule.binding import sincos_latency, sincos_radians
from .arithmetic import later
from .multiplier import Multiplier


@dataclass(frozen=True)
class SinCosUnit:
    """``sin`` and ``cos`` of ``angle``, ``latency`` cycles later; a new angle in every cycle.

    Like a multiplier this is a description: a datapath instantiates it by its module name, and
    each distinct unit is emitted once.

    ``angle``: signed, ``angle_width`` bits, ``spec.phase`` of them the fraction of a turn; whole
    turns are ignored. ``sin``, ``cos``: signed, ``spec.width`` bits, all but the sign fraction.
    ``multiplier``: the unit for table entry times distance.
    """

    spec: SinCos
    angle_width: int
    multiplier: Multiplier

    @property
    def name(self) -> str:
        """The module's name."""
        style = "_logic" if self.multiplier.style == "logic" else ""
        return f"rbdgen_sincos_{self.angle_width}p{self.spec.phase}_{self.spec.width}{style}"

    @property
    def latency(self) -> int:
        return sincos_latency(self.spec, self.multiplier.latency)

    def instance(self, *, angle: Value, sin: Value, cos: Value) -> Instance:
        """One unit in the ``sync`` domain of an Amaranth module."""
        return Instance(self.name, i_clk=ClockSignal(), i_angle=angle, o_sin=sin, o_cos=cos)

    def to_rtlil(self) -> str:
        """The module, portable but for its multipliers, which it instantiates."""
        unit = SinCosPipeline(self)
        ports = [unit.domain.clk, unit.angle, unit.sin, unit.cos]
        return rtlil.convert(unit, name=self.name, ports=ports, emit_src=False)


class SinCosPipeline(Elaboratable):
    """The unit as an Amaranth module with ports clk, angle, sin, cos."""

    def __init__(self, unit: SinCosUnit) -> None:
        self.spec, self.multiplier, self.latency = unit.spec, unit.multiplier, unit.latency
        self.domain = ClockDomain("sync", reset_less=True)
        self.angle = Signal(signed(unit.angle_width))
        self.sin = Signal(signed(unit.spec.width))
        self.cos = Signal(signed(unit.spec.width))

    def elaborate(self, platform: object) -> Module:
        m, spec = Module(), self.spec
        m.domains += self.domain
        low_bits = spec.phase - 2 - INDEX
        low = self.angle[:low_bits]
        entry = self.angle[low_bits : low_bits + INDEX]
        quadrant = self.angle[spec.phase - 2 : spec.phase]

        # Table: address and data registers of a block RAM, then its output register.
        table, ft = spec.table, spec.table_fraction
        rows = [int(s) | int(c) << ft for s, c in table]
        memory = Memory(shape=2 * ft, depth=1 << INDEX, init=rows, attrs={"ram_style": "block"})
        m.submodules.table = memory
        port = memory.read_port(domain="sync")
        m.d.comb += [port.addr.eq(entry), port.en.eq(1)]
        data = later(m, port.data, 1)
        sine, cosine = data[:ft], data[ft:]

        # δ: distance to the step's middle, d = 2 low - step, in radians
        d = Cat(0, low[:-1], ~low[-1]).as_signed()
        _, shift = spec.radians
        recipe, steps = sincos_radians(spec)
        product, at = _times(m, recipe, d)
        delta = later(m, (product >> shift)[: spec.delta_width].as_signed(), steps - at)
        sine, cosine = later(m, sine, steps - 2), later(m, cosine, steps - 2)

        # sin φ + δ (cos φ - ½ δ sin φ), cos φ - δ (sin φ + ½ δ cos φ); slopes to the order
        fd, grid = spec.delta_fraction, spec.width - 1 + GUARD
        slope_s, slope_c, now = cosine, sine, steps
        if spec.order == 2:
            half_s, half_c = (self._product(m, x, delta) >> (fd + 1) for x in (sine, cosine))
            wait = self.multiplier.latency
            sine, cosine, delta = (later(m, x, wait) for x in (sine, cosine, delta))
            slope_s, slope_c = later(m, cosine - half_s, 1), later(m, sine + half_c, 1)
            sine, cosine, delta = (later(m, x, 1) for x in (sine, cosine, delta))
            now += wait + 1
        slope_s, slope_c = slope_s >> spec.spare, slope_c >> spec.spare
        cut = ft - spec.spare + fd - grid
        change_s = self._product(m, slope_s, delta) >> cut
        change_c = self._product(m, slope_c, delta) >> cut
        wait = self.multiplier.latency
        sums = []
        for value, change, sign in ((sine, change_s, 1), (cosine, change_c, -1)):
            # + half is added to the table's entry while the product is on its way
            aligned = (value << (grid - ft)) if grid >= ft else (value >> (ft - grid))
            start = later(m, later(m, aligned + (1 << (GUARD - 1)), 1), wait - 1)
            total = start + change if sign > 0 else start - change
            sums.append(later(m, (total >> GUARD)[: spec.width + 1].as_signed(), 1))
        now += wait + 1

        # One becomes 1 - ulp: it is the only one of these numbers with its second bit set, but
        # for -1 ulp, which the second order makes of a sine of 0 in the widest words.
        limit = Const((1 << (spec.width - 1)) - 1, spec.width)
        is_one = [s[-2] if spec.order == 1 else s[-2] & ~s[-1] for s in sums]
        sine, cosine = (
            Mux(one, limit, s[: spec.width]) for one, s in zip(is_one, sums, strict=True)
        )
        quadrant = later(m, quadrant, now)
        swap, lower = quadrant[0], quadrant[1]
        swapped = later(m, Mux(swap, cosine, sine), 1), later(m, Mux(swap, sine, cosine), 1)
        negative = later(m, lower, 1), later(m, swap ^ lower, 1)
        for out, value, minus in zip((self.sin, self.cos), swapped, negative, strict=True):
            signed_value = (value ^ minus.replicate(spec.width)) + minus
            m.d.comb += out.eq(later(m, signed_value[: spec.width], 1))
        assert now + 2 == self.latency
        return m

    def _product(self, m: Module, table: Value, delta: Value) -> Value:
        unit = self.multiplier
        a = Signal(signed(unit.a_width))
        b = Signal(signed(unit.b_width))
        p = Signal(signed(unit.a_width + unit.b_width))
        m.d.comb += [a.eq(table), b.eq(delta)]
        m.submodules += unit.instance(a=a, b=b, p=p)
        return p


def _times(m: Module, recipe: Recipe, x: Value) -> tuple[Value, int]:
    """(x · recipe, cycles it takes): a register after each addition."""
    if not isinstance(recipe, Sum):
        return x, 0
    left, at_left = _times(m, recipe.left, x)
    right, at_right = _times(m, recipe.right, x)
    at = max(at_left, at_right)
    left, right = later(m, left, at - at_left), later(m, right, at - at_right)
    left, right = left << recipe.left_shift, right << recipe.right_shift
    return later(m, left + right if recipe.sign > 0 else left - right, 1), at + 1
