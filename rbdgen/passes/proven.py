"""Words for ranges that are proven, in place of those that a search found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..prove.backward import ends_of, factors_in
from ..prove.bounds import bounds
from ..prove.columns import Known
from ..prove.words import proof
from .ranges import RangeError, Ranges
from .wordlength import integer_bits

# Bits that a word may have more than a search asks for, so that it is proven to hold.
MORE = {"one-bit": 1.0, "all": math.inf}


def proven_words(
    graph: Graph, searched: Ranges, which: str, make: Callable[[Ranges], FixedGraph]
) -> tuple[Ranges, FixedGraph]:
    """The words that ``make`` makes of ranges that are proven, where that takes no more bits than
    ``which`` of ``MORE`` allows; and those ranges.

    A word has room for its proven error, too, which its formats decide: so they are made again
    until it has.

    Raises:
        RangeError: all are to be proven, and of one there is no proof.
    """
    factors, _ = factors_in(make(searched), searched.limits, searched.units, searched.felt)
    of = bounds(graph, searched.limits, searched.units, Known(factors, graph))
    largest, lowest = ends_of(of)
    more = MORE[which]
    most = {node: integer_bits(size) + more for node, size in searched.bound.items()}
    chosen = {n: size for n, size in largest.items() if math.isfinite(size)}
    chosen = {n: size for n, size in chosen.items() if integer_bits(size) <= most[n]}
    chosen |= {n: max(chosen[n], searched.bound[n]) for n in searched.proven if n in chosen}
    least = dict(searched.least)
    for pivot, size in least.items():
        if lowest[pivot] > 0 and integer_bits(lowest[pivot]) + more >= integer_bits(size):
            least[pivot] = min(size, lowest[pivot])
    while True:
        ranges = replace(
            searched,
            bound={**searched.bound, **chosen},
            proven=searched.proven | chosen.keys(),
            least=least,
        )
        fixed = make(ranges)
        found = proof(fixed, of, factors)
        if which == "all":
            _refuse_unknown(graph, largest, found.error)
        short = {n: largest[n] + found.error[n] for n in chosen if n not in found.holds}
        if not short:
            return ranges, fixed
        for node, size in short.items():
            if node.op is not Op.EXPONENT and integer_bits(size) <= most[node]:
                chosen[node] = size
            else:
                del chosen[node]


def _refuse_unknown(
    graph: Graph, largest: Mapping[Node, float], error: Mapping[Node, float]
) -> None:
    """RangeError with the first node of which nothing is known, whose operands are known."""
    for node in graph.nodes:
        if math.isfinite(largest[node]) and math.isfinite(error[node]):
            continue
        if node.op is Op.INPUT:
            said, why = node.name, "nobody states its limits"
        else:
            where = " of region {} {}".format(*node.region) if node.region else ""
            said = f"node {node.index} ({node.op.value}){where}"
            why = "nothing is proven behind this reciprocal or choice"
        raise RangeError(f"proven: all: {said} has no proof: {why}; one-bit proves what can be")
