"""The units of functions of one operand: sine and cosine, the reciprocal.

The sine and cosine unit: ``SinCos.algorithm`` as a pipeline, one angle every cycle.

The reciprocal unit: ``Reciprocal.algorithm`` as a pipeline, one operand every cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from amaranth.back import rtlil
from amaranth.hdl import (
    ClockDomain,
    ClockSignal,
    Elaboratable,
    Instance,
    Module,
    Signal,
    Value,
    signed,
)

from ..graph.reciprocal import Reciprocal
from ..graph.sincos import SinCos
from ..schedule.binding import reciprocal_latency, sincos_latency
from .multiplier import Multiplier
from .pipeline import StepPipeline


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
        return _angle_written(self)


@cache  # designs of one process have the same units again and again
def _angle_written(of: SinCosUnit) -> str:
    unit = SinCosPipeline(of)
    ports = [unit.domain.clk, unit.angle, unit.sin, unit.cos]
    return rtlil.convert(unit, name=of.name, ports=ports, emit_src=False)


class SinCosPipeline(Elaboratable):
    """The unit as an Amaranth module with ports clk, angle, sin, cos."""

    def __init__(self, unit: SinCosUnit) -> None:
        self.spec, self.multiplier, self.latency = unit.spec, unit.multiplier, unit.latency
        self.domain = ClockDomain("sync", reset_less=True)
        self.angle = Signal(signed(unit.angle_width))
        self.sin = Signal(signed(unit.spec.width))
        self.cos = Signal(signed(unit.spec.width))

    def elaborate(self, platform: object) -> Module:
        m, algorithm = Module(), self.spec.algorithm
        m.domains += self.domain
        pipe = StepPipeline(m, self._product)
        words = pipe.build(algorithm, angle=self.angle)
        m.d.comb += [self.sin.eq(words["sin"]), self.cos.eq(words["cos"])]
        assert {pipe.cycle[word] for word in algorithm.outputs.values()} == {self.latency}
        return m

    def _product(self, m: Module, table: Value, delta: Value) -> tuple[Value, int]:
        unit = self.multiplier
        a = Signal(signed(unit.a_width))
        b = Signal(signed(unit.b_width))
        p = Signal(signed(unit.a_width + unit.b_width))
        m.d.comb += [a.eq(table), b.eq(delta)]
        m.submodules += unit.instance(a=a, b=b, p=p)
        return p, unit.latency


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
        return _written(self)


@cache  # designs of one process have the same units again and again
def _written(of: ReciprocalUnit) -> str:
    unit = ReciprocalPipeline(of)
    ports = [unit.domain.clk, unit.operand, unit.mantissa, unit.exponent, unit.outside]
    return rtlil.convert(unit, name=of.name, ports=ports, emit_src=False)


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
        m, algorithm = Module(), self.spec.algorithm
        m.domains += self.domain
        left = iter(enumerate(self.unit.multipliers))

        def multiply(m: Module, a: Value, b: Value) -> tuple[Value, int]:
            number, unit = next(left)
            product = Signal(signed(len(a) + len(b)), name=f"product_{number}")
            m.submodules[f"multiply_{number}"] = unit.instance(a=a, b=b, p=product)
            return product, unit.latency

        pipe = StepPipeline(m, multiply)
        words = pipe.build(algorithm, operand=self.operand)
        m.d.comb += [
            self.mantissa.eq(words["mantissa"]),
            self.exponent.eq(words["exponent"]),
            self.outside.eq(words["outside"]),
        ]
        ready = {pipe.cycle[word] for word in algorithm.outputs.values()}
        assert ready == {self.unit.latency}, (ready, self.unit.latency)
        return m
