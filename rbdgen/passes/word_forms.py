"""Operations in forms whose words are short.

Angles in turns: sin x becomes sin 2π(x / 2π), so that dropping whole turns drops bits.

Reciprocals in block-floating form: x · (1 / a) becomes (x · mantissa) · 2^-exponent.

The mantissa is a full word however small a is, and the product is scaled at once, so that the
left shift of a small a brings up bits that the product has. A reciprocal that anything but a
product reads is scaled itself. Signs and constants between a reciprocal and its product go
behind the shift, where they lose nothing.
"""

from __future__ import annotations

import math

from ..graph.graph import Graph, rebuild
from ..graph.node import Builder, Node, Op


def phase(graph: Graph) -> Graph:
    """Scale the argument of every SIN and COS by 1 / 2π; constant offsets lose whole turns."""

    def rule(builder: Builder, node: Node, args: list[Node]) -> Node:
        if node.op not in (Op.SIN, Op.COS) or node.value == 1.0:
            return builder.same(node, args)
        turns = _in_turns(builder, args[0])
        return builder.sin(turns, 1.0) if node.op is Op.SIN else builder.cos(turns, 1.0)

    return rebuild(graph, rule)


def _in_turns(builder: Builder, angle: Node) -> Node:
    if angle.op is Op.ADD and any(a.op is Op.CONST for a in angle.args):
        x, offset = sorted(angle.args, key=lambda a: a.op is Op.CONST)
        turns = offset.value / math.tau
        return builder.add(builder.mul(1 / math.tau, x), turns - round(turns))
    return builder.mul(1 / math.tau, angle)


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
