"""Force and moment of a moving body about the origin of its frame.

With a body's acceleration matrix U and its origin's acceleration a (``motion``), first moment h
and second moment Σ = ½ tr(J) 1 - J (Σ_xx = ∫x²dm),

    F = m a + U h              N = h × a + 2 vee(skew part of U Σ)

six products ωᵢωⱼ serve force and moment alike (Khalil and Dombre, *Modeling, Identification and
Control of Robots*, §9.5). Constant entries (zeros of h, Σ) disappear while this is traced.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..graph.node import Region
from ..robot.model import Joint
from .bodies import Mass
from .motion import Motion, RobotState
from .repeated import on_link
from .scalars import Scalar, Vector
from .spatial import ZERO, Placement, Wrench, add, cross, is_nothing
from .steps import Runner, in_units
from .units import Units, scaled


@dataclass(frozen=True)
class BodyInertia:
    """A body's numbers: its mass, h for the force and for the moment; of Σ what
    ``diagonal_terms`` gives for x, y and z, and Σ_xy, Σ_xz, Σ_yz."""

    m: Scalar
    h: Vector
    h_moment: Vector
    diagonal: list[Vector]
    across: Vector


def body_of(mass: Mass, unit: Units) -> BodyInertia:
    A, B, S = unit.acceleration, unit.force, mass.second_moments()
    (m,) = scaled([mass.m], B / A)
    diagonal = [
        diagonal_terms(S[(k + 1) % 3][(k + 1) % 3], S[(k + 2) % 3][(k + 2) % 3]) for k in range(3)
    ]
    across = [S[0][1], S[0][2], S[1][2]]
    return BodyInertia(m, scaled(mass.h, B), scaled(mass.h, 1 / A), diagonal, across)


def moving_force(body: BodyInertia, motion: Motion) -> Wrench:
    """Force F = m a + U h and moment N = h × a + (moment of U Σ) that move the body."""
    m, h, diagonal = body.m, body.h, body.diagonal
    U, P, alpha = motion.U(), motion.products(), motion.alpha
    force = [m * motion.a[i] + (U[i][0] * h[0] + U[i][1] * h[1] + U[i][2] * h[2]) for i in range(3)]
    S_xy, S_xz, S_yz = body.across
    # N_x = Σ_yy U_zy - Σ_zz U_yz + Σ_xy U_zx - Σ_xz U_yx + Σ_yz (U_zz - U_yy), and cyclic
    moment = [
        _diagonal(diagonal[0], U[2][1], U[1][2], alpha[0], P[1][2])
        + (S_xy * U[2][0] - S_xz * U[1][0])
        + S_yz * (P[2][2] - P[1][1]),
        _diagonal(diagonal[1], U[0][2], U[2][0], alpha[1], P[0][2])
        + (S_yz * U[0][1] - S_xy * U[2][1])
        + S_xz * (P[0][0] - P[2][2]),
        _diagonal(diagonal[2], U[1][0], U[0][1], alpha[2], P[0][1])
        + (S_xz * U[1][2] - S_yz * U[0][2])
        + S_xy * (P[1][1] - P[0][0]),
    ]
    return force, add(moment, cross(body.h_moment, motion.a))


def diagonal_terms(plus: Scalar, minus: Scalar) -> Vector:
    """[Σ_yy, Σ_zz, Σ_yy + Σ_zz, Σ_yy - Σ_zz] for x, and cyclic."""
    return [plus, minus, plus + minus, plus - minus]


def _diagonal(terms: Vector, u: Scalar, v: Scalar, alpha: Scalar, product: Scalar) -> Scalar:
    """plus · u - minus · v, where u = product + α and v = product - α.

    The same as (plus + minus) α + (plus - minus) · product: whichever has fewer constants.
    """
    plus, minus, total, difference = terms
    if is_nothing(plus) or is_nothing(minus):
        return plus * u - minus * v
    return total * alpha + difference * product


def external_wrench(frame: Placement, at: Vector, components: Vector, B: float) -> Wrench:
    """Force and moment about the body frame's origin, from ``components`` in the link's frame,
    which is turned by ``frame`` and ``at`` a place of the body's."""
    force, moment = frame.forward(components[:3]), frame.forward(components[3:])
    moment = add(moment, cross(at, force))
    return [B * x for x in force], moment


def external_force(
    run: Runner,
    region: Region,
    joint: Joint,
    i: int,
    state: RobotState,
    B: float = 1.0,
    by: float = 1.0,
) -> Wrench:
    """The external force on joint ``i``'s body, zero where there is none; ``B``: the unit of
    forces; ``by``: of forces and moments alike, a power of two."""
    if i not in state.f_ext:
        return ZERO, ZERO
    frame, at = run.rotation(joint.link_frame.rotation), joint.link_frame.translation.tolist()
    words = in_units(state.f_ext[i], by)
    return run(on_link(joint, i), region, external_wrench, frame, at, words, B)
