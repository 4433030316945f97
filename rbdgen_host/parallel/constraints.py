"""Forward dynamics by constraint forces and odd-even elimination.

Yang, Wu and Pan, arXiv 1609.06779 ("001"): the forces F_c that the joints transmit solve
A F_c = −B τ̂, block tridiagonal along a chain, and q̈ = C τ̂ + Bᵀ F_c, with W the complement of S,
T = (1 − Γ) J⁻¹ (1 − Γ)ᵀ, A = Wᵀ T W, B = Wᵀ T S and C = Sᵀ T S. Joints' S has orthonormal columns,
as (13) and (14) need. Only chains: siblings on one link would fill A.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rbdgen.golden import tree
from rbdgen.golden.tree import inertia_matrix

from .algebra import Array, mm, motion_transform, mv, solved, transposed
from .links import Links

Pose = tuple[Array, Array]


class Blocks(NamedTuple):
    """001 (15), (17): the diagonals of A, B and C and those beside them, by their first row.

    ``D``, ``U`` of A; ``B``, ``B_up``, ``B_low`` (the low one at its column); ``C``, ``C_up``.
    """

    D: Array
    U: Array
    B: Array
    B_up: Array
    B_low: Array
    C: Array
    C_up: Array


def forward(links: Links, along: Any, poses: Pose, tau: Array, corrections: int = 1) -> Array:
    """q̈ (n, k, N), of τ̂ as the functions of ``forward`` take it: 001's Algorithm 1.

    ``corrections``: by the residual of A F_c + B τ̂; the first gives one or two digits back.
    """
    xp = along.xp
    own = blocks(links, along, poses)
    z = 0 * mv(own.B, tau)[:1]
    right = -(
        mv(own.B, tau)
        + xp.concatenate([mv(own.B_up, tau[1:]), z])
        + xp.concatenate([z, mv(own.B_low, tau[:-1])])
    )
    F = eliminated(xp, own.D, own.U, right)
    for _ in range(corrections):
        upper = xp.concatenate([mv(own.U, F[1:]), z])
        lower = xp.concatenate([z, mv(transposed(own.U), F[:-1])])
        F = F + eliminated(xp, own.D, own.U, right - mv(own.D, F) - upper - lower)
    o = 0 * tau[:1]
    return (
        mv(own.C, tau)
        + xp.concatenate([mv(own.C_up, tau[1:]), o])
        + xp.concatenate([o, mv(transposed(own.C_up), tau[:-1])])
        + mv(transposed(own.B), F)
        + xp.concatenate([mv(transposed(own.B_low), F[1:]), o])
        + xp.concatenate([o, mv(transposed(own.B_up), F[:-1])])
    )


def blocks(links: Links, along: Any, poses: Pose) -> Blocks:
    """T_ii = J_i⁻¹ + X_i J_λ⁻¹ X_iᵀ, T_i,i+1 = −J_i⁻¹ X_i+1ᵀ, seen through W and S."""
    xp = along.xp
    S = links.S
    columns, there = complement(links)
    W = xp.asarray(columns, S.dtype)
    J = np.linalg.inv(np.array([inertia_matrix(j.inertia) for j in links.robot.joints]))
    J = xp.asarray((J + J.swapaxes(1, 2)) / 2, S.dtype)[..., None]
    X = motion_transform(xp, *poses)
    J = J + 0 * X
    # links on the base have nothing that moves before them
    carried = (links.parent >= 0)[:, None, None, None]
    T = J + xp.where(carried, mm(mm(X, along.of_parents(J, 0.0)), transposed(X)), 0 * X)
    G = -mm(J[:-1], transposed(X[1:]))
    G = xp.where(carried[1:], G, 0 * G)
    TW, TS, GW, GS = mm(T, W), mm(T, S), mm(G, W[1:]), mm(G, S[1:])
    missing = np.einsum("ij,jk->ijk", ~there, np.eye(there.shape[1]))
    return Blocks(
        mm(transposed(W), TW) + xp.asarray(missing, S.dtype)[..., None],
        mm(transposed(W[:-1]), GW),
        mm(transposed(W), TS),
        mm(transposed(W[:-1]), GS),
        # B_i+1,i = W_i+1ᵀ T_i,i+1ᵀ S_i
        transposed(mm(transposed(S[:-1]), GW)),
        mm(transposed(S), TS),
        mm(transposed(S[:-1]), GS),
    )


def eliminated(xp: Any, D: Array, U: Array, R: Array) -> Array:
    """x (n, c, N) of the symmetric block tridiagonal A x = R: 001's Algorithm 2.

    Rows at distance h = 1, 2, 4, … at once: every right-hand side is of the round before, which
    the algorithm's first copy must ensure. D stays positive definite.
    """
    n, h = len(D), 1
    while h < n:
        k = D.shape[-2]
        none = 0 * D[:h]
        both = solved(
            xp,
            D,
            xp.concatenate([xp.concatenate([U, none]), xp.concatenate([none, transposed(U)])], -2),
        )
        # K_i = U_iᵀ D_i⁻¹ for row i + h, E_i = U_i D_i+h⁻¹ for row i
        K, E = transposed(both[:-h, :, :k]), transposed(both[h:, :, k:])
        zero = 0 * R[:h]
        D = D - xp.concatenate([mm(E, transposed(U)), none]) - xp.concatenate([none, mm(K, U)])
        R = R - xp.concatenate([mv(E, R[h:]), zero]) - xp.concatenate([zero, mv(K, R[:-h])])
        U = -mm(E[: max(n - 2 * h, 0)], U[h:])
        h *= 2
    return solved(xp, D, R[..., None, :])[..., 0, :]


def complement(links: Links) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """W (n, 6, c, 1) of orthonormal columns with Wᵀ S = 0, and which columns are there (n, c).

    Unit vectors wherever S has no others: blocks of T are seen without a product then.
    """
    found = []
    for S in tree.subspaces(links.robot):
        W = np.eye(6)[:, ~S.any(axis=1)]
        if W.shape[1] != 6 - S.shape[1]:
            W = np.linalg.svd(S.T)[2][S.shape[1] :].T
        found.append(W)
    width = max(W.shape[1] for W in found)
    W, there = np.zeros((links.n, 6, width)), np.zeros((links.n, width), bool)
    for i, columns in enumerate(found):
        W[i, :, : columns.shape[1]], there[i, : columns.shape[1]] = columns, True
    return W[..., None], there
