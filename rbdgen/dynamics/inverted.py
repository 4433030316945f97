"""M⁻¹, q̈ and the gradients of q̈ as visits, from what one way out and back gives.

Templates, beside those of ``elimination``:

    force    what an effort leaves when the bias is taken off
    product  a column of ∂τ times a given M⁻¹
    slope    a column of ∂τ times M⁻¹ by substitution, from L and D

The last two are visited for each column, with the coordinates that it hangs together with: of a
quadruped on a fixed base, with one leg's. Those that the column has entries of come first, so that
zeros of one leg's columns lie where another's do, and a datapath of such columns has no products
of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from ..graph.graph import Graph
from ..graph.visits import Visit
from ..graph.word import spell
from .composite import Gradient
from .elimination import Elimination
from .factorisation import Entries, Order, connected
from .scalars import Scalar, Vector
from .spatial import is_nothing
from .steps import Runner, TaskInput, times
from .units import Balance

OF_QDD = ("dqdd_dq", "dqdd_dqd")
Slopes = list[dict[int, dict[int, Scalar]]]  # by q and by q̇: column → row → entry


def efforts_left(
    run: Runner, order: Order, efforts: Sequence[Scalar], bias: Vector
) -> dict[int, Scalar]:
    """Efforts that accelerate the joints: τ less the bias, both in units."""
    return {
        k: run(Visit("force", (k,)), ("effort", i), operator.sub, efforts[k], bias[k])
        for k, i in order.items()
    }


def named_inverse(inverse: Entries, units: Balance) -> dict[str, Scalar]:
    """M⁻¹, its lower triangle, by the names of outputs, in the robot's units."""
    return {
        spell("Minv", i, j): times(x, units.at(i) * units.at(j)) for (i, j), x in inverse.items()
    }


def named_slopes(slopes: Slopes, units: Balance) -> dict[str, Scalar]:
    """The gradients of q̈ by the names of outputs, in the robot's units."""
    return {
        spell(kind, i, c): times(x, units.at(i) / of.get(c, 1.0))
        for kind, columns, of in zip(OF_QDD, slopes, units.sides, strict=True)
        for c, column in columns.items()
        for i, x in column.items()
    }


def accelerations(
    run: Runner, found: Elimination, units: Balance
) -> tuple[dict[int, Scalar], dict[int, Scalar]]:
    """Coordinate → its q̈, for the task, and for visits: those read no results times 2^k, of
    which each joint has another."""
    solved = found.solve()
    read = {
        k: run(Visit("solve", (k,)), ("out", found.order[k]), operator.mul, x, units.at(k))
        for k, x in solved.items()
    }
    return {k: times(x, units.at(k)) for k, x in solved.items()}, read


def substitutions(run: Runner, found: Elimination, gradient: Gradient) -> Slopes:
    """The gradients of q̈, from the factors of M."""
    above = found.pattern.above

    def reached(own: set[int]) -> set[int]:
        return own.union(*(above[k] for k in own))

    def factors(places: Sequence[int]) -> tuple[Vector, list[Vector]]:
        rows = [found.rows[k] for k in places]
        L = []
        for n, (k, row) in enumerate(zip(places, rows, strict=True)):
            entries = dict(zip(above[k], row.L, strict=False))
            L.append([entries.get(i, 0.0) for i in places[:n]])
        return [row.inverse for row in rows], L

    return _columns(run, "slope", _substituted, found.order, gradient, reached, factors)


def products(run: Runner, graph: Graph, order: Order, gradient: Gradient, units: Balance) -> Slopes:
    """The gradients of q̈, from M⁻¹ as the task gives it."""

    def entry(i: int, j: int) -> Scalar:
        name, by = spell("Minv", max(i, j), min(i, j)), 1 / (units.at(i) * units.at(j))
        return times(TaskInput(name), by) if name in graph.inputs else 0.0

    def rows(places: Sequence[int]) -> tuple[list[Vector]]:
        return ([[entry(i, j) for j in places[: n + 1]] for n, i in enumerate(places)],)

    return _columns(run, "product", _product, order, gradient, set, rows)


def _columns(
    run: Runner,
    template: str,
    step: Callable[..., Vector],
    order: Order,
    gradient: Gradient,
    reached: Callable[[set[int]], set[int]],
    factors: Callable[[Sequence[int]], tuple[Any, ...]],
) -> Slopes:
    """-M⁻¹ ∂τ by ``step`` of ``factors`` of M or M⁻¹ and a column, for each column.

    ``reached``: where on the way there are numbers, of a column with entries of some coordinates;
    these come first, the others after them, each root first.
    """
    slopes: Slopes = [{}, {}]
    of_tau = gradient.dtau_dq, gradient.dtau_dqd
    for group in _together(order, gradient):
        name = f"{template}_of{len(group)}"
        for c in group:
            own = {i for i in group if not all(is_nothing(matrix[i][c]) for matrix in of_tau)}
            first = reached(own)
            places = [*sorted(first), *(i for i in group if i not in first)]
            given, here = factors(places), ("product", order[c])
            for n, matrix in enumerate(of_tau):
                column = [matrix[i][c] for i in places]
                found = run(Visit(name, (n, c)), here, step, *given, column)
                slopes[n][c] = dict(zip(places, found, strict=True))
    return slopes


def _together(order: Order, gradient: Gradient) -> list[list[int]]:
    """Coordinates whose columns have entries of each other, directly or not."""
    known = {
        (i, j)
        for pair in combinations(order, 2)
        for i, j in (pair, pair[::-1])
        if not all(is_nothing(matrix[i][j]) for matrix in gradient)
    }
    return connected(known, list(order))


def _product(inverse: list[Vector], column: Vector) -> Vector:
    """-M⁻¹ b, from the lower triangle of M⁻¹."""
    size = range(len(column))
    rows = [[inverse[max(i, j)][min(i, j)] for j in size] for i in size]
    return [
        -sum((x * b for x, b in zip(row[1:], column[1:], strict=True)), row[0] * column[0])
        for row in rows
    ]


def _substituted(D_inverse: Vector, L: list[Vector], column: Vector) -> Vector:
    """-M⁻¹ b, from L below its diagonal and 1 / D."""
    y = list(column)
    for k in reversed(range(len(y))):
        # y_i -= L_ki y_k
        for i, entry in enumerate(L[k]):
            y[i] = y[i] - entry * y[k]
    x: Vector = []
    for own, inverse, row in zip(y, D_inverse, L, strict=True):
        # x_k = y_k / D_k - Σ L_ki x_i
        value = own * inverse
        for entry, above in zip(row, x, strict=True):
            value = value - entry * above
        x.append(value)
    return [-value for value in x]
