"""Inverse dynamics, τ = ID(q, q̇, q̈, f_ext): recursive Newton-Euler, with the least arithmetic.

Luh, Walker and Paul's recursion (1980) in the form of Khalil and Dombre (*Modeling,
Identification and Control of Robots*, §9.5). With a body's acceleration matrix U and its origin's
acceleration a (``motion``), first moment h and second moment Σ = ½ tr(J) 1 - J (Σ_xx = ∫x²dm),

    F = m a + U h              N = h × a + 2 vee(skew part of U Σ)

six products ωᵢωⱼ serve force and moment alike. Constant entries (zeros of h, Σ, placements)
disappear by themselves while this is traced.
"""

from __future__ import annotations

from ..robot.model import Inertia, Joint, JointKind, Robot
from .motion import Motion, Moved, State, move, multiplier
from .scalars import Arithmetic, Scalar, Vector
from .spatial import ZERO, ConstantRotation, Wrench, add, cross, is_zero, scale, sub
from .units import Units, scaled, units


def rnea(
    arithmetic: Arithmetic, robot: Robot, state: State, multiplications: int = 4
) -> list[Scalar]:
    """Joint efforts (nv,) of a tree of joints of any kind, axes of one-axis joints along z.

    Joint i's way out is traced in region ("forward", i), its way back in ("backward", i).
    """
    unit = units(robot, len(state.f_ext))
    moved = move(arithmetic, robot, state, unit, multiplications)
    forces = body_forces(arithmetic, robot, moved, state, unit)
    return gather(arithmetic, robot, moved, forces, unit)[0]


def body_forces(
    arithmetic: Arithmetic,
    robot: Robot,
    moved: dict[int, Moved],
    state: State,
    unit: Units,
    region: str = "forward",
) -> dict[int, Wrench]:
    """What each joint's body asks for by itself: force and moment about its origin."""
    forces: dict[int, Wrench] = {}
    for i, joint in enumerate(robot.joints):
        with arithmetic.region(region, i):
            force, moment = _newton_euler(joint.inertia, moved[i].motion, unit)
            if i in state.f_ext:
                external = external_wrench(joint, state.f_ext[i], unit.force)
                force, moment = sub(force, external[0]), sub(moment, external[1])
            forces[i] = force, moment
    return forces


def gather(
    arithmetic: Arithmetic,
    robot: Robot,
    moved: dict[int, Moved],
    forces: dict[int, Wrench],
    unit: Units,
    region: str = "backward",
) -> tuple[list[Scalar], dict[int, Wrench]]:
    """τ (nv,), and the force and moment that every joint passes on: of its whole subtree."""
    tau: list[Scalar] = [0.0] * robot.nv
    joined = _joined_by(robot)
    whole: dict[int, Wrench] = {}
    passed: dict[int, Wrench] = {}
    for i in reversed(range(len(robot.joints))):
        joint = robot.joints[i]
        with arithmetic.region(region, i):
            # f = F + Σ_children X* f
            force, moment = (ZERO, ZERO) if i in joined else forces[i]
            for child in robot.children[i]:
                force, moment = add(force, passed[child][0]), add(moment, passed[child][1])
            whole[i] = force, moment
            # τ = S·f
            if i in robot.v_slices:
                for k, effort in zip(
                    indices(robot.v_slices[i]), _efforts(joint, force, moment, unit), strict=True
                ):
                    tau[k] += multiplier(joint) * effort
            if joint.parent >= 0:
                force, moment = wrench_to_parent(joint, moved[i], whole[i], unit)
                if joined.get(joint.parent) == i:
                    above = forces[joint.parent]
                    force, moment = add(force, above[0]), add(moment, above[1])
                passed[i] = force, moment
    return tau, whole


def indices(at: slice) -> range:
    """The places that a slice with both ends covers."""
    return range(at.start, at.stop)


def _efforts(joint: Joint, force: Vector, moment: Vector, unit: Units) -> Vector:
    """S·f, in SI units."""
    newtons = scale(1 / unit.force, force)
    match joint.kind:
        case JointKind.REVOLUTE:
            return [moment[2]]
        case JointKind.PRISMATIC:
            return [newtons[2]]
        case JointKind.PLANAR:
            return [newtons[0], newtons[1], moment[2]]
        case JointKind.FLOATING:
            return [*newtons, *moment]
        case JointKind.FIXED:
            return []


def wrench_to_parent(joint: Joint, moved: Moved, wrench: Wrench, unit: Units) -> Wrench:
    """Force and moment in the parent's frame, about the parent's origin."""
    force, moment = wrench
    B = unit.force
    R = ConstantRotation(joint.placement.rotation)
    if moved.rotation is not None:
        force, moment = moved.rotation.forward(force), moved.rotation.forward(moment)
    if not is_zero(moved.shift):
        moment = add(moment, cross(scale(1 / B, moved.shift), force))
    force, moment = R.forward(force), R.forward(moment)
    return force, add(moment, cross(scaled(joint.placement.translation, 1 / B), force))


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


def _newton_euler(inertia: Inertia, motion: Motion, unit: Units) -> Wrench:
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


def external_wrench(joint: Joint, wrench: Vector, B: float) -> Wrench:
    """Force and moment about the body frame's origin, from components in the link's frame."""
    R = ConstantRotation(joint.link_frame.rotation)
    force, moment = R.forward(wrench[:3]), R.forward(wrench[3:])
    moment = add(moment, cross(joint.link_frame.translation.tolist(), force))
    return [B * x for x in force], moment
