"""The range of each signal: by interval arithmetic where that is tight, else from samples.

It includes the least magnitude, since the operand of a reciprocal must stay away from zero.

Deviations are how far words may be from the real numbers that they stand for.

Roundings are independent of each other: each adds the variance of a uniform error of its
last bit, and operands bring theirs times the largest slope. A word of few bits needs that room
above its range, or rounding carries it over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..graph.evaluate import Interval, intervals_of
from ..graph.fixed import Format
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..system.quoting import Refusal
from .factor_bounds import NO_BOUNDS, PivotBounds
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
        if node.op is Op.SATURATE:
            guess = largest  # what is beyond it leaves no trace: no word overflows
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


MOST = 2.0**-9  # of its range, that operands bring on: slopes are not all largest at once
COARSE = 8  # bits: narrower words are as far off as what they stand for
DEVIATIONS = 4.0  # standard deviations of room: more than a last bit for its own rounding

# Node, ranges, each operand's deviation → what they make of the result, its own rounding aside.
CARRIED: dict[Op, Callable[..., float]] = {
    Op.INPUT: lambda node, ranges: 0.0,
    Op.CONST: lambda node, ranges: 0.0,
    Op.PARAMETER: lambda node, ranges: 0.0,
    Op.ADD: lambda node, ranges, a, b: math.hypot(a, b),
    Op.SUB: lambda node, ranges, a, b: math.hypot(a, b),
    Op.NEG: lambda node, ranges, a: a,
    Op.MUL: lambda node, ranges, a, b: math.hypot(
        a * ranges.bound[node.args[1]], b * ranges.bound[node.args[0]], a * b
    ),
    Op.MULC: lambda node, ranges, a: node.value * a,
    Op.SIN: lambda node, ranges, a: a * math.tau / node.value,
    Op.COS: lambda node, ranges, a: a * math.tau / node.value,
    # of a quotient relative to the largest operand: where that is small its word has more bits
    Op.RECIP: lambda node, ranges, a: _relative(node, ranges, a),
    Op.MANTISSA: lambda node, ranges, a: _relative(node, ranges, a),
    Op.EXPONENT: lambda node, ranges, a: 0.0,
    Op.SCALE: lambda node, ranges, x, k: _relative(node, ranges, x),
    Op.SELECT: lambda node, ranges, c, a, b: max(a, b),
    Op.SATURATE: lambda node, ranges, a: a,
}


def _relative(node: Node, ranges: Ranges, of: float) -> float:
    return ranges.bound[node] * of / ranges.bound[node.args[0]] if of else 0.0


def headroom(node: Node, ranges: Ranges, of: Mapping[Node, float], ulp: float) -> float:
    """The headroom of a word above its range, its own last bit included.

    ``of``: operands' standard deviations.
    """
    return DEVIATIONS * _with(_carried(node, ranges, of), ulp) + ulp


class Deviations(dict[Node, float]):
    """Standard deviations of nodes' words from the real numbers that they stand for.

    What operands bring is at most a small share of a node's range. But behind a word of so few bits
    that it is as far off as what it stands for, it is all that it brings, for as long as that is
    more than such a share. That is ``traced`` where words are as short as an error allows; of words
    of one width, few are so short, and matter.
    """

    def __init__(self, ranges: Ranges, traced: bool) -> None:
        super().__init__()
        self.ranges, self._traced = ranges, traced
        self._coarse: set[Node] = set()

    def add(self, node: Node, word: Format) -> None:
        """The deviation of a node in that word; its operands' are known."""
        carried, most = _carried(node, self.ranges, self), MOST * self.ranges.bound[node]
        behind = self._traced and not self._coarse.isdisjoint(node.args) and carried > most
        if word.width < COARSE or behind:
            self._coarse.add(node)
        else:
            carried = min(carried, most)
        self[node] = _with(carried, 2.0**-word.fraction)


def _carried(node: Node, ranges: Ranges, of: Mapping[Node, float]) -> float:
    return CARRIED[node.op](node, ranges, *(of[a] for a in node.args))


def _with(carried: float, ulp: float) -> float:
    return math.hypot(carried, ulp / math.sqrt(12))
