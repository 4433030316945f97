"""The hardware of each operation: one table, for regions of round trips and for folds.

An operation is logic of its own, a port of a unit that is a module, or, as a product is, either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from ..design.target import Style, Target
from ..graph.fixed import FixedGraph
from ..graph.graph import source
from ..graph.node import Node, Op
from ..schedule.units import sincos_products
from .arithmetic import add_or_subtract, aligned, mirrored, truncated
from .function_units import FunctionUnit, PlacedUnit, ReciprocalUnit, SinCosUnit
from .multiplier import Multiplier
from .pipeline import StepPipeline

Operand = tuple[Value, int]  # bits and how many of them are fraction
Ports = dict[str, Signal]  # outputs of a unit, by name


@dataclass(frozen=True)
class Site:
    """Where a unit is placed: in which module, as which submodule, its outputs named by ``port``.

    ``style``: of its products. ``made`` notes what is placed.
    """

    m: Module
    fixed: FixedGraph
    made: list[PlacedUnit]
    target: Target
    style: Style
    name: str
    port: Callable[[str], str]

    def product(
        self, a: int, b: int, style: Style | None = None, latency: int | None = None
    ) -> Multiplier:
        """The multiplier for operands of so many bits; ``style`` and ``latency``: if not as all."""
        style = style or self.style
        rows = self.target.spent(a, b)[1] if style == "dsp" else (0, 0)
        cycles = latency or self.target.multiplier_latency(a, b, style)
        return Multiplier(a, b, cycles, style, rows)

    def function(
        self, unit: FunctionUnit, products: Sequence[Multiplier], **operands: Value
    ) -> Ports:
        """Place the unit of a function, which has these ``products``."""
        outputs = {own: Signal(shape, name=self.port(own)) for own, shape in unit.results.items()}
        self.m.submodules[self.name] = unit.instance(**operands, **outputs)
        self.made.extend([unit, *products])
        return outputs


@dataclass(frozen=True)
class Unit:
    """The hardware of an operation.

    ``logic``: (module, graph, node, operands) → the result before it is registered and wrapped to
    its width. ``place``: (site, node, operands) → the outputs of a unit put there, which serves
    this node and others of its job; its output ``port`` gives what the result is ``taken`` from,
    and ``flag`` says that the operand is out of range.
    """

    logic: Callable[..., Value] | None = None
    place: Callable[..., Ports] | None = None
    port: str = ""
    flag: str = ""
    taken: Callable[[FixedGraph, Node, Value], Value] = lambda fixed, node, output: output

    def result(self, fixed: FixedGraph, node: Node, outputs: Mapping[str, Value]) -> Value:
        """The result, before it is wrapped to its width, from the outputs of the placed unit."""
        return self.taken(fixed, node, outputs[self.port])


def operand_of(fixed: FixedGraph, node: Node, k: int, value_of: Callable[[Node], Value]) -> Operand:
    """The node's k-th operand: a constant wired in, or the bits of the node that it comes from,
    which may stand in a register of no task."""
    argument = node.args[k]
    fraction, origin = fixed.formats[argument].fraction, source(argument)
    if origin.op is Op.CONST:
        own = fixed.formats[origin]
        return Const(int(own.quantize(origin.value)), signed(own.width)), fraction
    return value_of(origin), fraction


def overflow_of(fixed: FixedGraph, node: Node, wide: Value) -> Value:
    """Whether the bits from the result's sign bit up are not all the same."""
    top = wide[fixed.formats[node].width - 1 :]
    return top.any() & ~top.all()


def _sum(m: Module, fixed: FixedGraph, node: Node, a: Operand, b: Operand) -> Value:
    return add_or_subtract(node.op, *a, *b, fixed.formats[node])


def _negation(m: Module, fixed: FixedGraph, node: Node, a: Operand) -> Value:
    out = fixed.formats[node]
    value, fraction = truncated(*a, out.fraction)
    positive = aligned(value, out.fraction - fraction)
    return mirrored(positive, Const(1)) if out.saturates else -positive


def _product(m: Module, fixed: FixedGraph, node: Node, a: Operand, b: Operand) -> Value:
    return _rounded(fixed, node, a[0] * b[0])


def _rounded(fixed: FixedGraph, node: Node, p: Value) -> Value:
    """The bits of a product ``p`` from the result's last one up, rounded if it is to be."""
    out = fixed.formats[node]
    shift = sum(fixed.formats[a].fraction for a in node.args) - out.fraction
    if shift < 0:
        return aligned(p, -shift)
    spare = max(shift + 1 - len(p), 0)  # a product below the last bit is 0 or -1
    whole = Cat(p, p[-1].replicate(spare))
    kept = whole[shift:].as_signed()
    return kept + whole[shift - 1] if out.rounded and shift > 0 else kept


def _scaling(m: Module, fixed: FixedGraph, node: Node, x: Operand, k: Operand) -> Value:
    """It has registers inside."""
    pipe = StepPipeline(m, name=f"s{fixed.graph.number[node]}")
    return pipe.build(fixed.scale(node).algorithm, x=x[0], k=k[0])["scaled"]


def _selection(
    m: Module, fixed: FixedGraph, node: Node, condition: Operand, a: Operand, b: Operand
) -> Value:
    fraction = fixed.formats[node].fraction
    values = [truncated(*operand, fraction) for operand in (a, b)]
    negative, otherwise = (aligned(value, fraction - own) for value, own in values)
    return Mux(condition[0][-1], negative, otherwise)


def _saturation(m: Module, fixed: FixedGraph, node: Node, x: Operand) -> Value:
    """Comparisons are with the operand as it comes, beside its rounding, where bits do not do."""
    value, fraction = x
    out, (low, high) = fixed.formats[node], fixed.saturation(node)
    shift = fraction - out.fraction
    if shift > 0:
        rounded = truncated(value, fraction, out.fraction)[0] + value[min(shift, len(value)) - 1]
    else:
        rounded = aligned(value, -shift)
    if fixed.saturates_by_bits(node):
        top = rounded[high.bit_length() :]
        beyond, ends = top.any() & ~top.all(), (Const(x, signed(out.width)) for x in (low, high))
        return Mux(beyond, Mux(rounded[-1], *ends), rounded)
    half, places = 1 << max(shift, 0) >> 1, max(shift, 0)
    above = value >= (((high + 1) << places) - half if shift >= 0 else -(-(high + 1) >> -shift))
    below = value < ((low << places) - half if shift >= 0 else -(-low >> -shift))
    ends = (Const(end, signed(out.width)) for end in (low, high))
    return Mux(below | above, Mux(below, *ends), rounded)


def _multiplier(site: Site, node: Node, a: Value, b: Value) -> Ports:
    unit = site.product(len(a), len(b))
    p = Signal(signed(len(a) + len(b)), name=site.port("p"))
    site.m.submodules[site.name] = unit.instance(a=a, b=b, p=p)
    site.made.append(unit)
    return {"p": p}


def _sincos(site: Site, node: Node, angle: Value) -> Ports:
    spec = site.fixed.sincos(node)
    made = sincos_products(spec, site.target, site.style)
    products = tuple(site.product(p.a, p.b, p.style, p.latency) for p in made)
    unit = SinCosUnit(spec, len(angle), products)
    return site.function(unit, products, angle=angle)


def _reciprocal(site: Site, node: Node, operand: Value) -> Ports:
    spec = site.fixed.reciprocal(node)
    unit = ReciprocalUnit(spec, tuple(site.product(a, b) for a, b in spec.products))
    return site.function(unit, unit.multipliers, operand=operand)


UNIT: dict[Op, Unit] = {
    Op.INPUT: Unit(),  # a register, or a word of a memory
    Op.CONST: Unit(),  # wires
    Op.PARAMETER: Unit(),  # a register that is no task's
    Op.MULC: Unit(),  # by a power of two: wires; others have become sums
    Op.RECIP: Unit(),  # has become a mantissa, an exponent and scalings
    Op.ADD: Unit(_sum),
    Op.SUB: Unit(_sum),
    Op.NEG: Unit(_negation),
    Op.SCALE: Unit(_scaling),
    Op.SELECT: Unit(_selection),
    Op.SATURATE: Unit(_saturation),
    Op.MUL: Unit(_product, _multiplier, "p", taken=_rounded),
    Op.SIN: Unit(None, _sincos, "sin"),
    Op.COS: Unit(None, _sincos, "cos"),
    Op.MANTISSA: Unit(None, _reciprocal, "mantissa"),
    Op.EXPONENT: Unit(None, _reciprocal, "exponent", "outside"),
}
