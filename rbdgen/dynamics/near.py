"""M⁻¹ from X, that of a state nearby: no reciprocal, three products of matrices in a row.

    E = 1 - M X      M⁻¹ = X (1 + E)(1 + E²) + M⁻¹ E⁴

as good as two of Schulz's steps X (2 - M X) ("Iterative Berechnung der reziproken Matrix", ZAMM
1933), which are four products in a row. M^½ X M^½ is symmetric, so E has real eigenvalues λ, and in
the metric of kinetic energy what is left out is at most λ⁴ of M⁻¹. None of them is larger than the
root of Σ λ² = tr E², whose terms are computed anyway: that says whether X was near.
"""

from __future__ import annotations

from collections.abc import Sequence

from .factorisation import Entries, Matrix, Order
from .scalars import Arithmetic, Scalar
from .sparse import Block, Symmetric, connected, product
from .spatial import is_zero

FARTHEST = 2.0**-3  # √tr E² up to which X is near
LEFT_OUT = FARTHEST**4  # of M⁻¹, at most, where it is


def correct(
    arithmetic: Arithmetic, M: Matrix, X: Entries, order: Order
) -> tuple[Entries, list[Scalar]]:
    """The lower triangle of X (1 + E)(1 + E²), zeros left out, and shares of tr E².

    ``X``: the lower triangle, of all that M connects. Regions "inverse", one for all coordinates
    that M connects, by the first of them; a share of tr E² for each.
    """
    known = {(i, j) for i in order for j in order if not is_zero([M[max(i, j)][min(i, j)]])}
    found: Entries = {}
    traces: list[Scalar] = []
    for group in connected(known, list(order)):
        with arithmetic.region("inverse", order[group[0]]):
            own = {(i, j): M[max(i, j)][min(i, j)] for i, j in sorted(known) if i in group}
            inverse, trace = _corrected(own, _both(X, group), group)
            traces.append(trace)
        found |= {(i, j): value for (i, j), value in inverse.items() if j <= i}
    return found, traces


def _both(X: Entries, group: Sequence[int]) -> Symmetric:
    return {(i, j): X[max(i, j), min(i, j)] for i in group for j in group}


def _corrected(M: Symmetric, X: Symmetric, group: Sequence[int]) -> tuple[Symmetric, Scalar]:
    E: Block = {place: -value for place, value in product(M, X).items()}
    for k in group:
        E[k, k] = 1.0 + E[k, k]
    E2 = product(E, E)
    once = _sum(X, product(X, E, symmetric=True))  # X (1 + E)
    trace: Scalar = 0.0
    for k in group:
        trace = trace + E2[k, k]
    return _sum(once, product(once, E2, symmetric=True)), trace


def _sum(A: Symmetric, B: Symmetric) -> Symmetric:
    found: Symmetric = {}
    for i, j in A:
        if j <= i:
            found[i, j] = found[j, i] = A[i, j] + B.get((i, j), 0.0)
    return found
