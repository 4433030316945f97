"""Inverse dynamics in four ways: link by link, and as scans in link frames, in the base's frame,
and along the base's axes about each link's own origin.

Every function takes links, how results pass along them, the poses (R, p) of the links in their
parents, joint velocities and accelerations (n, k, N) and forces on the links (n, 6, N); and gives
τ (n, k, N).
"""

from __future__ import annotations

from typing import Any

from .algebra import (
    Array,
    act,
    act_columns,
    act_dual,
    cross,
    force_cross,
    identity,
    inverse,
    mm,
    motion_cross,
    mv,
    transposed,
)
from .links import Links
from .operators import force, motion, pose, turn

Pose = tuple[Array, Array]


def serial(links: Links, along: Any, poses: Pose, qd: Array, qdd: Array, f_ext: Array) -> Array:
    """The recursive Newton-Euler algorithm (Featherstone, RBDA table 5.1): a link after another."""
    xp = along.xp
    R, p = poses
    S, I = links.S, links.inertia
    vJ, aJ = mv(S, qd), mv(S, qdd)

    def out(parent: Any, link: Any) -> Any:
        (v, a), (R, p, vJ, aJ) = parent, link
        back = inverse(R, p)
        # v = X v_λ + S q̇;  a = X a_λ + S q̈ + v × S q̇
        v = act(xp, *back, v) + vJ
        return v, act(xp, *back, a) + aJ + motion_cross(xp, v, vJ)

    still = 0 * vJ[0]
    v, a = along.step_outward(out, (still, still + links.gravity), (R, p, vJ, aJ))
    # f = I a + v ×* I v − f_ext
    f = mv(I, a) + force_cross(xp, v, mv(I, v)) - f_ext

    def back(children: Any, link: Any) -> Any:
        R, p, f = link
        f = f + children
        return act_dual(xp, R, p, f), f

    return mv(transposed(S), along.step_inward(back, still, (R, p, f)))


def link(links: Links, along: Any, poses: Pose, qd: Array, qdd: Array, f_ext: Array) -> Array:
    """Scans in link frames: 000 (12), (13), (16) and its Algorithm 1."""
    xp = along.xp
    S, I = links.S, links.inertia
    g = inverse(*poses)
    x1, x2 = mv(S, qdd), mv(S, qd)
    # A_0 = (1, V̇_0, V_0) joined to the operands of the links on the base, V_0 = 0
    first = (links.parent < 0)[:, None, None]
    x1 = x1 + xp.where(first, act(xp, *g, 0 * x1 + links.gravity), 0 * x1)
    _, _, a, v = along.outward(motion, (*g, x1, x2))
    f = mv(I, a) + force_cross(xp, v, mv(I, v)) - f_ext
    return mv(transposed(S), along.inward(force, (*poses, f)))


def world(links: Links, along: Any, poses: Pose, qd: Array, qdd: Array, f_ext: Array) -> Array:
    """Spatial vectors in the base's frame: a scan of poses, and three sums.

    v = Σ s q̇;  a = a_0 + Σ (s q̈ + v × s q̇);  f = Σ of the subtree.
    """
    xp = along.xp
    I = links.inertia
    R, p = along.outward(pose, poses)
    s = act_columns(xp, R, p, links.S)
    vJ = mv(s, qd)
    v = along.sums_from_base(vJ)
    a = links.gravity + along.sums_from_base(mv(s, qdd) + motion_cross(xp, v, vJ))
    # to the link's frame, where I is constant, and back
    back = inverse(R, p)
    v, a = act(xp, *back, v), act(xp, *back, a)
    f = act_dual(xp, R, p, mv(I, a) + force_cross(xp, v, mv(I, v)) - f_ext)
    return mv(transposed(s), along.sums_of_subtrees(f))


def axes(links: Links, along: Any, poses: Pose, qd: Array, qdd: Array, f_ext: Array) -> Array:
    """Vectors along the base's axes, about each link's own origin: a scan of rotations and five
    sums of three-vectors. No lever is longer than a link.

    ω = Σ w;  α = Σ (ẇ + ω × w);  a = a_0 + Σ (α_λ × r + ω_λ × (ω_λ × r + u) + ω × u + u̇) with the
    joint's own turning w and sliding u;  f = Σ f̂;  n = Σ (n̂ + r × f of the children).
    """
    xp = along.xp
    J, h = links.inertia[:, :3, :3], _first_moment(links)
    mass = links.inertia[:, 5, 5]
    R_joint, p = poses
    (R,) = along.outward(turn, (R_joint,))
    r = mv(along.of_parents(R, identity(xp, 3, R)), p)
    turning, sliding = mm(R, links.S[:, :3]), mm(R, links.S[:, 3:])
    spins, slides = links.turn, links.slide

    still = 0 * r
    ω_own, α_own = (mv(turning, x) if spins else still for x in (qd, qdd))
    ω = along.sums_from_base(ω_own)
    α = along.sums_from_base(α_own + cross(xp, ω, ω_own))
    ω_λ, α_λ = along.of_parents(ω, 0.0), along.of_parents(α, 0.0)
    if slides:
        u = mv(sliding, qd)
        rate = cross(xp, ω_λ, cross(xp, ω_λ, r) + u) + cross(xp, ω, u) + mv(sliding, qdd)
    else:
        rate = cross(xp, ω_λ, cross(xp, ω_λ, r))
    a = links.gravity[3:] + along.sums_from_base(cross(xp, α_λ, r) + rate)

    c = mv(R, h)
    f = mass[:, None] * a + cross(xp, α, c) + cross(xp, ω, cross(xp, ω, c)) - mv(R, f_ext[:, 3:])
    ω_link, α_link = mv(transposed(R), ω), mv(transposed(R), α)
    turned = mv(J, α_link) + cross(xp, ω_link, mv(J, ω_link)) - f_ext[:, :3]
    f_all = along.sums_of_subtrees(f)
    n = mv(R, turned) + cross(xp, c, a) + along.to_parents(cross(xp, r, f_all))
    n_all = along.sums_of_subtrees(n)
    τ = mv(transposed(turning), n_all)
    return τ + mv(transposed(sliding), f_all) if slides else τ


def _first_moment(links: Links) -> Array:
    """h (n, 3, 1), from ĥ."""
    H = links.inertia[:, :3, 3:]
    return H[:, [2, 0, 1], [1, 2, 0]]
