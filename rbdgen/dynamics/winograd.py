"""Winograd's inner product of 1968: the dots of a matrix product, one product in place of two.

    x₁y₁ + x₂y₂ = (2^s x₁ + y₂) (x₂ + 2^-s y₁) − 2^s x₁x₂ − 2^-s y₁y₂

The last two products are of one vector alone, made once for all dots that it is in. In words the
first one must not be far larger than what is left of it: with the largest values X, Y of the
vectors' entries it is at most X₁Y₁ + X₂Y₂ + 2^s X₁X₂ + 2^-s Y₁Y₂, which is least at

    4^s = Σ Y₁Y₂ / Σ X₁X₂

over the pairs of a dot, one s for all of them, so that the sums of corrections are shared, too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

from ..graph.node import Node, Op
from .axes import Axis
from .composite import Column
from .scalars import Scalar, Vector

Dot = tuple[Vector, Vector]  # of as many entries each; a number is a constant
Largest = Callable[[Sequence[Node]], Sequence[float]]  # absolute values, in some random states
Two = tuple[Node, Node]
NOTHING = 1e-12  # of the largest entry: what is no larger is zero by structure


class _Pair(NamedTuple):
    """Entries ``x`` and ``y`` of a dot at two places next to each other."""

    x: Two
    y: Two


def dots_with_descendant(axis: Axis, column: Column) -> tuple[Dot, ...]:
    """The entries of ``composite.with_descendant``, in its order, as one dot each."""
    S, G1 = [*axis.S[0], *axis.S[1]], column.G1
    turned = [[*moment, *force] for force, moment in (G1, column.F2, column.F1)]
    gathered = [*column.G2, *turned[0]]
    return (
        ([*axis.first[0], *axis.second[0], *axis.second[1]], gathered),
        ([*axis.S[0], *axis.rate[0], *axis.rate[1]], gathered),
        (S, turned[1]),
        (S, turned[2]),
        (S, turned[0]),
    )


def in_pairs(dots: Sequence[Dot], largest: Largest) -> list[Scalar]:
    """The dots, in pairs where their vectors are in enough of them to save a product.

    ``largest``: of the entries, from which the powers of two follow.
    """
    size = _sizes(dots, largest)
    pairs = [_pairs(dot, size) for dot in dots]
    used = _worth_it({pair for own in pairs for pair in own})
    return [
        _made(dot, [pair for pair in own if pair in used], size)
        for dot, own in zip(dots, pairs, strict=True)
    ]


def _sizes(dots: Sequence[Dot], largest: Largest) -> dict[Node, float]:
    nodes = dict.fromkeys(
        entry
        for dot in dots
        for vector in dot
        for entry in vector
        if isinstance(entry, Node) and entry.op is not Op.CONST
    )
    return dict(zip(nodes, largest(list(nodes)), strict=True))


def _pairs(dot: Dot, size: dict[Node, float]) -> list[_Pair]:
    """The pairs of a dot product whose entries are all signals that are not zero."""
    floor = NOTHING * max(size.values(), default=0.0)
    found = []
    for k in range(0, len(dot[0]) - 1, 2):
        x, y = (vector[k : k + 2] for vector in dot)
        if all(isinstance(entry, Node) and size.get(entry, 0.0) > floor for entry in (*x, *y)):
            found.append(_Pair((x[0], x[1]), (y[0], y[1])))
    return found


def _worth_it(pairs: set[_Pair]) -> set[_Pair]:
    """The pairs whose corrections, a product for each side, serve at least two of them."""
    while True:
        uses = Counter(side for pair in pairs for side in enumerate(pair))
        left = {pair for pair in pairs if all(uses[side] > 1 for side in enumerate(pair))}
        if left == pairs:
            return pairs
        pairs = left


def _made(dot: Dot, pairs: Sequence[_Pair], size: dict[Node, float]) -> Scalar:
    apart = list(zip(*dot, strict=True))
    for (x1, x2), (y1, y2) in pairs:
        apart.remove((x1, y1))
        apart.remove((x2, y2))
    rest = sum((x * y for x, y in apart), 0.0)
    if not pairs:
        return rest
    rows, columns = ([pair[k] for pair in pairs] for k in (0, 1))
    of_x, of_y = (sum(size[a] * size[b] for a, b in own) for own in (rows, columns))
    up = 2.0 ** round(math.log2(of_y / of_x) / 2)
    both = [(up * x1 + y2) * (x2 + y1 * (1 / up)) for (x1, x2), (y1, y2) in pairs]
    corrections = up * _products(rows) + (1 / up) * _products(columns)
    return rest + (reduce(add, both) - corrections)


def _products(pairs: Sequence[Two]) -> Scalar:
    return reduce(add, (a * b for a, b in pairs))
