"""The mass matrix in two ways: (n, k, n, k, N), of the tree's coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .algebra import Array, act_columns, mm, motion_transform, transposed
from .links import Links
from .operators import pose

Pose = tuple[Array, Array]


def composite(links: Links, along: Any, poses: Pose) -> Array:
    """M_ij = s_i · Iᶜ_j s_j of an ancestor i, Iᶜ = Σ Xᵀ I X of the subtree, in the base's frame."""
    xp = along.xp
    R, p = along.outward(pose, poses)
    s = act_columns(xp, R, p, links.S)
    X = motion_transform(xp, R, p)
    I = along.sums_of_subtrees(mm(mm(transposed(X), links.inertia), X))
    F = mm(I, s)
    # every s_i with every F_j; of no use where neither is the other's ancestor
    rows = transposed(s)[:, None]
    M = mm(rows, F[None])  # (n, n, k, k, N)
    above = ancestors(links.parent)
    zero = 0 * M
    upper = xp.where(above[..., None, None, None], M, zero)
    mirrored = xp.where(
        (above & ~np.eye(links.n, dtype=bool))[..., None, None, None], M, zero
    ).swapaxes(0, 1)
    return (upper + transposed(mirrored)).swapaxes(1, 2)


def ancestors(parent: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether i is j or an ancestor of j, at [i, j]."""
    found = np.eye(len(parent), dtype=bool)
    for j, up in enumerate(parent):
        if up >= 0:
            found[:, j] |= found[:, up]
    return found
