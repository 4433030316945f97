"""The words that no state within the limits overflows, and how far words are off at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..graph.fixed import FixedGraph
from ..graph.intervals import Interval
from ..graph.node import Node
from .bounds import magnitudes
from .errors import errors


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


def prove(fixed: FixedGraph, limits: Mapping[str, Interval]) -> Proof:
    """What is proven of the words while inputs are within ``limits``, infinite for unknown ones."""
    largest = magnitudes(fixed.graph, limits)
    error = errors(fixed, largest)
    holds = frozenset(
        node
        for node in fixed.graph.nodes
        if not fixed.overflowing(node)
        or largest[node] + error[node] < fixed.formats[node].limits[1]
    )
    return Proof(largest, error, holds)
