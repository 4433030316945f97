"""M and gradients in one frame: the columns of all coordinates meet the axes above them."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice, product

from ..graph.visits import Visit
from .axes import Axis
from .composite import Column, Gradient, among_own, no_gradient, with_descendant
from .fields import Gathered
from .logarithmic import Logarithmic
from .motion import multiplier
from .scalars import Scalar, Vector
from .templates import by_place, pairing
from .winograd import Largest, dots_with_descendant, in_pairs

ENTRIES = 5  # that two coordinates have, as ``with_descendant`` gives them
Meeting = tuple[float, list[Axis], list[Column]]  # a factor; of a joint, and of one below it


def gradient(sums: Logarithmic, found: Gathered, largest: Largest | None = None) -> Gradient:
    """M, ∂τ/∂q and ∂τ/∂q̇: every coordinate's column, and what it is to all above it.

    With ``largest`` entries of two joints are Winograd's inner products, made together in a tree.
    """
    robot, steps = sums.robot, sums.steps
    M, dq, dqd = made = no_gradient(robot.nv)
    together: dict[int, dict[tuple[int, int], Meeting]] = defaultdict(dict)

    def put(body: int, matrix: list[Vector], i: int, j: int, value: Scalar) -> None:
        matrix[i][j] = steps.summed(body, matrix[i][j], value)

    def put_below(k: int, above: int, entries: list[Vector]) -> None:
        pairs = product(sums.coordinates(above), sums.coordinates(k))
        for (l, c), values in zip(pairs, entries, strict=True):
            put(k, dq, c, l, values[0])
            put(k, dqd, c, l, values[1])
            put(k, dq, l, c, values[2])
            put(k, dqd, l, c, values[3])
            put(k, M, l, c, values[4])
            put(k, M, c, l, values[4])  # twice into the diagonal if the two share a coordinate

    for k, axes in found.fields.items():
        factor = multiplier(robot.joints[k])
        own = steps(by_place("back", robot, k), _own_entries, factor**2, axes, found.own[k])
        pairs = product(sums.coordinates(k), repeat=2)
        for (l, c), values in zip(pairs, own, strict=True):
            for matrix, value in zip((dq, dqd, M), values, strict=False):
                put(k, matrix, l, c, value)
            if c < l:
                put(k, M, c, l, values[2])
        above = robot.joints[k].parent
        while above >= 0:
            both = multiplier(robot.joints[above]) * factor
            met = both, found.fields[above], found.above[k]
            if largest is None:
                put_below(k, above, steps(pairing(robot, k, above), _entries, met))
            else:
                together[steps.region[k]][k, above] = met
            above = robot.joints[above].parent
    for tree, meetings in together.items():
        entries = steps(Visit("pairs", (tree,)), _in_pairs, list(meetings.values()), largest)
        for pair, own in zip(meetings, entries, strict=True):
            put_below(*pair, own)
    return made


def _own_entries(factor: float, axes: list[Axis], columns: list[Column]) -> list[Vector]:
    """∂τ/∂q, ∂τ/∂q̇ and, below the diagonal and on it, M of all coordinates of a joint."""
    return [
        [factor * x for x in islice(among_own(axis, column), 3 if l >= c else 2)]
        for l, axis in enumerate(axes)
        for c, column in enumerate(columns)
    ]


def _entries(met: Meeting) -> list[Vector]:
    """``with_descendant``'s entries of all coordinates of two joints."""
    factor, axes, columns = met
    return [
        [factor * x for x in with_descendant(axis, column)]
        for axis, column in product(axes, columns)
    ]


def _in_pairs(meetings: list[Meeting], largest: Largest) -> list[list[Vector]]:
    """The same of several meetings, made together."""
    each = [(both, list(product(axes, columns))) for both, axes, columns in meetings]
    dots = [dot for _, own in each for pair in own for dot in dots_with_descendant(*pair)]
    found = iter(in_pairs(dots, largest))
    return [[[both * x for x in islice(found, ENTRIES)] for _ in own] for both, own in each]
