"""The values that every signal of a graph can have, proven.

The least of what intervals say and what each window says that the signal is in. All that is in
float64 is rounded outward.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..graph.graph import Graph
from ..graph.intervals import INTERVAL, Interval
from ..graph.node import Node, Op
from .windows import Unit, windows

GIVEN = (Op.INPUT, Op.HELD)
EXACT = (*GIVEN, Op.CONST, Op.NEG)


def bounds(
    graph: Graph, limits: Mapping[str, Interval], units: Sequence[Unit] = ()
) -> dict[Node, Interval]:
    """Node → an interval that it never leaves while the inputs are within ``limits``, and those of
    each of ``units`` a vector of length 1.

    Infinite where there is no proof: of what is divided by something that may be zero, and of all
    that depends on an input without limits.
    """
    within = windows(graph, units)
    last = {arg: node for node in graph.nodes for arg in node.args}
    found: dict[Node, Interval] = {}
    for node in graph.nodes:
        found[node] = limits[node.name] if node.op in GIVEN else _by_operands(node, found)
        for window in within.get(node, ()):
            own = window.make(node, found)
            if own is not None:
                found[node] = max(found[node][0], own[0]), min(found[node][1], own[1])
        for arg in {*node.args}:
            if last[arg] is node:
                for window in within.get(arg, ()):
                    window.forget(arg)
    return found


def magnitudes(
    graph: Graph, limits: Mapping[str, Interval], units: Sequence[Unit] = ()
) -> dict[Node, float]:
    """Node → the largest magnitude that it can have, as ``bounds`` proves it."""
    return {node: max(map(abs, own)) for node, own in bounds(graph, limits, units).items()}


def _by_operands(node: Node, of: Mapping[Node, Interval]) -> Interval:
    low, high = INTERVAL[node.op](node, *(of[arg] for arg in node.args))
    if node.op in EXACT:
        return low, high
    return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
