"""The derivative of every operation: numbers by its operands, and the tangent as a node.

Graphs are differentiated along directions by these tangents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from .graph import Graph
from .node import Builder, Node, Op, Region, Scalar


@dataclass(frozen=True)
class Derivative:
    """The derivative of an operation.

    ``slopes``: node, its value, its operands' values → the derivative by each operand.
    ``tangent``: builder, node, its copy there, (operand's copy, its tangent) for each → the tangent
    of the copy; 0 makes no nodes.
    """

    slopes: Callable[..., tuple[Any, ...]]
    tangent: Callable[..., Scalar]


def _per_radian(node: Node) -> float:
    """Radians in the unit of a sine's or cosine's angle."""
    return math.tau / node.value


def _between_limits(b: Builder, x: Scalar, limit: float, tangent: Scalar) -> Scalar:
    """The tangent where x is within ±limit, else 0."""
    if isinstance(tangent, float) and not tangent:
        return 0.0
    return b.select(b.add(x, limit), 0.0, b.select(b.sub(limit, x), 0.0, tangent))


CONSTANT = Derivative(lambda n, v: (), lambda b, n, v: 0.0)
DERIVATIVE: dict[Op, Derivative] = {
    Op.INPUT: CONSTANT,
    Op.CONST: CONSTANT,
    Op.PARAMETER: CONSTANT,
    Op.ADD: Derivative(
        lambda n, v, x, y: (1.0, 1.0),
        lambda b, n, v, x, y: b.add(x[1], y[1]),
    ),
    Op.SUB: Derivative(
        lambda n, v, x, y: (1.0, -1.0),
        lambda b, n, v, x, y: b.sub(x[1], y[1]),
    ),
    Op.NEG: Derivative(
        lambda n, v, x: (-1.0,),
        lambda b, n, v, x: b.neg(x[1]),
    ),
    Op.MUL: Derivative(
        lambda n, v, x, y: (y, x),
        lambda b, n, v, x, y: b.add(b.mul(x[1], y[0]), b.mul(x[0], y[1])),
    ),
    Op.MULC: Derivative(
        lambda n, v, x: (n.value,),
        lambda b, n, v, x: b.mul(n.value, x[1]),
    ),
    Op.SIN: Derivative(
        lambda n, v, x: (np.cos(x * math.tau / n.value) * math.tau / n.value,),
        lambda b, n, v, x: b.mul(_per_radian(n), b.mul(b.cos(x[0], n.value), x[1])),
    ),
    Op.COS: Derivative(
        lambda n, v, x: (-np.sin(x * math.tau / n.value) * math.tau / n.value,),
        lambda b, n, v, x: b.mul(-_per_radian(n), b.mul(b.sin(x[0], n.value), x[1])),
    ),
    Op.RECIP: Derivative(
        lambda n, v, x: (-v * v,),
        lambda b, n, v, x: b.neg(b.mul(b.mul(v, v), x[1])),
    ),
    Op.MANTISSA: Derivative(  # of 2^k / x, with k as it is
        lambda n, v, x: (-v / x,),
        lambda b, n, v, x: b.neg(b.mul(b.mul(v, b.recip(x[0])), x[1])),
    ),
    Op.EXPONENT: Derivative(
        lambda n, v, x: (0.0,),
        lambda b, n, v, x: 0.0,
    ),
    Op.SCALE: Derivative(
        lambda n, v, x, k: (np.exp2(-k), 0.0),
        lambda b, n, v, x, k: b.scale(x[1], k[0]),
    ),
    Op.SELECT: Derivative(
        lambda n, v, c, x, y: (0.0, np.where(c < 0, 1.0, 0.0), np.where(c < 0, 0.0, 1.0)),
        lambda b, n, v, c, x, y: b.select(c[0], x[1], y[1]),
    ),
    Op.SATURATE: Derivative(
        lambda n, v, x: (np.where(np.abs(x) < n.value, 1.0, 0.0),),
        lambda b, n, v, x: _between_limits(b, x[0], n.value, x[1]),
    ),
}


def adjoints(
    graph: Graph, values: Mapping[Node, Any], back: dict[Node, Any]
) -> Iterator[tuple[Node, Any, list[Any]]]:
    """Reverse mode: the nodes that ``back`` reaches, users first, each with its adjoint and the
    parts of it that its operands have.

    ``values``: of every node. ``back``: the adjoints of outputs; it ends up empty.
    """
    for node in reversed(graph.nodes):
        adjoint = back.pop(node, None)
        if adjoint is None:
            continue
        slopes = DERIVATIVE[node.op].slopes(node, values[node], *(values[a] for a in node.args))
        parts = [adjoint * slope for slope in slopes]
        for arg, part in zip(node.args, parts, strict=True):
            back[arg] = back.get(arg, 0.0) + part
        yield node, adjoint, parts


Direction = TypeVar("Direction")

Seeds = Mapping[str, Mapping[Direction, Callable[[], Scalar]]]


@dataclass(frozen=True)
class Differentiated(Generic[Direction]):
    """Nodes in another builder, and their tangents, along the directions that they depend on."""

    copies: dict[Node, Node]
    tangents: dict[Node, dict[Direction, Node]]


def differentiate(
    nodes: Iterable[Node], builder: Builder, seeds: Seeds[Direction], wanted: Container[Node]
) -> Differentiated[Direction]:
    """``nodes``, operands first, traced anew by ``builder``, those of ``wanted`` with tangents.

    ``seeds``: input → direction → what makes its tangent, in the region of what reads it first.
    Each tangent follows its node, in the same region. So where a tangent and a later node are
    equal, it is the former's region that has them: values go from region to region as before.
    """
    found: Differentiated[Direction] = Differentiated({}, {})
    copies, tangents = found.copies, found.tangents
    for node in nodes:
        own = tangents[node] = {}
        with builder.in_region(node.region):
            copy = copies[node] = builder.same(node, [copies[a] for a in node.args])
            if node not in wanted:
                continue
            for a in node.args:
                if a.op is Op.INPUT and not tangents[a]:
                    made = {to: builder.lift(make()) for to, make in seeds.get(a.name, {}).items()}
                    tangents[a] |= {to: t for to, t in made.items() if not _is_zero(t)}
            for to in dict.fromkeys(to for a in node.args for to in tangents[a]):
                pairs = [(copies[a], tangents[a].get(to, 0.0)) for a in node.args]
                tangent = builder.lift(DERIVATIVE[node.op].tangent(builder, node, copy, *pairs))
                if not _is_zero(tangent):
                    own[to] = tangent
    return found


def one_way(graph: Graph, regions: Iterable[Region | None]) -> Graph:
    """The graph, in which regions hand values on in the order in which they stand in ``regions``.

    What reads a value of a later region moves there: it was made when that was known already.
    """
    rank: dict[Region | None, int] = {None: -1}
    for region in regions:
        rank.setdefault(region, len(rank))
    builder, copies = Builder(), dict[Node, Node]()
    for node in graph.nodes:
        args = [copies[a] for a in node.args]
        read = [a.region for a in args if a.op not in (Op.INPUT, Op.CONST)]
        with builder.in_region(max((node.region, *read), key=lambda region: rank[region])):
            copies[node] = builder.same(node, args)
    return Graph(graph.inputs, {name: copies[node] for name, node in graph.outputs.items()})


def _is_zero(node: Node) -> bool:
    return node.op is Op.CONST and node.value == 0
