"""The units of functions of one operand, sine and cosine, and the reciprocal, as pipelines.

What a unit computes is the ``algorithm`` of its ``spec``; a new operand may come in every cycle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from itertools import count

from amaranth.back import rtlil
from amaranth.hdl import (
    ClockDomain,
    ClockSignal,
    Elaboratable,
    Instance,
    Module,
    Shape,
    Signal,
    Value,
    signed,
)

from ..graph.integers import Spec
from ..graph.reciprocal import Reciprocal
from ..graph.sincos import SinCos
from ..schedule.units import reciprocal_latency, sincos_latency
from .delay_line import LutRam
from .multiplier import Multiplier
from .multiply_add import ProductUnit
from .pipeline import StepPipeline


class FunctionUnit(ABC):
    """A function of one operand, ``latency`` cycles later.

    Like a multiplier this is a description: a datapath instantiates it by its module ``name``, and
    each distinct unit is emitted once.
    """

    spec: Spec

    @property
    @abstractmethod
    def name(self) -> str:
        """The module's name."""

    @property
    @abstractmethod
    def latency(self) -> int:
        """Cycles from the operand to its results."""

    @property
    def operands(self) -> dict[str, Shape]:
        """The ports in."""
        return {own: Shape(x.width, x.signed) for own, x in self.spec.algorithm.inputs.items()}

    @property
    def results(self) -> dict[str, Shape]:
        """The ports out."""
        return {own: Shape(x.width, x.signed) for own, x in self.spec.algorithm.outputs.items()}

    @abstractmethod
    def multiply(self, m: Module, number: int, a: Value, b: Value) -> tuple[Value, int]:
        """Place the multiplier of a product, the ``number``-th; the product and its latency."""

    def instance(self, **ports: Value) -> Instance:
        """One unit in the ``sync`` domain of an Amaranth module."""
        inputs = {f"i_{own}": ports[own] for own in self.operands}
        outputs = {f"o_{own}": ports[own] for own in self.results}
        return Instance(self.name, i_clk=ClockSignal(), **inputs, **outputs)

    def to_rtlil(self) -> str:
        """The module, portable but for its multipliers, which it instantiates."""
        return _written(self)


@cache  # designs of one process have the same units again and again
def _written(of: FunctionUnit) -> str:
    unit = FunctionPipeline(of)
    ports = [unit.domain.clk, *unit.ports.values()]
    return rtlil.convert(unit, name=of.name, ports=ports, emit_src=False)


class FunctionPipeline(Elaboratable):
    """A unit as an Amaranth module with a port clk and its own, by name in ``ports``."""

    def __init__(self, unit: FunctionUnit) -> None:
        self.unit = unit
        self.domain = ClockDomain("sync", reset_less=True)
        shapes = unit.operands | unit.results
        self.ports = {own: Signal(shape, name=own) for own, shape in shapes.items()}

    def elaborate(self, platform: object) -> Module:
        m, unit = Module(), self.unit
        m.domains += self.domain

        numbers, algorithm = count(), unit.spec.algorithm
        pipe = StepPipeline(m, lambda m, a, b: unit.multiply(m, next(numbers), a, b))
        words = pipe.build(algorithm, **{own: self.ports[own] for own in unit.operands})
        m.d.comb += [self.ports[own].eq(words[own]) for own in unit.results]
        assert {pipe.cycle[word] for word in algorithm.outputs.values()} == {unit.latency}
        return m


@dataclass(frozen=True)
class SinCosUnit(FunctionUnit):
    """``sin`` and ``cos`` of ``angle``.

    ``angle``: signed, ``angle_width`` bits, ``spec.phase`` of them the fraction of a turn; whole
    turns are ignored. ``sin``, ``cos``: signed, ``spec.width`` bits, all but the sign fraction.
    ``multipliers``: those of ``spec.products``.
    """

    spec: SinCos
    angle_width: int
    multipliers: tuple[Multiplier, ...]

    @property
    def name(self) -> str:
        style = "_logic" if self.multipliers[-1].style == "logic" else ""
        return f"rbdgen_sincos_{self.angle_width}p{self.spec.phase}_{self.spec.width}{style}"

    @property
    def latency(self) -> int:
        return sincos_latency(self.spec, [unit.latency for unit in self.multipliers])

    @property
    def operands(self) -> dict[str, Shape]:
        return {"angle": signed(self.angle_width)}

    def multiply(self, m: Module, number: int, a: Value, b: Value) -> tuple[Value, int]:
        unit = self.multipliers[number]
        ports = {"a": unit.a_width, "b": unit.b_width, "p": unit.a_width + unit.b_width}
        own = {name: Signal(signed(width), name=name) for name, width in ports.items()}
        m.d.comb += [own["a"].eq(a), own["b"].eq(b)]
        m.submodules += unit.instance(**own)
        return own["p"], unit.latency


@dataclass(frozen=True)
class ReciprocalUnit(FunctionUnit):
    """Mantissa and exponent of 1 / ``operand``.

    ``operand``: signed, ``spec.operand`` bits. ``mantissa``: signed, ``spec.width`` bits, two of
    them before the point. ``exponent``: signed, ``spec.exponent_width`` bits. ``outside``: one bit,
    the operand is not positive or too small. ``multipliers``: those of ``spec.products``.
    """

    spec: Reciprocal
    multipliers: tuple[Multiplier, ...]

    @property
    def name(self) -> str:
        spec = self.spec
        top = f"m{-spec.top}" if spec.top < 0 else f"{spec.top}"
        style = "_logic" if self.multipliers[0].style == "logic" else ""
        return f"rbdgen_recip_{spec.operand}t{top}s{spec.steps}_{spec.width}{style}"

    @property
    def latency(self) -> int:
        return reciprocal_latency(self.spec, [unit.latency for unit in self.multipliers])

    def multiply(self, m: Module, number: int, a: Value, b: Value) -> tuple[Value, int]:
        unit = self.multipliers[number]
        product = Signal(signed(len(a) + len(b)), name=f"product_{number}")
        m.submodules[f"multiply_{number}"] = unit.instance(a=a, b=b, p=product)
        return product, unit.latency


# What a module instantiates that is written once for all who do.
PlacedUnit = ProductUnit | FunctionUnit | LutRam
