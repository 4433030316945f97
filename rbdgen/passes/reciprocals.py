"""Reciprocals in block-floating form: x · (1 / a) becomes (x · mantissa) · 2^-exponent.

The mantissa is a full word however small a is, and the product is scaled at once, so that the
left shift of a small a brings up bits that the product has. A reciprocal that anything but a
product reads is scaled itself. Signs and constants between a reciprocal and its product go
behind the shift, where they lose nothing.
"""

from __future__ import annotations

from ..graph.graph import Graph, rebuild
from ..graph.node import Builder, Node, Op


def reciprocals(graph: Graph) -> Graph:
    """Lower every RECIP to MANTISSA, EXPONENT (both in its region) and SCALE."""

    def rule(builder: Builder, node: Node, args: list[Node]) -> Node:
        match node.op:
            case Op.RECIP:
                (a,) = args
                return builder.scale(builder.mantissa(a), builder.exponent(a))
            case Op.MUL:
                return _product(builder, *args)
        return builder.same(node, args)

    return rebuild(graph, rule)


def _product(builder: Builder, a: Node, b: Node) -> Node:
    """a · b, scaled last where one of them is a reciprocal."""
    for x, y in ((a, b), (b, a)):
        factor, core = _without_constants(y)
        if core.op is Op.SCALE and core.args[0].op is Op.MANTISSA:
            mantissa, exponent = core.args
            return builder.mul(factor, builder.scale(builder.mul(x, mantissa), exponent))
    return builder.mul(a, b)


def _without_constants(node: Node) -> tuple[float, Node]:
    """(c, x): the node is c · x, and x no multiple of anything."""
    factor = 1.0
    while node.op in (Op.NEG, Op.MULC):
        factor *= -1.0 if node.op is Op.NEG else node.value
        (node,) = node.args
    return factor, node
