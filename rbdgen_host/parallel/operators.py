"""The associative operators of the scans: five small functions.

Each takes the operand that is nearer to the base and the one that is nearer to the tip, whether
the scan runs outward or inward. Numbers of equations are of the papers: 000 is Yang, Wu and Pan,
arXiv 1609.04493.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .algebra import Array, act, act_dual, apart, identity, mm, motion_cross, mv, solved, transposed

Operand = tuple[Array, ...]
Operator = Callable[[Any, Operand, Operand], Operand]


def turn(xp: Any, base: Operand, tip: Operand) -> Operand:
    """Rotations (R,): SO(3)."""
    return (mm(base[0], tip[0]),)


def pose(xp: Any, base: Operand, tip: Operand) -> Operand:
    """Poses (R, p): SE(3)."""
    (R, p), (R_tip, p_tip) = base, tip
    return mm(R, R_tip), mv(R, p_tip) + p


def motion(xp: Any, base: Operand, tip: Operand) -> Operand:
    """(R, p, ξ₁, ξ₂), with g = (R, p) the pose of what is nearer to the base seen from the tip.

    000 (13): late ⊕ early = (g g', Ad_g ξ₁' + ξ₁ − ad_ξ₂ (Ad_g ξ₂'), Ad_g ξ₂' + ξ₂), the later
    operand on the left. Along a chain ξ₁ becomes the acceleration, ξ₂ the velocity.
    """
    R, p, x1, x2 = tip
    moved = act(xp, R, p, base[3])
    carried = act(xp, R, p, base[2]) - motion_cross(xp, x2, moved)
    return (*pose(xp, (R, p), base[:2]), carried + x1, moved + x2)


def force(xp: Any, base: Operand, tip: Operand) -> Operand:
    """(R, p, F), with (R, p) the pose of what is nearer to the tip seen from the base.

    000 (16), first row: F ← Ad*_h F' + F.
    """
    R, p, F = base
    return (*pose(xp, (R, p), tip[:2]), act_dual(xp, R, p, tip[2]) + F)


def affine(xp: Any, first: Operand, last: Operand) -> Operand:
    """Maps x → Y x + b as (Y, b): ``last`` after ``first``. 000 (18), (19)."""
    return mm(last[0], first[0]), mv(last[0], first[1]) + last[1]


def riccati(xp: Any, base: Operand, tip: Operand) -> Operand:
    """Maps K → Q + Aᵀ K (1 + C K)⁻¹ A as (A, C, Q): the articulated inertia, as a scan.

    Not in the papers, which say that 000 (7) gains a constant factor at most. With
    E = (1 + C₁ Q₂)⁻¹ of base side 1 and tip side 2: A = A₂ E A₁, C = C₂ + A₂ E C₁ A₂ᵀ,
    Q = Q₁ + A₁ᵀ Q₂ E A₁.
    """
    (A1, C1, Q1), (A2, C2, Q2) = base, tip
    k = A1.shape[-3]
    one = identity(xp, k, A1)
    both = solved(xp, mm(C1, Q2) + one, xp.concatenate([A1, C1], -2))
    EA, EC = both[..., :k, :], both[..., k:, :]
    C = C2 + mm(A2, mm(EC, transposed(A2)))
    Q = Q1 + mm(transposed(A1), mm(Q2, EA))
    return tuple(apart(xp, (mm(A2, EA), _symmetric(C), _symmetric(Q))))


def _symmetric(A: Array) -> Array:
    return (A + transposed(A)) * 0.5
