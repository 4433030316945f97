"""How large each signal can get: proven by intervals where that is tight, else sampled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph.evaluate import evaluate
from ..graph.graph import Graph
from ..graph.node import Node, Op

Interval = tuple[float, float]


@dataclass(frozen=True)
class Ranges:
    """``bound[node]``: the largest magnitude allowed for; ``proven``: nodes where it is a proof."""

    bound: Mapping[Node, float]
    proven: frozenset[Node]


def _product(a: Interval, b: Interval) -> Interval:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _reciprocal(node: Node, a: Interval) -> Interval:
    if a[0] <= 0 <= a[1]:
        return -np.inf, np.inf
    return 1 / a[1], 1 / a[0]


INTERVAL: dict[Op, Callable[..., Interval]] = {
    Op.INPUT: lambda node: (0.0, 0.0),  # taken from the limits
    Op.CONST: lambda node: (node.value, node.value),
    Op.ADD: lambda node, a, b: (a[0] + b[0], a[1] + b[1]),
    Op.SUB: lambda node, a, b: (a[0] - b[1], a[1] - b[0]),
    Op.NEG: lambda node, a: (-a[1], -a[0]),
    Op.MUL: lambda node, a, b: _square(a) if node.args[0] is node.args[1] else _product(a, b),
    Op.MULC: lambda node, a: (node.value * a[0], node.value * a[1]),
    Op.SIN: lambda node, a: (-1.0, 1.0),
    Op.COS: lambda node, a: (-1.0, 1.0),
    Op.RECIP: _reciprocal,
    Op.SELECT: lambda node, c, a, b: (min(a[0], b[0]), max(a[1], b[1])),
}


def _square(a: Interval) -> Interval:
    ends = a[0] ** 2, a[1] ** 2
    return (0.0 if a[0] <= 0 <= a[1] else min(ends)), max(ends)


def analyse(
    graph: Graph,
    limits: Mapping[str, Interval],
    samples: Mapping[str, NDArray[np.float64]],
    margin: float = 0.2,
) -> Ranges:
    """Bound every node by the smaller of its interval and its sampled maximum plus ``margin``.

    ``limits`` bound each input, ``samples`` hold states within them, (N,) each.
    """
    sampled: dict[Node, float] = {}
    evaluate(graph, samples, lambda node, v: sampled.update({node: float(np.abs(v).max())}))
    intervals: dict[Node, Interval] = {}
    bound: dict[Node, float] = {}
    proven = set()
    for node in graph.nodes:
        if node.op is Op.INPUT:
            interval = limits[node.name]
        else:
            interval = INTERVAL[node.op](node, *(intervals[a] for a in node.args))
        intervals[node] = interval
        largest = max(abs(interval[0]), abs(interval[1]))
        guess = sampled[node] * (1 + margin)
        bound[node] = min(largest, guess) if node.op is not Op.INPUT else largest
        if largest <= guess or node.op is Op.INPUT:
            proven.add(node)
    return Ranges(bound, frozenset(proven))
