"""The values that every signal of a graph can have, proven.

The least of what intervals say and what each window says that the signal is in. All that is in
float64 is rounded outward.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from ..graph.evaluate import INTERVAL, Interval, product
from ..graph.graph import Graph
from ..graph.node import Node, Op
from .windows import Unit, windows

GIVEN = (Op.INPUT, Op.PARAMETER)


EXACT = (*GIVEN, Op.CONST, Op.NEG)


Known = Callable[[Node, Mapping[Node, Interval]], Interval | None]


def bounds(
    graph: Graph,
    limits: Mapping[str, Interval],
    units: Sequence[Unit] = (),
    known: Known = lambda node, found: None,
) -> dict[Node, Interval]:
    """Node → an interval that it never leaves while the inputs are within ``limits``, and those of
    each of ``units`` a vector of length 1. ``known``: what is known of some nodes otherwise.

    Infinite where there is no proof: of what is divided by something that may be zero, and of all
    that depends on an input without limits.
    """
    within = windows(graph, units)
    last = {arg: node for node in graph.nodes for arg in node.args}
    found: dict[Node, Interval] = {}
    for node in graph.nodes:
        found[node] = limits[node.name] if node.op in GIVEN else _by_operands(node, found)
        if (otherwise := known(node, found)) is not None:
            found[node] = _both(found[node], otherwise)
        for window in within.get(node, ()):
            own = window.make(node, found)
            if own is not None:
                found[node] = _both(found[node], own)
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


def _both(a: Interval, b: Interval) -> Interval:
    return max(a[0], b[0]), min(a[1], b[1])


def _by_operands(node: Node, of: Mapping[Node, Interval]) -> Interval:
    low, high = _quotient(node, of) or INTERVAL[node.op](node, *(of[arg] for arg in node.args))
    if node.op in EXACT:
        return low, high
    return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)


def _quotient(node: Node, of: Mapping[Node, Interval]) -> Interval | None:
    """Bounds of x · mantissa · 2^-exponent, which is x / a; None for other nodes."""
    if node.op is not Op.SCALE or node.args[1].op is not Op.EXPONENT:
        return None
    scaled, (pivot,) = node.args[0], node.args[1].args
    low, high = of[pivot]
    if not low > 0:
        return None
    inverse = math.nextafter(1 / high, 0.0), math.nextafter(1 / low, math.inf)
    if _is_mantissa(scaled, pivot):
        return inverse
    for x, y in zip(scaled.args, scaled.args[::-1], strict=True):
        if scaled.op is Op.MUL and _is_mantissa(y, pivot):
            return product(of[x], inverse)
    return None


def _is_mantissa(node: Node, pivot: Node) -> bool:
    return node.op is Op.MANTISSA and node.args[0] is pivot
