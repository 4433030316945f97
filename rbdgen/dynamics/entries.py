"""M and gradients in one frame: the columns of all coordinates meet the axes above them."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice, product

from .axes import Axis
from .composite import Column, Gradient, among_own, put, with_descendant
from .fields import Gathered
from .logarithmic import Logarithmic
from .scalars import Scalar, Vector
from .winograd import Largest, dots_with_descendant, in_pairs


def gradient(sums: Logarithmic, found: Gathered, largest: Largest | None = None) -> Gradient:
    """M, ∂τ/∂q and ∂τ/∂q̇: every coordinate's column, and what it is to all above it."""
    n, fields = sums.robot.nv, found.fields
    met: dict[int, list[tuple[Axis, Axis, Column]]] = defaultdict(list)
    made = Gradient(*([[0.0] * n for _ in range(n)] for _ in range(3)))
    for k, axes in fields.items():
        with sums.at(k):
            own = list(zip(axes, found.own[k], strict=True))
            for axis, (of, column) in product(axes, own):
                _put_among_own(made, axis, of, column)
            above = sums.robot.joints[k].parent
            while above >= 0:
                seen = list(zip(axes, found.above[k], strict=True))
                for axis, (of, column) in product(fields[above], seen):
                    if largest is None:
                        values = list(with_descendant(axis, column))
                        _put_with_descendant(made, axis, of, values)
                    else:
                        met[sums.region[k]].append((axis, of, column))
                above = sums.robot.joints[above].parent
    if largest is not None:
        for region, together in met.items():
            with sums.at(region):
                _put_in_pairs(made, together, largest)
    return made


def _put_among_own(gradient: Gradient, axis: Axis, own: Axis, column: Column) -> None:
    """Entries of two coordinates of one joint."""
    M, dq, dqd = gradient
    values = among_own(axis, column)
    put(dq, axis, own, next(values))
    put(dqd, axis, own, next(values))
    if axis.index >= own.index:
        _put_both(M, axis, own, next(values))


def _put_with_descendant(gradient: Gradient, axis: Axis, k: Axis, values: Vector) -> None:
    """``with_descendant``'s entries of a joint's coordinate and one, ``k``, of a joint below."""
    M, dq, dqd = gradient
    put(dq, k, axis, values[0])
    put(dqd, k, axis, values[1])
    put(dq, axis, k, values[2])
    put(dqd, axis, k, values[3])
    _put_both(M, axis, k, values[4])


def _put_in_pairs(
    gradient: Gradient, met: list[tuple[Axis, Axis, Column]], largest: Largest
) -> None:
    """The same of all such coordinates of a tree, made together."""
    dots = [dots_with_descendant(axis, column) for axis, _, column in met]
    found = iter(in_pairs([dot for own in dots for dot in own], largest))
    for (axis, k, _), own in zip(met, dots, strict=True):
        _put_with_descendant(gradient, axis, k, list(islice(found, len(own))))


def _put_both(matrix: list[Vector], a: Axis, b: Axis, value: Scalar) -> None:
    """Into a symmetric matrix: twice into the diagonal if two joints share a coordinate."""
    put(matrix, a, b, value)
    if a is not b:
        put(matrix, b, a, value)
