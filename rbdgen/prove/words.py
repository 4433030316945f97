"""The words that no state within the limits overflows, and how far words are off at most."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.intervals import Interval
from ..graph.node import Node
from .bounds import magnitudes
from .errors import errors, moving, rounding, summed
from .gains import propagated
from .windows import Unit

MOST_NODES = 20_000  # of derivatives: some seconds


@dataclass(frozen=True, eq=False)
class Proof:
    """What is proven of a graph in words, infinite where nothing is.

    ``largest``: the magnitude of each signal over real numbers, at most. ``error``: the distance
    of its word from that, at most, unless a flag rises. ``holds``: signals whose words have room
    for both, so that none overflows but after one that is not among them.
    """

    largest: Mapping[Node, float]
    error: Mapping[Node, float]
    holds: frozenset[Node]


def output_errors(
    fixed: FixedGraph, limits: Mapping[str, Interval], units: Sequence[Unit] = ()
) -> dict[str, float]:
    """Output → its distance from the graph that was traced, at most; infinite where not known.

    Of words, and of constants that are not exactly what they were. Of a graph that is small, or
    has few outputs, by gains; else by sums, which are coarser.
    """
    if fixed.before is None:
        return dict.fromkeys(fixed.graph.outputs, math.inf)
    largest = magnitudes(fixed.graph, limits, units)
    steps = [(fixed.graph, largest, rounding(fixed, largest))]
    for graph, moved in fixed.before:
        largest = magnitudes(graph, limits, units)
        steps.append((graph, largest, moving(graph, largest, moved)))
    total = dict.fromkeys(fixed.graph.outputs, 0.0)
    for graph, largest, own in steps:
        error = summed(graph, largest, own)
        found = {name: error[node] for name, node in graph.outputs.items()}
        if all(map(math.isfinite, found.values())) and _cones(graph) <= MOST_NODES:
            by_gains = propagated(graph, limits, own, error, units)
            found = {name: min(size, by_gains[name]) for name, size in found.items()}
        total = {name: size + found[name] for name, size in total.items()}
    return total


def _cones(graph: Graph) -> int:
    """How many nodes all outputs depend on, one by one."""
    return sum(len(Graph((), {"": node}).nodes) for node in graph.outputs.values())


def prove(fixed: FixedGraph, limits: Mapping[str, Interval], units: Sequence[Unit] = ()) -> Proof:
    """What is proven of the words while inputs are within ``limits``, infinite for unknown ones,
    and those of each of ``units`` a vector of length 1."""
    largest = magnitudes(fixed.graph, limits, units)
    error = errors(fixed, largest)
    holds = frozenset(
        node
        for node in fixed.graph.nodes
        if not fixed.overflowing(node)
        or largest[node] + error[node] < fixed.formats[node].limits[1]
    )
    return Proof(largest, error, holds)
