"""Matrices as entries by (row, column), zeros left out: what is not there is never computed.

M = Lᵀ D L, leaves first, and what can be solved with it (Featherstone, RBDA §6.4, §6.5).

L is unit lower triangular and has an entry only where the row's coordinate lies below the
column's in the tree: the factorisation fills nothing in. Zeros of M that are the number 0.0 are
never touched, so the sparsity needs no tree here. ``order`` maps each coordinate, root first, to
the joint whose regions its row is traced in.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from ..graph.word import spell
from .scalars import Arithmetic, Scalar, Vector
from .spatial import is_constant, is_zero

Symmetric = dict[tuple[int, int], Scalar]  # both triangles
Block = dict[tuple[int, int], Scalar]  # any rows and columns


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


Matrix = list[Vector]
Order = Mapping[int, int]
Columns = list[dict[int, Scalar]]
Entries = dict[tuple[int, int], Scalar]  # of the lower triangle of a symmetric matrix


@dataclass(frozen=True)
class Factors:
    """``L[k]``: column → entry of row k, diagonal left out; ``D_inverse[k]``.

    ``known``: by name (`..prove.factors`) all that the factors are made of.
    """

    order: Order
    L: dict[int, dict[int, Scalar]]
    D_inverse: dict[int, Scalar]
    known: dict[str, Scalar] = field(default_factory=dict)


def factorise(arithmetic: Arithmetic, M: Matrix, order: Order, again: str = "") -> Factors:
    """The factors of rows and columns ``order`` of M, from its lower triangle.

    In regions "factor"; ``again`` names others, of another matrix.
    """
    H = {(i, j): M[i][j] for i in order for j in order if j <= i and not is_zero([M[i][j]])}
    L: dict[int, dict[int, Scalar]] = {}
    D_inverse: dict[int, Scalar] = {}
    known: dict[str, Scalar] = {spell("M", *place): entry for place, entry in H.items()}
    for k in reversed(list(order)):
        with arithmetic.region(f"factor{again}", order[k]):
            D_inverse[k] = arithmetic.recip(H[k, k])
            above = [i for i in order if i < k and (k, i) in H]
            L[k] = {i: H[k, i] * D_inverse[k] for i in above}
            known |= {spell("H", k, i): H[k, i] for i in (*above, k)}
            known |= {spell("L", k, i): L[k][i] for i in above}
            for i in above:
                for j in above:
                    if j <= i:
                        # the next pivot waits for nothing but D⁻¹
                        last = i == j == above[-1] and not is_constant(D_inverse[k])
                        share = (H[k, i] * H[k, i]) * D_inverse[k] if last else L[k][i] * H[k, j]
                        H[i, j] = H.get((i, j), 0.0) - share
                        known[spell("share", k, i, j)] = share
    return Factors(order, L, D_inverse, known)


def solve(
    arithmetic: Arithmetic,
    factors: Factors,
    columns: Columns,
    again: str = "",
    first: int | None = None,
) -> Columns:
    """M⁻¹ b for each column b: coordinate → entry, zeros left out.

    Back through the tree in regions "back", out again in regions "out"; ``again`` names others,
    for columns that depend on what was solved before. With ``first``, the number of the first
    column, what they are solved by is ``known``, too.
    """
    rest = back(arithmetic, factors, columns, again)
    solved = out(arithmetic, factors, rest, again)
    if first is not None:
        for kind, made in (("b", columns), ("y", rest), ("x", solved)):
            for n, column in enumerate(made, first):
                factors.known.update({spell(kind, n, k): own for k, own in column.items()})
        for n, y in enumerate(rest, first):  # equal nodes are one
            for k, own in y.items():
                factors.known[spell("z", n, k)] = own * factors.D_inverse[k]
    return solved


def back(arithmetic: Arithmetic, factors: Factors, columns: Columns, again: str = "") -> Columns:
    """y = L⁻ᵀ b for each column b: the first half of `solve`."""
    rest = [dict(b) for b in columns]
    for k in reversed(list(factors.order)):
        with arithmetic.region(f"back{again}", factors.order[k]):
            for y in rest:
                if k in y:
                    # y_i -= L_ki y_k
                    for i, entry in factors.L[k].items():
                        y[i] = y.get(i, 0.0) - entry * y[k]
    return rest


def out(arithmetic: Arithmetic, factors: Factors, columns: Columns, again: str = "") -> Columns:
    """x = L⁻¹ D⁻¹ y for each column y: its second half."""
    solved: Columns = [{} for _ in columns]
    for k in factors.order:
        with arithmetic.region(f"out{again}", factors.order[k]):
            for x, y in zip(solved, columns, strict=True):
                # x_k = y_k / D_k - Σ L_ki x_i
                value: Scalar = y[k] * factors.D_inverse[k] if k in y else 0.0
                for i, entry in factors.L[k].items():
                    if i in x:
                        value = value - entry * x[i]
                if not is_zero([value]):
                    x[k] = value
    return solved


def invert(arithmetic: Arithmetic, factors: Factors) -> Entries:
    """M⁻¹, its lower triangle, zeros left out: from L M⁻¹ = D⁻¹ L⁻ᵀ, which is upper triangular.

    In regions "inverse", root first.
    """
    inverse: Entries = {}
    for k in factors.order:
        with arithmetic.region("inverse", factors.order[k]):
            # M⁻¹_kj = -Σ_i L_ki M⁻¹_ij,   M⁻¹_kk = 1 / D_k - Σ_i L_ki M⁻¹_ik
            for j in (j for j in factors.order if j <= k):
                value: Scalar = factors.D_inverse[k] if j == k else 0.0
                for i, entry in factors.L[k].items():
                    place = (max(i, j), min(i, j))
                    if place in inverse:
                        value = value - entry * inverse[place]
                if not is_zero([value]):
                    inverse[k, j] = value
    return inverse


def times(
    arithmetic: Arithmetic,
    inverse: Entries,
    order: Order,
    columns: list[dict[int, Scalar]],
    again: str = "",
) -> list[dict[int, Scalar]]:
    """M⁻¹ b for each column b, from the lower triangle of M⁻¹, in regions "product"."""
    products: list[dict[int, Scalar]] = [{} for _ in columns]
    for k in order:
        with arithmetic.region(f"product{again}", order[k]):
            for x, b in zip(products, columns, strict=True):
                total: Scalar = 0.0
                for i, entry in b.items():
                    place = (max(i, k), min(i, k))
                    if place in inverse:
                        total = total + inverse[place] * entry
                if not is_zero([total]):
                    x[k] = total
    return products


@dataclass(frozen=True)
class Solver:
    """M⁻¹ times columns: by substitution where there are factors, which never takes more."""

    arithmetic: Arithmetic
    order: Order
    factors: Factors | None = None
    inverse: Entries | None = None

    def explicit(self) -> Entries:
        """M⁻¹, its lower triangle."""
        if self.factors is None:
            assert self.inverse is not None
            return self.inverse
        return invert(self.arithmetic, self.factors)

    def times(
        self, columns: list[dict[int, Scalar]], again: str = "", first: int | None = None
    ) -> list[dict[int, Scalar]]:
        """Multiply M⁻¹ by each column; ``again`` and ``first`` as `solve` has them."""
        if self.factors is None:
            assert self.inverse is not None
            return times(self.arithmetic, self.inverse, self.order, columns, again)
        return solve(self.arithmetic, self.factors, columns, again, first)
