"""M⁻¹, and M⁻¹ times columns, from the factors of M = Lᵀ D L (``elimination``) or from its entries.

M⁻¹ itself is computed in two orders.

A graph takes L M⁻¹ = D⁻¹ L⁻ᵀ, which is upper triangular, row by row, root first: what is rounded
off in that recurrence has proven bounds. Visits take one column of W = L⁻¹ and V = W D⁻¹ after
another, leaves first, so that those to equal limbs do the same:

    M⁻¹ = V Wᵀ = Σ_k v_k w_kᵀ

Templates:

    inverse  column k of W and of V: of the coordinates that hang on k
    gather   M⁻¹ of these, k's column added

M⁻¹ times columns is of one column, of efforts, or of all of ∂τ/∂q and ∂τ/∂q̇.

By substitution where there are factors of M (``elimination``), which never takes more, else by
products with M⁻¹. A column of ∂τ is a visit, with the coordinates that it hangs together with: of a
quadruped on a fixed base, with one leg's. Those that the column has entries of come first, so that
zeros of one leg's columns lie where another's do, and a datapath of such columns has no products
of them. Templates:

    slope    a column of ∂τ times M⁻¹ by substitution, from L and D
    product  a column of ∂τ times M⁻¹
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations

from ..graph.visits import Visit
from .composite import Gradient
from .elimination import (
    ZERO,
    Column,
    Elimination,
    Entries,
    Order,
    Triangle,
    substituted,
    triangle,
    without_zeros,
)
from .scalars import Scalar, Vector
from .spatial import is_zero
from .steps import Runner


def inverse_of(factors: Elimination) -> Entries:
    """M⁻¹, its lower triangle, zeros left out, in regions "inverse"."""
    if factors.run.shares:
        return _by_columns(factors)
    return _by_rows(factors)


def _by_rows(factors: Elimination) -> Entries:
    """M⁻¹_kj = -Σ_i L_ki M⁻¹_ij,   M⁻¹_kk = 1 / D_k - Σ_i L_ki M⁻¹_ik."""
    found: Entries = {}
    for k, joint in factors.order.items():
        row, above = factors.rows[k], factors.pattern.above[k]
        for j in (j for j in factors.order if j <= k):
            others = [found.get((max(i, j), min(i, j)), ZERO) for i in above]
            first = row.inverse if j == k else ZERO
            visit, here = Visit("inverse", (k, j)), ("inverse", joint)
            value = factors.run(visit, here, substituted, first, row.L, others)
            if not is_zero([value]):
                found[k, j] = value
    return found


def _by_columns(factors: Elimination) -> Entries:
    pattern, sums = factors.pattern, dict[int, Triangle]()
    for k in reversed(list(factors.order)):
        sums[k] = _gathered(factors, k, sums)
    roots = [k for k, above in pattern.above.items() if not above]
    return {
        (i, j): sums[k][a][b]
        for k in roots
        for a, i in enumerate(pattern.hanging[k])
        for b, j in enumerate(pattern.hanging[k][: a + 1])
        if not is_zero([sums[k][a][b]])
    }


def _gathered(factors: Elimination, k: int, sums: Mapping[int, Triangle]) -> Triangle:
    """M⁻¹ of the coordinates that hang on ``k``, as far as ``k`` and they add to it."""
    pattern, here = factors.pattern, ("inverse", factors.order[k])
    size, places = pattern.room(k), pattern.hanging[k]
    L = [[ZERO] * a for a in range(size)]
    for a, i in enumerate(places):
        for l, entry in factors.L(i).items():
            if l in places:
                L[a][places.index(l)] = entry
    visit = Visit(f"inverse_of{size}", (k,))
    W, V = factors.run(visit, here, _column, factors.rows[k].inverse, L)
    before = triangle(size)
    for c in pattern.below[k]:
        own = [places.index(i) for i in pattern.hanging[c]]
        for a, i in enumerate(own):
            for b, j in enumerate(own[: a + 1]):
                before[i][j] = sums[c][a][b]
    return factors.run(Visit(f"gather_of{size}", (k,)), here, _with_column, before, W, V)


def _column(inverse: Scalar, L: list[Vector]) -> tuple[Vector, Vector]:
    """W_ak = -L_ak - Σ L_al W_lk below the diagonal, and V_ak = W_ak / D_k from it on."""
    W: Vector = []
    for row in L[1:]:
        value = row[0]
        for entry, w in zip(row[1:], W, strict=True):
            value = value + entry * w
        W.append(-value)
    return W, [inverse, *(w * inverse for w in W)]


def _with_column(before: Triangle, W: Vector, V: Vector) -> Triangle:
    """Σ + w vᵀ, where w begins with a one."""
    rows = enumerate(W, 1)
    return [V[:1], *([V[a], *(before[a][b] + w * V[b] for b in range(1, a + 1))] for a, w in rows)]


Columns = list[Column]  # of one matrix, in the order of its coordinates


@dataclass(frozen=True)
class Solver:
    """M⁻¹ times columns of coordinates ``order``: ``factors`` of M, or M⁻¹'s ``entries``."""

    run: Runner
    order: Order
    factors: Elimination | None = None
    entries: Entries | None = None

    def explicit(self) -> Entries:
        """M⁻¹, its lower triangle."""
        if self.factors is None:
            assert self.entries is not None
            return self.entries
        return inverse_of(self.factors)

    def solve(self, b: Column, number: int | None = None) -> Column:
        """M⁻¹ b, of which the factors' proofs know by this ``number``."""
        if self.factors is None:
            return self.product(b)
        return self.factors.solve(b, number=number)

    def product(self, b: Column) -> Column:
        """M⁻¹ b from M⁻¹'s entries, in regions "product"."""
        places, found = sorted(b), {}
        entries = self.explicit()
        for k in self.order:
            row = [_entry(entries, k, i) for i in places]
            visit, here = Visit("product", (k,)), ("product", self.order[k])
            found[k] = self.run(visit, here, _dot, row, [b[i] for i in places])
        return without_zeros(found)

    def slopes(
        self, gradient: Gradient, regions: str = "", number: int | None = None
    ) -> list[Columns]:
        """-M⁻¹ ∂τ/∂q and -M⁻¹ ∂τ/∂q̇, in regions "back" and "out", or "product", with this ending.

        The factors' proofs know M⁻¹ ∂τ by numbers from ``number`` on.
        """
        by_matrix = [list(self._columns(gradient, n)) for n in range(2)]
        for columns in by_matrix:
            if self.factors is None:
                self._multiply(columns, regions)
            else:
                self._substitute(self.factors, columns, regions, number)
        found: list[dict[int, Column]] = [{}, {}]
        for own in chain(*by_matrix):
            n, c = own.visit.key
            found[n][c] = {}
            for k, x in own.x.items():
                here = (f"product{regions}", self.order[k])  # of what is an input; else beside x
                if not is_zero([x]):
                    found[n][c][k] = self.run.beside(x)(own.visit, here, operator.neg, x)
        return [[by_column[c] for c in self.order] for by_column in found]

    def _columns(self, gradient: Gradient, n: int) -> Iterator[_Column]:
        matrices = gradient.dtau_dq, gradient.dtau_dqd
        for group in _together(self.order, gradient):
            name = f"{'product' if self.factors is None else 'slope'}_of{len(group)}"
            for c in group:
                own = {i for i in group if not is_zero([matrix[i][c] for matrix in matrices])}
                first = self._reached(own) if self.run.shares else set(group)
                places = [*sorted(first), *(i for i in group if i not in first)]
                b = [matrices[n][i][c] for i in places]
                yield _Column(Visit(name, (n, c)), places, b, list(b))

    def _reached(self, own: set[int]) -> set[int]:
        """Where there are numbers on the way, of a column with entries of some coordinates."""
        if self.factors is None:
            return own
        return own.union(*(self.factors.pattern.above[k] for k in own))

    def _rows(self, columns: list[_Column], back: bool = False) -> list[tuple[_Column, int, int]]:
        """Columns, places in them, and what coordinates these are, root first, or last first.

        In a graph, where equal nodes are one, no row may wait for a later one: each is that of all
        columns.
        """
        found = [(own, a, k) for own in columns for a, k in enumerate(own.places)]
        if self.run.shares:
            return found[::-1] if back else found
        return sorted(found, key=lambda row: -row[2] if back else row[2])

    def _multiply(self, columns: list[_Column], regions: str) -> None:
        assert self.entries is not None
        for own, _, k in self._rows(columns):
            row, here = [_entry(self.entries, k, i) for i in own.places], self.order[k]
            own.x[k] = self.run(own.visit, (f"product{regions}", here), _dot, row, own.b)

    def _substitute(
        self, factors: Elimination, columns: list[_Column], regions: str, number: int | None
    ) -> None:
        """Row after row, so that a graph has each in the region of its joint."""
        entries = {k: factors.L(k) for k in self.order}
        for own, a, k in self._rows(columns, back=True):
            L = [entries[k].get(i, ZERO) for i in own.places[:a]]
            here = (f"back{regions}", self.order[k])
            own.y[:a] = self.run(own.visit, here, _less, own.y[:a], L, own.y[a])
        for own, a, k in self._rows(columns):
            L = [entries[k].get(i, ZERO) for i in own.places[:a]]
            above = [own.x[i] for i in own.places[:a]]
            here, inverse = (f"out{regions}", self.order[k]), factors.rows[k].inverse
            own.x[k] = self.run(own.visit, here, _solved, own.y[a], inverse, L, above)
        if number is None:
            return
        for own in columns:
            n, c = own.visit.key
            b, y = (dict(zip(own.places, made, strict=True)) for made in (own.b, own.y))
            made = [without_zeros(column) for column in (b, y, own.x)]
            factors.note(number + n * (1 + max(self.order)) + c, *made)


@dataclass(frozen=True, eq=False)
class _Column:
    """A column b of ∂τ by ``places``, and y = L⁻ᵀ b and x = M⁻¹ b as far as they are found."""

    visit: Visit
    places: list[int]
    b: Vector
    y: Vector
    x: Column = field(default_factory=dict)


def _entry(entries: Entries, i: int, j: int) -> Scalar:
    return entries.get((max(i, j), min(i, j)), ZERO)


def _dot(a: Vector, b: Vector) -> Scalar:
    total: Scalar = ZERO
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def _less(y: Vector, L: Vector, own: Scalar) -> Vector:
    """y_i - L_ki y_k."""
    return [x - entry * own for x, entry in zip(y, L, strict=True)]


def _solved(y: Scalar, inverse: Scalar, L: Vector, above: Vector) -> Scalar:
    """x_k = y_k / D_k - Σ L_ki x_i."""
    value = y * inverse
    for entry, x in zip(L, above, strict=True):
        value = value - entry * x
    return value


def _together(order: Order, gradient: Gradient) -> list[list[int]]:
    """Coordinates whose columns have entries of each other, directly or not."""
    from .block_inverse import connected

    known = {
        (i, j)
        for pair in combinations(order, 2)
        for i, j in (pair, pair[::-1])
        if not is_zero([matrix[i][j] for matrix in gradient])
    }
    return connected(known, list(order))
