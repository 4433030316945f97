"""Angles in turns: sin x becomes sin 2π(x / 2π), so that dropping whole turns drops bits."""

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
