"""Words for proven ranges, which no state within the limits overflows, and proven errors.

They take the place of words for ranges that a search found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..graph.evaluate import Interval
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.node import Node, Op
from .bounds import bounds
from .factor_bounds import NO_BOUNDS, GraphFactors, PivotBounds
from .factor_errors import ends_of, factors_in, in_words
from .ranges import RangeError, Ranges
from .solved_errors import KnownSignals
from .windows import Unit
from .word_errors import further, lowest_word, propagated
from .wordlength import integer_bits

MOST_NODES = 20_000  # of derivatives: some seconds


@dataclass(frozen=True, eq=False)
class Proof:
    """The proven bounds of a graph in words; infinite where there is no bound.

    ``largest``: the magnitude of each signal over real numbers, at most. ``error``: the distance
    of its word from that, at most, unless a flag rises. ``holds``: signals whose words have room
    for both, so that none overflows but after one that is not among them.
    """

    largest: Mapping[Node, float]
    error: Mapping[Node, float]
    holds: frozenset[Node]


def output_errors(
    fixed: FixedGraph,
    limits: Mapping[str, Interval],
    units: Sequence[Unit] = (),
    pivot_bounds: PivotBounds = NO_BOUNDS,
) -> dict[str, float]:
    """Output → its distance from the graph that was traced, at most; infinite where not known.

    Of words, and of constants that are not exactly what they were. Of a graph that is small, or
    has few outputs, and divides by nothing, by gains; else by sums, which are coarser.
    """
    if fixed.before is None:
        return dict.fromkeys(fixed.graph.outputs, math.inf)
    factors, steps = factors_in(fixed, limits, units, pivot_bounds, whole=True)
    of = bounds(fixed.graph, limits, units, KnownSignals(factors, fixed.graph))
    total = dict.fromkeys(fixed.graph.outputs, 0.0)
    for at in (in_words(fixed, of, factors), *steps):
        found = {name: at.errors[node] for name, node in at.graph.outputs.items()}
        divides = any(node.op in (Op.MANTISSA, Op.EXPONENT) for node in at.graph.nodes)
        known = not divides and all(map(math.isfinite, found.values()))
        if known and _cones(at.graph) <= MOST_NODES:
            own = {node: by + further(node, at.plain, at.moved) for node, by in at.own.items()}
            by_gains = propagated(at.graph, limits, own, at.plain, units)
            found = {name: min(size, by_gains[name]) for name, size in found.items()}
        total = {name: size + found[name] for name, size in total.items()}
    return total


def _cones(graph: Graph) -> int:
    """The number of nodes that each output depends on, summed over the outputs."""
    return sum(len(Graph((), {"": node}).nodes) for node in graph.outputs.values())


def prove(
    fixed: FixedGraph,
    limits: Mapping[str, Interval],
    units: Sequence[Unit] = (),
    pivot_bounds: PivotBounds = NO_BOUNDS,
) -> Proof:
    """Prove bounds of words while inputs are within ``limits``; infinite where there are none.

    Inputs without limits are unbounded. Each of ``units`` is a vector of length 1.
    ``pivot_bounds``: of the robot's M.
    """
    factors, _ = factors_in(fixed, limits, units, pivot_bounds)
    of = bounds(fixed.graph, limits, units, KnownSignals(factors, fixed.graph))
    return proof(fixed, of, factors)


def proof(fixed: FixedGraph, of: Mapping[Node, Interval], factors: GraphFactors) -> Proof:
    """The same, from intervals ``of`` real numbers that are proven."""
    made = in_words(fixed, of, factors)
    largest, least, error = made.largest, made.least, made.errors

    def holds(node: Node) -> bool:
        if node.op is Op.EXPONENT:
            (pivot,) = node.args
            word, _ = lowest_word(pivot, least, error, made.off.relative)
            return word >= 2.0 ** (fixed.reciprocal(node).lowest - 1)
        return largest[node] + error[node] < fixed.formats[node].limits[1]

    nodes = fixed.graph.nodes
    return Proof(
        largest, error, frozenset(n for n in nodes if not fixed.overflowing(n) or holds(n))
    )


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
    factors, _ = factors_in(make(searched), searched.limits, searched.units, searched.pivot_bounds)
    of = bounds(graph, searched.limits, searched.units, KnownSignals(factors, graph))
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
