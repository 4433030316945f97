"""Inverse dynamics, τ = ID(q, q̇, q̈, f_ext): recursive Newton-Euler, with the least arithmetic.

Luh, Walker and Paul's recursion (1980) in the form of Khalil and Dombre (*Modeling,
Identification and Control of Robots*, §9.5): the only linear quantity that travels outwards is
the acceleration a of a frame's origin, and all that rotation does to a body is in one matrix,

    U = α̂ + ω̂ω̂ = α̂ + ωωᵀ - (ω·ω) 1        acceleration of a point at r: a + U r

so the body needs, with first moment h and second moment Σ = ½ tr(J) 1 - J (Σ_xx = ∫x²dm),

    F = m a + U h              N = h × a + 2 vee(skew part of U Σ)

six products ωᵢωⱼ serve force and moment alike, and no linear velocity is ever formed. Constant
entries (zeros of h, Σ, placements) disappear by themselves while this is traced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..robot.model import Inertia, Joint, JointKind, Robot
from .scalars import Arithmetic, Scalar, Vector
from .spatial import ZERO, ConstantRotation, Turn, add, cross, sub
from .units import Units, scaled, units


@dataclass
class Motion:
    """A body's motion in its own frame: ω, α (angular) and a (of the origin, less gravity)."""

    w: Vector
    alpha: Vector
    a: Vector

    def products(self) -> list[Vector]:
        """P = ωωᵀ, symmetric."""
        wx, wy, wz = self.w
        xy, xz, yz = wx * wy, wx * wz, wy * wz
        return [[wx * wx, xy, xz], [xy, wy * wy, yz], [xz, yz, wz * wz]]

    def U(self) -> list[Vector]:
        """α̂ + ωωᵀ - (ω·ω) 1."""
        P, (x, y, z) = self.products(), self.alpha
        return [
            [-(P[1][1] + P[2][2]), P[0][1] - z, P[0][2] + y],
            [P[0][1] + z, -(P[0][0] + P[2][2]), P[1][2] - x],
            [P[0][2] - y, P[1][2] + x, -(P[0][0] + P[1][1])],
        ]

    def of_point(self, r: Vector) -> Vector:
        """Acceleration of the point at ``r`` of this body: a + U r."""
        if all(isinstance(x, float) and x == 0 for x in r):
            return self.a
        U = self.U()
        return [self.a[i] + (U[i][0] * r[0] + U[i][1] * r[1] + U[i][2] * r[2]) for i in range(3)]


@dataclass
class Step:
    """What the way back needs from the way out, for one joint."""

    motion: Motion
    turn: Turn | None
    slide: Scalar
    force: Vector
    moment: Vector


def rnea(
    arithmetic: Arithmetic,
    robot: Robot,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    f_ext: dict[int, Vector] | None = None,
    turns: dict[int, tuple[Scalar, Scalar]] | None = None,
    multiplications: int = 4,
) -> list[Scalar]:
    """Joint efforts (nv,) of a fixed-base tree of revolute-z and prismatic-z joints.

    ``f_ext`` maps a joint index to the six components (force; moment) that act on its body, at
    the origin and along the axes of the link's frame in the file. ``turns`` maps a revolute
    joint to (sin, cos) of its angle (multiplier · q + offset); without it they are computed.
    Each joint's way out is traced in region ("forward", i), its way back in ("backward", i).
    """
    # a fixed joint (there are some before merge_fixed) has a coordinate that is always zero
    v_index = dict.fromkeys(range(len(robot.joints)), robot.nv)
    v_index |= {i: s.start for i, s in robot.v_slices.items()}
    q, qd, qdd = [*q, 0.0], [*qd, 0.0], [*qdd, 0.0]
    f_ext, turns = f_ext or {}, turns or {}
    unit = units(robot, len(f_ext))
    A, B = unit.acceleration, unit.force
    steps: dict[int, Step] = {}
    arriving: dict[int, Motion] = {}  # a joint's motion before it turns or slides
    for i in robot.children[-1]:
        with arithmetic.region("forward", i):
            arriving[i] = _arriving(robot, i, _base(robot, A), qd[v_index[i]], qdd[v_index[i]], A)
    for i, joint in enumerate(robot.joints):
        with arithmetic.region("forward", i):
            turn, slide = None, _position(joint, q[v_index[i]])
            if joint.kind is JointKind.REVOLUTE:
                sin, cos = turns.get(i) or (arithmetic.sin(slide), arithmetic.cos(slide))
                turn = Turn(cos, sin, multiplications)
            rate = _multiplier(joint) * qd[v_index[i]]
            motion = _move(arriving[i], turn, slide, rate, A)
            force, moment = _newton_euler(joint.inertia, motion, unit)
            if i in f_ext:
                external = _in_body_frame(joint, f_ext[i], B)
                force, moment = sub(force, external[0]), sub(moment, external[1])
            steps[i] = Step(motion, turn, slide, force, moment)
            for c in robot.children[i]:
                arriving[c] = _arriving(robot, c, motion, qd[v_index[c]], qdd[v_index[c]], A)

    tau: list[Scalar] = [0.0] * (robot.nv + 1)
    joined = _joined_by(robot)
    passed: dict[int, tuple[Vector, Vector]] = {}
    for i in reversed(range(len(robot.joints))):
        joint, step = robot.joints[i], steps[i]
        with arithmetic.region("backward", i):
            # f = F + Σ_children X* f
            force, moment = (ZERO, ZERO) if i in joined else (step.force, step.moment)
            for child in robot.children[i]:
                force, moment = add(force, passed[child][0]), add(moment, passed[child][1])
            # τ = S·f
            effort = moment[2] if joint.kind is JointKind.REVOLUTE else force[2] * (1 / B)
            tau[v_index[i]] += _multiplier(joint) * effort
            if joint.parent >= 0:
                force, moment = _to_parent(joint, step, force, moment, B)
                if joined.get(joint.parent) == i:
                    above = steps[joint.parent]
                    force, moment = add(force, above.force), add(moment, above.moment)
                passed[i] = force, moment
    return tau[: robot.nv]


def _joined_by(robot: Robot) -> dict[int, int]:
    """Joint → the child in whose region its own force joins what comes back: the deepest.

    A FIFO stands in for the register of an adder that writes it, so the sum is formed before the
    FIFO. Joints on the base multiply nothing on the way back.
    """
    height = [0] * len(robot.joints)
    deepest: dict[int, int] = {}
    for i in reversed(range(len(robot.joints))):
        parent = robot.joints[i].parent
        if parent >= 0 and height[parent] <= height[i]:
            height[parent], deepest[parent] = height[i] + 1, i
    return {i: child for i, child in deepest.items() if robot.joints[i].parent >= 0}


def _base(robot: Robot, A: float) -> Motion:
    """A fixed base accelerates against gravity: a_0 = -g."""
    return Motion(ZERO, ZERO, scaled(robot.gravity, -A))


def _multiplier(joint: Joint) -> float:
    """What the joint makes of the velocity and acceleration that it is given."""
    return joint.mimic.multiplier if joint.mimic else 1.0


def _position(joint: Joint, q: Scalar) -> Scalar:
    """The position of the joint itself: mimic and offset applied."""
    offset = joint.offset + (joint.mimic.offset if joint.mimic else 0.0)
    return _multiplier(joint) * q + offset


def _arriving(robot: Robot, i: int, parent: Motion, qd: Scalar, qdd: Scalar, A: float) -> Motion:
    """The parent's motion at joint ``i``'s origin, along its axes before it moves.

    The joint's own rates along its axis, which it leaves as they are, are in it already: a FIFO
    stands in for the register of an adder that writes it, so the sums belong to the parent's
    region. So does a + U r: three words leave instead of a and a column of U.
    """
    joint, m = robot.joints[i], _multiplier(robot.joints[i])
    R = ConstantRotation(joint.placement.rotation)
    w, alpha = R.back(parent.w), R.back(parent.alpha)
    a = R.back(parent.of_point(scaled(joint.placement.translation, A)))
    if joint.kind is JointKind.REVOLUTE:
        # ω' + q̇ z,  α' + q̈ z
        w[2], alpha[2] = w[2] + m * qd, alpha[2] + m * qdd
    else:
        # a' + q̈ z
        a[2] = a[2] + A * m * qdd
    return Motion(w, alpha, a)


def _move(arriving: Motion, turn: Turn | None, slide: Scalar, rate: Scalar, A: float) -> Motion:
    """The motion of the joint's body."""
    w, alpha, a = arriving.w, arriving.alpha, arriving.a
    if turn is not None:
        w, alpha, a = turn.back(w), turn.back(alpha), turn.back(a)
        # α = α' + q̈ z + ω' × q̇ z
        return Motion(w, [alpha[0] + w[1] * rate, alpha[1] - w[0] * rate, alpha[2]], a)
    # a = a' + q̈ z + U q z + 2 ω × q̇ z
    x, y, z = arriving.of_point([0.0, 0.0, A * slide])
    coriolis = 2.0 * A * rate
    return Motion(w, alpha, [x + w[1] * coriolis, y - w[0] * coriolis, z])


def _newton_euler(inertia: Inertia, motion: Motion, unit: Units) -> tuple[Vector, Vector]:
    """Force F = m a + U h and moment N = h × a + (moment of U Σ) that move the body."""
    A, B, J = unit.acceleration, unit.force, inertia.J
    (m,) = scaled([inertia.mass], B / A)
    h = scaled(inertia.h, B)
    U, P, alpha = motion.U(), motion.products(), motion.alpha
    force = [m * motion.a[i] + (U[i][0] * h[0] + U[i][1] * h[1] + U[i][2] * h[2]) for i in range(3)]
    S_xy, S_xz, S_yz = -float(J[0, 1]), -float(J[0, 2]), -float(J[1, 2])
    S = [float(J.trace()) / 2 - float(J[i, i]) for i in range(3)]
    # N_x = Σ_yy U_zy - Σ_zz U_yz + Σ_xy U_zx - Σ_xz U_yx + Σ_yz (U_zz - U_yy), and cyclic
    moment = [
        _diagonal(S[1], S[2], U[2][1], U[1][2], alpha[0], P[1][2])
        + (S_xy * U[2][0] - S_xz * U[1][0])
        + S_yz * (P[2][2] - P[1][1]),
        _diagonal(S[2], S[0], U[0][2], U[2][0], alpha[1], P[0][2])
        + (S_yz * U[0][1] - S_xy * U[2][1])
        + S_xz * (P[0][0] - P[2][2]),
        _diagonal(S[0], S[1], U[1][0], U[0][1], alpha[2], P[0][1])
        + (S_xz * U[1][2] - S_yz * U[0][2])
        + S_xy * (P[1][1] - P[0][0]),
    ]
    return force, add(moment, cross(scaled(inertia.h, 1 / A), motion.a))


def _diagonal(
    plus: float, minus: float, u: Scalar, v: Scalar, alpha: Scalar, product: Scalar
) -> Scalar:
    """plus · u - minus · v, where u = product + α and v = product - α.

    The same as (plus + minus) α + (plus - minus) · product: whichever has fewer constants.
    """
    if 0.0 in (plus, minus):
        return plus * u - minus * v
    return (plus + minus) * alpha + (plus - minus) * product


def _in_body_frame(joint: Joint, wrench: Vector, B: float) -> tuple[Vector, Vector]:
    """Force and moment about the body frame's origin, from components in the link's frame."""
    R = ConstantRotation(joint.link_frame.rotation)
    force, moment = R.forward(wrench[:3]), R.forward(wrench[3:])
    moment = add(moment, cross(joint.link_frame.translation.tolist(), force))
    return [B * x for x in force], moment


def _to_parent(
    joint: Joint, step: Step, force: Vector, moment: Vector, B: float
) -> tuple[Vector, Vector]:
    """Force and moment in the parent's frame, about the parent's origin."""
    R = ConstantRotation(joint.placement.rotation)
    if step.turn is not None:
        force, moment = step.turn.forward(force), step.turn.forward(moment)
    else:
        d = step.slide * (1 / B)
        moment = [moment[0] - d * force[1], moment[1] + d * force[0], moment[2]]
    force, moment = R.forward(force), R.forward(moment)
    return force, add(moment, cross(scaled(joint.placement.translation, 1 / B), force))
