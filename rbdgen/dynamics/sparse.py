"""Matrices as entries by (row, column), zeros left out: what is not there is never computed."""

from __future__ import annotations

from collections.abc import Container, Sequence

from .scalars import Scalar
from .spatial import is_zero

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
