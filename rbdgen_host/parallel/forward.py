"""Forward dynamics by articulated bodies: serial, hybrid and scanned.

Every function takes links, how results pass along them, the poses (R, p) of the links in their
parents, and τ̂ = τ − ID(q, q̇, 0), (n, k, N); and gives q̈ (n, k, N): gravity, velocities and
forces on links went into τ̂, so that everything here starts from rest.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .algebra import Array, identity, mm, motion_transform, mv, solved, transposed
from .links import Links
from .operators import affine, riccati

Pose = tuple[Array, Array]


def serial(links: Links, along: Any, poses: Pose, tau: Array) -> Array:
    """The articulated-body algorithm (Featherstone, RBDA table 7.1), a link after another."""
    xp = along.xp
    X = motion_transform(xp, *poses)
    S, pad = links.S, padding(xp, links)

    def back(children: Any, link: Any) -> Any:
        (K, z), (I, S, pad, X, tau) = children, link
        I = I + K
        U = mm(I, S)
        UD = over(xp, U, mm(transposed(S), U) + pad)
        # q̈ without the parent's acceleration: D⁻¹ (τ̂ − Sᵀ z)
        rest = tau - mv(transposed(S), z)
        c = mv(solved(xp, mm(transposed(S), U) + pad, _eye(xp, rest)), rest)
        K = mm(mm(transposed(X), I - mm(UD, transposed(U))), X)
        return (K, mv(transposed(X), z + mv(U, c))), (UD, c)

    zero = 0 * X[0]
    many = tuple(0 * tau[:, :1, :1, None] + part for part in (links.inertia, S, pad))
    UD, c = along.step_inward(back, (zero, zero[:, 0]), (*many, X, tau))

    def out(a: Any, link: Any) -> Any:
        UD, c, S, X = link
        a = mv(X, a)
        qdd = c - mv(transposed(UD), a)
        return a + mv(S, qdd)

    a = along.step_outward(out, zero[:, 0], (UD, c, many[1], X))
    return c - mv(transposed(UD), mv(X, along.of_parents(a, 0.0)))


def hybrid(links: Links, along: Any, poses: Pose, tau: Array) -> Array:
    """000 (7) link by link, (18) and (19) as scans: Algorithm 3, with Ω⁻¹ where (18) prints Ω."""
    X = motion_transform(along.xp, *poses)
    return from_articulated(links, along, X, articulated_serial(links, along, X), tau)


def scanned(links: Links, along: Any, poses: Pose, tau: Array) -> Array:
    """The same, with (7) as a scan, too."""
    X = motion_transform(along.xp, *poses)
    return from_articulated(links, along, X, articulated_scan(links, along, X), tau)


def from_articulated(links: Links, along: Any, X: Array, I: Array, tau: Array) -> Array:
    """000 (18), (19) of articulated inertias I (n, 6, 6, N).

    z_λ = Y z + Π τ̂ of all children;  ĉ = Ω⁻¹ (τ̂ − Sᵀ z);  λ = Yᵀ λ_λ + S ĉ;  q̈ = ĉ − Πᵀ λ_λ,
    with Ω = Sᵀ I S and a rotor's inertia, Π = Xᵀ I S Ω⁻¹ and Y = Xᵀ − Π Sᵀ.
    """
    xp = along.xp
    S = links.S
    U = mm(I, S)
    D = mm(transposed(S), U) + padding(xp, links)
    P = mm(transposed(X), over(xp, U, D))
    Y = transposed(X) - mm(P, transposed(S))
    z = along.inward(lambda xp, base, tip: affine(xp, tip, base), (Y, along.to_parents(mv(P, tau))))
    c = mv(solved(xp, D, _eye(xp, tau)), tau - mv(transposed(S), z))
    _, a = along.outward(affine, (transposed(Y), mv(S, c)))
    return c - mv(transposed(P), along.of_parents(a, 0.0))


def articulated_serial(links: Links, along: Any, X: Array) -> Array:
    """000 (7): I_i = J_i + Σ Xᵀ (I − I S Ω⁻¹ Sᵀ I) X of the children, link by link."""
    xp = along.xp

    def step(children: Array, link: Any) -> Any:
        I, S, pad, X = link
        I = I + children
        U = mm(I, S)
        K = I - mm(over(xp, U, mm(transposed(S), U) + pad), transposed(U))
        return mm(mm(transposed(X), K), X), I

    parts = (links.inertia, links.S, padding(xp, links))
    many = tuple(0 * X[:, :1, :1] + part for part in parts)
    return along.step_inward(step, 0 * X[0], (*many, X))


def articulated_scan(links: Links, along: Any, X: Array) -> Array:
    """The same in logarithmic depth along each unbranched run of links.

    K = I − I S Ω⁻¹ Sᵀ I follows K = Q + Aᵀ K' (1 + C K')⁻¹ A of the next link's K', with
    u = J S, Ω = Sᵀ u: A = X (1 − S Ω⁻¹ uᵀ), C = X S Ω⁻¹ Sᵀ Xᵀ, Q = J − u Ω⁻¹ uᵀ. Each link needs
    Ω > 0 by itself.
    """
    xp = along.xp
    pads = padding(xp, links)
    above: dict[int, Array] = {}  # link → Σ Xᵀ K X of the limbs that it carries
    found: list[Array] = []
    for run in reversed(limbs(links.parent)):
        S, pad, own = links.S[run], pads[run], links.inertia[run] + 0 * X[run]
        tip = int(run[-1])
        if tip in above:
            own = xp.concatenate([own[:-1], own[-1:] + above[tip][None]])
        u = mm(own, S)
        uD = over(xp, u, mm(transposed(S), u) + pad)
        up = xp.concatenate([X[run[1:]], 0 * X[run[:1]]])  # nothing beyond the tip
        XS = mm(up, S)
        A = up - mm(up, mm(S, transposed(uD)))
        C = mm(over(xp, XS, mm(transposed(S), u) + pad), transposed(XS))
        K = along.along_limb(riccati, (A, C, own - mm(uD, transposed(u))))[2]
        after = xp.concatenate([K[1:], 0 * K[:1]])
        found.insert(0, own + mm(mm(transposed(up), after), up))
        parent = int(links.parent[run[0]])
        if parent >= 0:
            sent = mm(mm(transposed(X[run[0]]), K[0]), X[run[0]])
            above[parent] = above[parent] + sent if parent in above else sent
    return xp.concatenate(found)


def limbs(parent: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Unbranched runs of links, each before those that it carries."""
    children = np.bincount(parent[parent >= 0], minlength=len(parent))
    joins = [i == 0 or parent[i] != i - 1 or children[parent[i]] != 1 for i in range(len(parent))]
    starts = [*np.flatnonzero(joins), len(parent)]
    return [np.arange(a, b) for a, b in pairwise(starts)]


def padding(xp: Any, links: Links) -> Array:
    """(n, k, k, 1), added to Ω = Sᵀ I S: rotors' inertias, and ones where a joint has fewer
    coordinates than k, so that Ω has an inverse."""
    missing = np.einsum("ij,jk->ijk", ~links.own, np.eye(links.freedoms))
    rotors = links.gears[0][:, :, None] * identity(xp, links.freedoms, links.S)
    return xp.asarray(missing, links.S.dtype)[..., None] + rotors


def over(xp: Any, U: Array, D: Array) -> Array:
    """U D⁻¹ of a symmetric D (…, k, k, N)."""
    return transposed(solved(xp, D, transposed(U)))


def _eye(xp: Any, tau: Array) -> Array:
    k = tau.shape[-2]
    return identity(xp, k, tau) + 0 * tau[..., None, :]
