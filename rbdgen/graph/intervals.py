"""Interval arithmetic: the values that an operation can have, from those of its operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from .graph import Graph
from .node import Node, Op

Interval = tuple[float, float]


def product(a: Interval, b: Interval) -> Interval:
    """Products of a number of each."""
    corners = [x * y if x and y else 0.0 for x in a for y in b]  # 0 · ∞ is 0
    return min(corners), max(corners)


def _reciprocal(node: Node, a: Interval) -> Interval:
    if a[0] <= 0 <= a[1]:
        return -np.inf, np.inf
    return 1 / a[1], 1 / a[0]


def _exponent(node: Node, a: Interval) -> Interval:
    largest = max(abs(x) for x in a)
    highest = float(math.frexp(largest)[1]) if largest < np.inf else np.inf
    return float(math.frexp(a[0])[1]) if a[0] > 0 else -np.inf, highest


INTERVAL: dict[Op, Callable[..., Interval]] = {
    Op.INPUT: lambda node: (0.0, 0.0),  # taken from the limits
    Op.CONST: lambda node: (node.value, node.value),
    Op.PARAMETER: lambda node: (node.value, node.value),  # or taken from the limits
    Op.ADD: lambda node, a, b: (a[0] + b[0], a[1] + b[1]),
    Op.SUB: lambda node, a, b: (a[0] - b[1], a[1] - b[0]),
    Op.NEG: lambda node, a: (-a[1], -a[0]),
    Op.MUL: lambda node, a, b: square(a) if node.args[0] is node.args[1] else product(a, b),
    Op.MULC: lambda node, a: (node.value * a[0], node.value * a[1]),
    Op.SIN: lambda node, a: (-1.0, 1.0),
    Op.COS: lambda node, a: (-1.0, 1.0),
    Op.RECIP: _reciprocal,
    Op.MANTISSA: lambda node, a: (1.0, 2.0) if a[0] > 0 else (-2.0, 2.0),
    Op.EXPONENT: _exponent,
    Op.SCALE: lambda node, x, k: product(x, (float(np.exp2(-k[1])), float(np.exp2(-k[0])))),
    Op.SELECT: lambda node, c, a, b: _selected(node, a, b),
}


def square(a: Interval) -> Interval:
    """Squares of its numbers."""
    ends = a[0] ** 2, a[1] ** 2
    return (0.0 if a[0] <= 0 <= a[1] else min(ends)), max(ends)


def _selected(node: Node, a: Interval, b: Interval) -> Interval:
    """Either value; one that is compared with a constant itself, only on its side of it."""
    condition, *values = node.args
    x, k = _compared(condition)
    if x is values[0]:  # chosen below k
        a = b if a[0] >= k else (a[0], min(a[1], k))
    if x is values[1]:  # chosen from k on
        b = a if b[1] < k else (max(b[0], k), b[1])
    return min(a[0], b[0]), max(a[1], b[1])


def _compared(condition: Node) -> tuple[Node | None, float]:
    """(x, k) where the condition, that it is negative, says x < k; None of others."""
    if condition.op is Op.SUB and condition.args[1].op is Op.CONST:
        return condition.args[0], condition.args[1].value
    if condition.op is Op.ADD and any(a.op is Op.CONST for a in condition.args):
        x, k = sorted(condition.args, key=lambda a: a.op is Op.CONST)
        return x, -k.value
    return None, 0.0


def intervals_of(graph: Graph, limits: Mapping[str, Interval]) -> dict[Node, Interval]:
    """The interval of every node by interval arithmetic, from ``limits`` of the inputs."""
    found: dict[Node, Interval] = {}
    for node in graph.nodes:
        if node.op is Op.INPUT or (node.op is Op.PARAMETER and node.name in limits):
            found[node] = limits[node.name]
        else:
            found[node] = INTERVAL[node.op](node, *(found[a] for a in node.args))
    return found
