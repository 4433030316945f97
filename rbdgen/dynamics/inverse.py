"""M⁻¹ itself, from the factors of M = Lᵀ D L (``elimination``), in two orders.

A graph takes L M⁻¹ = D⁻¹ L⁻ᵀ, which is upper triangular, row by row, root first: what is rounded
off in that recurrence has proven bounds. Visits take a column of W = L⁻¹ and V = W D⁻¹ after the
other, leaves first, so that those to equal limbs do the same:

    M⁻¹ = V Wᵀ = Σ_k v_k w_kᵀ

Templates:

    inverse  column k of W and of V: of the coordinates that hang on k
    gather   M⁻¹ of these, k's column added
"""

from __future__ import annotations

from collections.abc import Mapping

from ..graph.visits import Visit
from .elimination import ZERO, Elimination, Entries, Triangle, triangle
from .scalars import Scalar, Vector
from .spatial import is_zero


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
            value = factors.run(visit, here, _entry, first, row.L, others)
            if not is_zero([value]):
                found[k, j] = value
    return found


def _entry(first: Scalar, L: Vector, others: Vector) -> Scalar:
    for entry, other in zip(reversed(L), reversed(others), strict=True):
        first = first - entry * other
    return first


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
