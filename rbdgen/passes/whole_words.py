"""Room for every angle that an input's word can hold, not only for those within its limits.

An angle means the same a turn further on, so no angle is out of range; what a word holds between
its limits and its ends (a word of ±4 rad is the shortest for ±π) must come out right, too. What
lies between an angle's input and its sine is linear, so its largest value is known exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..graph.graph import Graph
from ..graph.intervals import Interval
from ..graph.node import Node, Op
from .ranges import Ranges
from .wordlength import angles, integer_bits

ROUNDING = 1 + 2.0**-10  # sums are rounded, which may carry them beyond what is exact

Linear = dict[str | None, float]  # input → factor; None: what is added


def for_whole_words(graph: Graph, ranges: Ranges, limits: Mapping[str, Interval]) -> Ranges:
    """The ranges, where they are smaller those of angles raised to what whole words make of them.

    ``limits``: of each input; its word goes to the next power of two.
    """
    towards = _towards(graph)
    largest = {name: 2.0 ** integer_bits(max(map(abs, ends))) for name, ends in limits.items()}
    bound, proven = dict(ranges.bound), set(ranges.proven)
    found: dict[Node, Linear] = {}
    for node in graph.nodes:
        if node not in towards:
            continue
        linear = _linear(node, [found.get(a) for a in node.args])
        if linear is None:
            continue
        found[node] = linear
        if node.op is not Op.INPUT:
            whole = sum(
                abs(factor) * (1.0 if name is None else largest[name])
                for name, factor in linear.items()
            )
            bound[node] = max(bound[node], whole * ROUNDING)
            proven.add(node)
    return replace(ranges, bound=bound, proven=frozenset(proven))


def whole_limits(graph: Graph, limits: Mapping[str, Interval]) -> dict[str, Interval]:
    """The limits, those of angles to the ends of their words."""
    found = dict(limits)
    for node in _towards(graph):
        if node.op is Op.INPUT:
            largest = 2.0 ** integer_bits(max(map(abs, limits[node.name])))
            found[node.name] = -largest, largest
    return found


def _towards(graph: Graph) -> set[Node]:
    """The graph's angles, and what they are made of."""
    found = angles(graph)
    for node in reversed(graph.nodes):
        if node in found:
            found.update(node.args)
    return found


def _linear(node: Node, args: list[Linear | None]) -> Linear | None:
    """The node as factors of inputs, None where it is not linear in them."""
    match node.op, args:
        case Op.INPUT, _:
            return {node.name: 1.0}
        case Op.CONST, _:
            return {None: node.value}
        case (Op.MULC, [dict(a)]):
            return {name: node.value * factor for name, factor in a.items()}
        case (Op.NEG, [dict(a)]):
            return {name: -factor for name, factor in a.items()}
        case (Op.ADD | Op.SUB as op, [dict(a), dict(b)]):
            sign = 1.0 if op is Op.ADD else -1.0
            names = dict.fromkeys((*a, *b))
            return {name: a.get(name, 0.0) + sign * b.get(name, 0.0) for name in names}
    return None
