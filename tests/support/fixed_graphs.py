"""A graph of every operation, in words."""

from __future__ import annotations

from rbdgen.graph.fixed import FixedGraph, Format
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op

STATES = 200


def fixed_graph(op: Op, operands: list[Format], out: Format, value: float = 0.0) -> FixedGraph:
    """One operation, ``z``, on inputs ``x``, ``y`` …"""
    b = Builder()
    names = ("x", "y", "c")[: len(operands)]
    inputs = [b.input(name) for name in names]
    node = b.node(op, *inputs, value=value)
    formats: dict[Node, Format] = dict(zip(inputs, operands, strict=True)) | {node: out}
    return FixedGraph(
        Graph(names, {"z": node}), dict(zip(names, operands, strict=True)), formats, 18
    )
