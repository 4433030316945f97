"""The words that no state within the limits overflows, and how far words are off at most."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.intervals import Interval
from ..graph.node import Node, Op
from .backward import factors_in, in_words
from .bounds import bounds
from .columns import Known
from .errors import further, lowest_word
from .factors import Factors
from .felt import UNFELT, Felt
from .gains import propagated
from .windows import Unit

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
    felt: Felt = UNFELT,
) -> dict[str, float]:
    """Output → its distance from the graph that was traced, at most; infinite where not known.

    Of words, and of constants that are not exactly what they were. Of a graph that is small, or
    has few outputs, and divides by nothing, by gains; else by sums, which are coarser.
    """
    if fixed.before is None:
        return dict.fromkeys(fixed.graph.outputs, math.inf)
    factors, steps = factors_in(fixed, limits, units, felt, whole=True)
    of = bounds(fixed.graph, limits, units, Known(factors, fixed.graph))
    total = dict.fromkeys(fixed.graph.outputs, 0.0)
    for at in (in_words(fixed, of, factors), *steps):
        found = {name: at.errors[node] for name, node in at.graph.outputs.items()}
        divides = any(node.op is Op.MANTISSA for node in at.graph.nodes)
        known = not divides and all(map(math.isfinite, found.values()))
        if known and _cones(at.graph) <= MOST_NODES:
            own = {node: by + further(node, at.plain, at.moved) for node, by in at.own.items()}
            by_gains = propagated(at.graph, limits, own, at.plain, units)
            found = {name: min(size, by_gains[name]) for name, size in found.items()}
        total = {name: size + found[name] for name, size in total.items()}
    return total


def _cones(graph: Graph) -> int:
    """How many nodes all outputs depend on, one by one."""
    return sum(len(Graph((), {"": node}).nodes) for node in graph.outputs.values())


def prove(
    fixed: FixedGraph,
    limits: Mapping[str, Interval],
    units: Sequence[Unit] = (),
    felt: Felt = UNFELT,
) -> Proof:
    """Prove bounds of words while inputs are within ``limits``; infinite where there are none.

    Inputs without limits are unbounded. Each of ``units`` is a vector of length 1. ``felt``: the
    bounds of the robot's M.
    """
    factors, _ = factors_in(fixed, limits, units, felt)
    of = bounds(fixed.graph, limits, units, Known(factors, fixed.graph))
    return proof(fixed, of, factors)


def proof(fixed: FixedGraph, of: Mapping[Node, Interval], factors: Factors) -> Proof:
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
