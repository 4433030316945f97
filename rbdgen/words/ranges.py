"""How large each signal can get: proven by intervals where that is tight, else as it was seen.

And how small: what a reciprocal is taken of must stay away from zero.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..graph.graph import Graph
from ..graph.intervals import Interval, intervals_of
from ..graph.node import Node, Op
from ..system.refusal import Refusal
from .pivot_bounds import NO_BOUNDS, PivotBounds
from .value_range import extents_of_all

RECIPROCALS = (Op.RECIP, Op.MANTISSA, Op.EXPONENT)
# Of the larger operand, allowed for in a sum that cancels: inputs that depend on each other, as
# the entries of M⁻¹ do, are rounded one by one.
CANCELLED = 2.0**-6


class RangeError(Refusal, ValueError):
    """A signal whose values no hardware can be made for."""


class NotPositive(RangeError):
    """A reciprocal of what is not positive in some state."""


@dataclass(frozen=True)
class Ranges:
    """``bound[node]``: the largest magnitude allowed for; ``proven``: nodes where it is a proof.

    ``least[node]``: the smallest value allowed for, of each operand of a reciprocal: positive.
    ``limits``: of each input, as proofs take them; infinite where nobody states any.
    ``units``: inputs that are vectors of length 1. ``pivot_bounds``: of M, as proofs take them.
    ``extremes``: states that a search has found, in which signals are largest, (N,) of each input.
    """

    bound: Mapping[Node, float]
    proven: frozenset[Node]
    least: Mapping[Node, float] = field(default_factory=dict)
    limits: Mapping[str, Interval] = field(default_factory=dict)
    units: tuple[tuple[str, ...], ...] = ()
    extremes: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    pivot_bounds: PivotBounds = NO_BOUNDS


def analyse(
    graph: Graph,
    limits: Mapping[str, Interval],
    samples: Mapping[str, NDArray[np.float64]],
    related: Collection[str] = (),
    margin: float | Mapping[Node, float] = 0.2,
    further: Iterable[Mapping[str, NDArray[np.float64]]] = (),
) -> Ranges:
    """Bound every node by the smaller of its interval and its sampled maximum plus ``margin``.

    ``related`` inputs follow from others in the samples, but are rounded by themselves: a sum that
    depends on them may be as large as a 64th of its larger operand, however it cancels in the
    samples, and what is computed from it as much larger. ``limits`` bound each input, ``samples``
    hold states within them, (N,) each, and so does each of ``further``.

    Raises:
        NotPositive: what a reciprocal is taken of is not positive in some of the states.
    """
    pivots = {node.args[0]: node for node in graph.nodes if node.op in RECIPROCALS}
    seen = extents_of_all(graph, chain([samples], further), pivots)
    sampled, smallest = seen.largest, seen.smallest
    for node in sorted(pivots, key=lambda pivot: pivot.index):
        if not smallest[node] > 0:
            raise NotPositive(_not_positive(graph, pivots[node], smallest[node]))
    intervals = intervals_of(graph, limits)
    beyond = margin if isinstance(margin, Mapping) else dict.fromkeys(graph.nodes, margin)
    bound: dict[Node, float] = {}
    raised: dict[Node, float] = {}  # what a sum that cancels has brought with it
    touched: set[Node] = set()
    proven = set()
    for node in graph.nodes:
        largest = max(map(abs, intervals[node]))
        guess = sampled[node] * (1 + beyond[node])
        if node.op is Op.MUL and any(a.op is Op.MANTISSA for a in node.args):
            # it jumps from 1 to 2 where its operand passes a power of two, between two samples
            others = (sampled[a] for a in node.args if a.op is not Op.MANTISSA)
            guess = max(guess, 2 * max(others, default=2.0))
        if node.op is Op.SELECT and all(a.op is Op.CONST for a in node.args[1:]):
            guess = largest  # a flag, which may have been seen on one side only
        if node.name in related or any(a in touched for a in node.args):
            touched.add(node)
        if node.op in (Op.ADD, Op.SUB) and node in touched:
            allowed = max(bound[a] * (1 if a in raised else CANCELLED) for a in node.args)
        else:
            allowed = guess * max((raised.get(a, 1.0) for a in node.args), default=1.0)
        if allowed > guess:
            raised[node] = allowed / guess if guess else 1.0
            guess = allowed
        bound[node] = min(largest, guess) if node.op is not Op.INPUT else largest
        if largest <= guess or node.op is Op.INPUT:
            proven.add(node)
    least = {n: max(intervals[n][0], smallest[n] / (1 + beyond[n])) for n in pivots}
    return Ranges(bound, frozenset(proven), least)


def _not_positive(graph: Graph, node: Node, value: float) -> str:
    """The message for a reciprocal whose operand reached ``value``."""
    of = "an input" if node.args[0].op is Op.INPUT else f"node {node.args[0].index}"
    name = node.args[0].name or f"{node.args[0].op.value}"
    where = " of region {} {}".format(*node.region) if node.region else ""
    return (
        f"the reciprocal{where} (node {node.index}) is taken of {of} ({name}), which is "
        f"{value:.6g} in one of the sampled states: it must be positive in all of them"
    )
