"""Bounds of output errors that follow from the errors of a graph's signals.

The error of an output is Σ gain · error over all nodes, each that which the node adds by itself.
A gain is the derivative of the output by the node: a graph of its own, made backwards, whose
signals have proven bounds like any others. So errors that turn with a vector are turned, not added
up at each joint. Products of two errors are added as errors of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..graph.graph import Graph
from ..graph.intervals import Interval
from ..graph.node import Builder, Node, Op
from .bounds import magnitudes
from .windows import Unit
from .word_errors import OUTWARD


def propagated(
    graph: Graph,
    limits: Mapping[str, Interval],
    own: Mapping[Node, float],
    error: Mapping[Node, float],
    units: Sequence[Unit] = (),
) -> dict[str, float]:
    """Output → its error, at most, of what each node adds of its ``own``.

    ``error``: of each node, at most, however coarse: products of two of them are small.
    """
    added = {node: own[node] + _second(node, error) for node in graph.nodes}
    found: dict[str, float] = {}
    for name, output in graph.outputs.items():
        made, slopes = gains(graph, output)
        largest = magnitudes(made, limits, units)
        total = sum(largest[slope] * added[node] for node, slope in slopes.items() if added[node])
        found[name] = total * OUTWARD
    return found


def gains(graph: Graph, output: Node) -> tuple[Graph, dict[Node, Node]]:
    """A graph of the derivatives of an output by all nodes that it needs; node → its derivative.

    Derivatives are in the region of their node: what is next to each other stays so.
    """
    builder = Builder()
    cone = Graph(graph.inputs, {"": output}).nodes
    new: dict[Node, Node] = {}
    for node in cone:
        with builder.in_region(node.region):
            new[node] = builder.same(node, [new[arg] for arg in node.args])
    slopes: dict[Node, Node] = {output: builder.const(1.0)}
    for node in reversed(cone):
        with builder.in_region(node.region):
            for arg, by in zip(node.args, _slopes(builder, node, new), strict=True):
                part = builder.mul(slopes[node], by)
                slopes[arg] = builder.add(slopes[arg], part) if arg in slopes else part
    outputs = {str(k): slope for k, slope in enumerate(slopes.values())}
    return Graph(graph.inputs, outputs), slopes


def _slopes(builder: Builder, node: Node, new: Mapping[Node, Node]) -> tuple[Node | float, ...]:
    """The derivatives of a node by its operands; ValueError where it has none."""
    args = [new[arg] for arg in node.args]
    match node.op, args:
        case Op.INPUT | Op.CONST | Op.PARAMETER, _:
            return ()
        case Op.ADD, _:
            return 1.0, 1.0
        case Op.SUB, _:
            return 1.0, -1.0
        case Op.NEG, _:
            return (-1.0,)
        case Op.MULC, _:
            return (node.value,)
        case Op.MUL, [a, b]:
            return b, a
        case Op.SIN, [a]:
            return (builder.mul(math.tau / node.value, builder.cos(a, node.value)),)
        case Op.COS, [a]:
            return (builder.neg(builder.mul(math.tau / node.value, builder.sin(a, node.value))),)
    raise ValueError(f"{node.op.value} has no derivative that is proven")


def _second(node: Node, error: Mapping[Node, float]) -> float:
    """The second-order error of a node, which the derivative leaves out."""
    if node.op is Op.MUL:
        a, b = node.args
        return error[a] * error[b]
    if node.op in (Op.SIN, Op.COS):
        return (error[node.args[0]] * math.tau / node.value) ** 2 / 2
    return 0.0
