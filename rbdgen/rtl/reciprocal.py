"""The reciprocal unit: ``Reciprocal.algorithm`` as a pipeline, one operand every cycle."""

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
from ..schedule.binding import reciprocal_latency
from .multiplier import Multiplier
from .pipeline import Pipeline


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

        pipe = Pipeline(m, multiply)
        words = pipe.build(algorithm, operand=self.operand)
        m.d.comb += [
            self.mantissa.eq(words["mantissa"]),
            self.exponent.eq(words["exponent"]),
            self.outside.eq(words["outside"]),
        ]
        ready = {pipe.cycle[word] for word in algorithm.outputs.values()}
        assert ready == {self.unit.latency}, (ready, self.unit.latency)
        return m
