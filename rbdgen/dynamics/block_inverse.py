"""M⁻¹ by blocks of up to four coordinates, each by its cofactors: few reciprocals in a row.

A pivot of LᵀDL waits for the one below it, a reciprocal, a product and a difference each. A block
has one reciprocal, of its determinant. The ends of all limbs go first, with C theirs,

    M = [A B; Bᵀ C]      S = A - B C⁻¹ Bᵀ      K = S⁻¹ B C⁻¹
    M⁻¹ = [S⁻¹  -K; -Kᵀ  C⁻¹ + (B C⁻¹)ᵀ K]

and S in the same way. Coordinates are scaled by powers of two, so that the diagonal is near 1:
determinants are products of up to four of its entries, and of small robots they would leave the
words. Errors are a few times those of LᵀDL, since differences of products of four entries cancel.

M⁻¹ from X, that of a state nearby: no reciprocal, three products of matrices in a row.

    E = 1 - M X      M⁻¹ = X (1 + E)(1 + E²) + M⁻¹ E⁴

as good as two of Schulz's steps X (2 - M X) ("Iterative Berechnung der reziproken Matrix", ZAMM
1933), which are four products in a row. M^½ X M^½ is symmetric, so E has real eigenvalues λ, and in
the metric of kinetic energy what is left out is at most λ⁴ of M⁻¹. None of them is larger than the
root of Σ λ² = tr E², whose terms are computed anyway: that says whether X was near.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import combinations

from .elimination import Entries, Matrix, Order
from .scalars import Arithmetic, Scalar
from .spatial import is_zero

Symmetric = dict[tuple[int, int], Scalar]  # both triangles
Block = dict[tuple[int, int], Scalar]  # any rows and columns
LARGEST = 4  # coordinates of a block


def invert_by_blocks(
    arithmetic: Arithmetic,
    M: Matrix,
    order: Order,
    above: Mapping[int, int],
    scale: Mapping[int, float],
) -> Entries:
    """The lower triangle of M⁻¹, zeros left out.

    ``above``: coordinate → the one before it on the way to the base, -1 for none; ``scale``: powers
    of two, by which rows and columns of M are multiplied before. Regions "inverse", one for all
    coordinates that M connects, by the first of them.
    """
    known = {(i, j) for i in order for j in order if not is_zero([M[max(i, j)][min(i, j)]])}
    found: Entries = {}
    for group in connected(known, list(order)):
        with arithmetic.region("inverse", order[group[0]]):
            scaled: Symmetric = {
                (i, j): (scale[i] * scale[j]) * M[max(i, j)][min(i, j)]
                for i in group
                for j in group
                if (i, j) in known
            }
            for (i, j), value in _inverse(arithmetic, scaled, group, above).items():
                if j <= i:
                    found[i, j] = (scale[i] * scale[j]) * value
    return found


def _inverse(
    arithmetic: Arithmetic, M: Symmetric, coordinates: Sequence[int], above: Mapping[int, int]
) -> Symmetric:
    found: Symmetric = {}
    groups = connected(M, coordinates)
    if len(groups) > 1:
        for group in groups:
            found |= _inverse(arithmetic, M, group, above)
        return found
    if len(coordinates) <= LARGEST:
        return _by_cofactors(arithmetic, M, coordinates)
    ends = _ends(coordinates, above)
    rest = [k for k in coordinates if k not in ends]
    C = _inverse(arithmetic, M, ends, above)
    B = {(i, k): M[i, k] for i in rest for k in ends if (i, k) in M}
    BC = product(B, C)
    S = minus(M, product(BC, transposed(B), symmetric=True), rest)
    found |= _inverse(arithmetic, S, rest, above)
    K = product(found, BC)
    for (i, k), value in K.items():
        found[i, k] = found[k, i] = -value
    more = product(transposed(BC), K, symmetric=True)
    for place in {**C, **more}:
        found[place] = C.get(place, 0.0) + more.get(place, 0.0)
    return found


def _ends(coordinates: Sequence[int], above: Mapping[int, int]) -> list[int]:
    """The last coordinates of each limb that nothing hangs on, blocks being of even sizes."""
    left = set(coordinates)
    below: dict[int, list[int]] = {k: [] for k in coordinates}
    for k in coordinates:
        if above[k] in left:
            below[above[k]].append(k)
    found: list[int] = []
    for leaf in (k for k in coordinates if not below[k]):
        limb = [leaf]
        while (k := above[limb[-1]]) in left and len(below[k]) == 1:
            limb.append(k)
        blocks = -(-len(limb) // LARGEST)
        found += limb[: max(len(limb) // blocks, 1)]
    found.sort()
    # limbs that are joined by a mimic joint alone may leave none: then half of them are the ends
    return found if len(found) < len(coordinates) else found[len(found) // 2 :]


def _by_cofactors(arithmetic: Arithmetic, M: Symmetric, coordinates: Sequence[int]) -> Symmetric:
    """adj(M) / det(M)."""
    whole = tuple(coordinates)
    D_inverse = arithmetic.recip(_minor(M, whole, whole))
    found: Symmetric = {}
    for a, i in enumerate(whole):
        for b, j in enumerate(whole[a:], a):
            cofactor = _minor(M, _without(whole, i), _without(whole, j))
            if not is_zero([cofactor]):
                found[i, j] = found[j, i] = (-1.0) ** (a + b) * (cofactor * D_inverse)
    return found


def _without(places: tuple[int, ...], k: int) -> tuple[int, ...]:
    return tuple(p for p in places if p != k)


def _minor(M: Symmetric, rows: tuple[int, ...], columns: tuple[int, ...]) -> Scalar:
    """The determinant of these rows and columns."""
    if not rows:
        return 1.0
    total: Scalar = 0.0
    if len(rows) == LARGEST:  # Laplace by pairs of rows: minors of two are shared
        for pair in combinations(range(LARGEST), 2):
            rest = [c for c in range(LARGEST) if c not in pair]
            upper = _minor(M, rows[:2], tuple(columns[c] for c in pair))
            lower = _minor(M, rows[2:], tuple(columns[c] for c in rest))
            total = total + (-1.0) ** (sum(pair) + 1) * (upper * lower)
        return total
    for c, column in enumerate(columns):
        if (rows[0], column) in M:
            smaller = _minor(M, rows[1:], _without(columns, column))
            total = total + (-1.0) ** c * (M[rows[0], column] * smaller)
    return total


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


def connected(M: Container[tuple[int, int]], coordinates: Sequence[int]) -> list[list[int]]:
    """Groups of coordinates that entries of M connect, directly or not, each in order."""
    group = {k: {k} for k in coordinates}
    for i in coordinates:
        for j in coordinates:
            if (i, j) in M and group[i] is not group[j]:
                group[i] |= group[j]
                for k in group[j]:
                    group[k] = group[i]
    return [sorted(own) for own in {id(g): g for g in group.values()}.values()]


def product(A: Block, B: Block, symmetric: bool = False) -> Block:
    """A B; ``symmetric``: what it is then known to be, so that half of it is computed."""
    found: Block = {}
    rows: dict[int, list[int]] = {}
    for i, k in sorted(A):
        rows.setdefault(i, []).append(k)
    columns = sorted({j for _, j in B})
    for i, own in rows.items():
        for j in columns:
            if symmetric and j < i:
                if (j, i) in found:
                    found[i, j] = found[j, i]
                continue
            total: Scalar = 0.0
            for k in own:
                if (k, j) in B:
                    total = total + A[i, k] * B[k, j]
            if not is_zero([total]):
                found[i, j] = total
    return found


def transposed(A: Block) -> Block:
    return {(j, i): value for (i, j), value in A.items()}


def minus(A: Symmetric, B: Symmetric, places: Sequence[int]) -> Symmetric:
    """A - B in these rows and columns."""
    found: Symmetric = {}
    for i in places:
        for j in places:
            if j <= i:
                value = A.get((i, j), 0.0) - B.get((i, j), 0.0)
                if not is_zero([value]):
                    found[i, j] = found[j, i] = value
    return found
