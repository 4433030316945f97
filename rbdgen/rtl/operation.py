"""What each operation is in hardware, before its result is registered and wrapped to its width."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Value

from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op
from .arithmetic import add_or_subtract, aligned, cut, mirrored
from .scale import shifted

Operand = tuple[Value, int]  # bits and how many of them are fraction


def result_of(m: Module, fixed: FixedGraph, node: Node, operands: list[Operand]) -> Value:
    """A sum, difference, negation, selection or scaling; the latter has registers inside."""
    out = fixed.formats[node]
    if node.op is Op.NEG:
        positive = cut(*operands[0], out.fraction)[0]
        return mirrored(positive, Const(1)) if out.saturates else -positive
    if node.op is Op.SCALE:
        (x, _), (k, _) = operands
        return shifted(m, fixed.scale(node), x, k, f"s{node.index}")
    if node.op is Op.SELECT:
        condition = operands[0][0]
        values = [cut(*operand, out.fraction) for operand in operands[1:]]
        negative, otherwise = (aligned(v, out.fraction - f) for v, f in values)
        return Mux(condition[-1], negative, otherwise)
    (a, fa), (b, fb) = operands
    return add_or_subtract(node.op, a, fa, b, fb, out)


def product_of(fixed: FixedGraph, node: Node, p: Value) -> Value:
    """The bits of a multiplier's ``p`` from the result's last one up, rounded if it is to be."""
    out = fixed.formats[node]
    shift = sum(fixed.formats[a].fraction for a in node.args) - out.fraction
    spare = max(shift + 1 - len(p), 0)  # a product below the last bit is 0 or -1
    whole = Cat(p, p[-1].replicate(spare))
    kept = whole[shift:].as_signed()
    return kept + whole[shift - 1] if out.rounded and shift > 0 else kept


def overflow_of(fixed: FixedGraph, node: Node, wide: Value) -> Value:
    """Whether the bits from the result's sign bit up are not all the same."""
    top = wide[fixed.formats[node].width - 1 :]
    return top.any() & ~top.all()
