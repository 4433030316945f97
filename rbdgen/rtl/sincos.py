"""The sine and cosine unit: ``rbdgen.graph.sincos`` as a pipeline, one angle every cycle."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal, Value, signed
from amaranth.lib.memory import Memory

from ..graph.sincos import GUARD, INDEX, SinCos
from ..passes.constants import Recipe, Sum
from ..schedule.target import sincos_latency, sincos_radians
from .multiplier import Multiplier


class SinCosUnit(Elaboratable):
    """``sin`` and ``cos`` of ``angle``, ``latency`` cycles later; a new angle in every cycle.

    ``angle``: signed, ``spec.phase`` fraction bits of a turn, whole turns ignored.
    ``sin``, ``cos``: signed, ``spec.width`` bits, all but the sign fraction.
    ``multiplier``: the unit for table entry times distance, see ``product_unit``.
    """

    def __init__(self, spec: SinCos, angle_width: int, multiplier: Multiplier) -> None:
        self.spec, self.multiplier = spec, multiplier
        self.angle = Signal(signed(angle_width))
        self.sin = Signal(signed(spec.width))
        self.cos = Signal(signed(spec.width))
        self.latency = sincos_latency(spec, multiplier.latency)

    def elaborate(self, platform: object) -> Module:
        m, spec = Module(), self.spec
        low_bits = spec.phase - 2 - INDEX
        low = self.angle[:low_bits]
        entry = self.angle[low_bits : low_bits + INDEX]
        quadrant = self.angle[spec.phase - 2 : spec.phase]

        # Table: address and data registers of a block RAM, then its output register.
        table, ft = spec.table, spec.table_fraction
        rows = [int(s) | int(c) << ft for s, c in table]
        memory = Memory(shape=2 * ft, depth=1 << INDEX, init=rows)
        m.submodules.table = memory
        port = memory.read_port(domain="sync")
        m.d.comb += [port.addr.eq(entry), port.en.eq(1)]
        data = _later(m, port.data, 1)
        sine, cosine = data[:ft], data[ft:]

        # δ: distance to the step's middle, d = 2 low - step, in radians
        d = Cat(0, low[:-1], ~low[-1]).as_signed()
        k, shift = spec.radians
        recipe, steps = sincos_radians(spec)
        product, at = _times(m, recipe, d)
        delta = _later(m, (product >> shift)[: spec.delta_width].as_signed(), steps - at)
        sine, cosine = _later(m, sine, steps - 2), _later(m, cosine, steps - 2)

        # sin φ + δ (cos φ - ½ δ sin φ), cos φ - δ (sin φ + ½ δ cos φ); slopes to the order
        fd, grid = spec.delta_fraction, spec.width - 1 + GUARD
        slope_s, slope_c, now = cosine[spec.spare :], sine[spec.spare :], steps
        if spec.order == 2:
            half_s, half_c = (self._product(m, x, delta) >> (fd + 1) for x in (sine, cosine))
            wait = self.multiplier.latency
            sine, cosine, delta = (_later(m, x, wait) for x in (sine, cosine, delta))
            slope_s, slope_c = _later(m, cosine - half_s, 1), _later(m, sine + half_c, 1)
            sine, cosine, delta = (_later(m, x, 1) for x in (sine, cosine, delta))
            now += wait + 1
        cut = ft - spec.spare + fd - grid
        change_s = self._product(m, slope_s, delta) >> cut
        change_c = self._product(m, slope_c, delta) >> cut
        wait = self.multiplier.latency
        sums = []
        for value, change, sign in ((sine, change_s, 1), (cosine, change_c, -1)):
            # + half is added to the table's entry while the product is on its way
            aligned = (value << (grid - ft)) if grid >= ft else (value >> (ft - grid))
            start = _later(m, _later(m, aligned + (1 << (GUARD - 1)), 1), wait - 1)
            total = start + change if sign > 0 else start - change
            sums.append(_later(m, (total >> GUARD)[: spec.width].as_signed(), 1))
        now += wait + 1

        # One becomes 1 - ulp: only it has the sign bit of these non-negative numbers set.
        limit = Const((1 << (spec.width - 1)) - 1, spec.width)
        sine, cosine = (Mux(s[-1], limit, s.as_unsigned()) for s in sums)
        quadrant = _later(m, quadrant, now)
        swap, lower = quadrant[0], quadrant[1]
        swapped = _later(m, Mux(swap, cosine, sine), 1), _later(m, Mux(swap, sine, cosine), 1)
        negative = _later(m, lower, 1), _later(m, swap ^ lower, 1)
        for out, value, minus in zip((self.sin, self.cos), swapped, negative, strict=True):
            signed_value = (value ^ minus.replicate(spec.width)) + minus
            m.d.comb += out.eq(_later(m, signed_value[: spec.width], 1))
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


def _later(m: Module, value: Value, cycles: int) -> Value:
    """``value`` after so many registers, its shape kept."""
    for _ in range(cycles):
        register = Signal(value.shape(), reset_less=True)
        m.d.sync += register.eq(value)
        value = register
    return value


def _times(m: Module, recipe: Recipe, x: Value) -> tuple[Value, int]:
    """(x · recipe, cycles it takes): a register after each addition."""
    if not isinstance(recipe, Sum):
        return x, 0
    left, at_left = _times(m, recipe.left, x)
    right, at_right = _times(m, recipe.right, x)
    at = max(at_left, at_right)
    left, right = _later(m, left, at - at_left), _later(m, right, at - at_right)
    left, right = left << recipe.left_shift, right << recipe.right_shift
    return _later(m, left + right if recipe.sign > 0 else left - right, 1), at + 1
