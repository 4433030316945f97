"""Exact rewrites: another robot with the same τ, M and gradients, and less arithmetic.

Each rewrite is a pure function Robot → Robot. ``CANONICAL`` lists them in the order in which they
help each other; ``canonicalize`` runs them all and ``stages`` shows the robot after each.
Only ``align_axes`` may change the robot physically, by the angle tolerance that it is given
(0 for none), and it says what it changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from .model import Array, Inertia, Joint, JointKind, Robot, Transform

ONE_AXIS = (JointKind.REVOLUTE, JointKind.PRISMATIC)
NOISE = 1e-13  # rounding noise of float64, relative to a robot's largest length or inertia


def merge_fixed(robot: Robot) -> Robot:
    """Fold each fixed link's inertia into the body that carries it."""
    joints: list[Joint] = []
    base_inertia = robot.base_inertia
    new_index: dict[int, int] = {-1: -1}
    pose: dict[int, Transform] = {-1: Transform()}  # old body in the frame of the body it joins
    for i, joint in enumerate(robot.joints):
        placement = pose[joint.parent] @ joint.placement
        parent = new_index[joint.parent]
        if joint.kind is not JointKind.FIXED:
            new_index[i], pose[i] = len(joints), Transform()
            joints.append(replace(joint, parent=parent, placement=placement))
            continue
        new_index[i], pose[i] = parent, placement
        moved = joint.inertia.seen_from(placement)
        if parent < 0:
            base_inertia += moved
        else:
            carrier = joints[parent]
            joints[parent] = replace(carrier, inertia=carrier.inertia + moved)
    joints = [
        replace(j, mimic=replace(j.mimic, joint=new_index[j.mimic.joint])) if j.mimic else j
        for j in joints
    ]
    return replace(robot, joints=tuple(joints), base_inertia=base_inertia)


def align_axes(robot: Robot, snap: float = 0.0, notes: list[str] | None = None) -> Robot:
    """Turn each body frame so that its joint's axis is +z; take angles near 90° multiples for them.

    With the axis on z a placement is Rz(γ) Rx(α) Rz(β); each of the three angles within ``snap``
    [rad] of a multiple of 90° becomes that multiple. What changed is appended to ``notes``.
    """
    turned = robot
    for i, joint in enumerate(robot.joints):
        if joint.kind in ONE_AXIS:
            turned = move_frame(turned, i, Transform(rotation_to_z(joint.axis)))
    joints = []
    for joint in turned.joints:
        rotation, change = snapped(joint.placement.rotation, snap)
        if notes is not None and change > 1e-9:
            notes.append(
                f'joint "{joint.name}": its placement was {change:.1e} rad from a multiple of 90° '
                "and is taken for it (--snap 0 keeps it)"
            )
        joints.append(replace(joint, placement=Transform(rotation, joint.placement.translation)))
    return denoised(turned.with_joints(joints))


def modified_dh(robot: Robot) -> Robot:
    """Slide each frame along its z and turn it about its z until placements are DH rows.

    A chain's placement becomes Rx(α) with translation (a, 0, d): Khalil & Dombre, *Modeling,
    Identification and Control of Robots*, §3.2, with d laid on the parent's axis instead of the
    child's, so that it acts one joint later. Further children of a body keep Rz(γ) in front.
    """
    for i, joint in enumerate(robot.joints):
        if joint.kind is JointKind.PRISMATIC:
            # A sliding body does not turn: its frame may start at the parent's origin.
            back = -joint.placement.rotation.T @ joint.placement.translation
            robot = move_frame(robot, i, Transform(translation=back))
        elif joint.kind is JointKind.REVOLUTE:
            robot = move_frame(robot, i, Transform(translation=[0, 0, _slide(robot, i)]))
    for i, joint in enumerate(robot.joints):
        if joint.kind in ONE_AXIS:
            robot = _turn(robot, i)
    return denoised(robot)


def regroup_inertia(robot: Robot) -> Robot:
    """Give each body the fewest inertial parameters: Khalil's base parameters, leaves to root.

    Revolute about z: what is symmetric about the axis and at rest on it (mass, h_z and a rod's
    second moment) may as well be fixed to the parent. Prismatic: the rotational inertia may.
    Khalil & Bennis 1995; with the rod's share chosen so that ∫z²dm = 0, or, where the body is
    symmetric about z, J_xx = J_yy = 0.
    """
    joints = list(robot.joints)
    base_inertia = robot.base_inertia
    for i in reversed(range(len(joints))):
        joint = joints[i]
        if joint.kind is JointKind.REVOLUTE:
            kept = _kept_about_axis(joint.inertia)
        elif joint.kind is JointKind.PRISMATIC:
            kept = Inertia(joint.inertia.mass, joint.inertia.h)
        else:
            continue
        moved = (joint.inertia + -kept).seen_from(joint.placement)
        joints[i] = replace(joint, inertia=kept)
        if joint.parent < 0:
            base_inertia += moved
        else:
            above = joints[joint.parent]
            joints[joint.parent] = replace(above, inertia=above.inertia + moved)
    return denoised(replace(robot, joints=tuple(joints), base_inertia=base_inertia))


def _kept_about_axis(inertia: Inertia) -> Inertia:
    J = inertia.J.copy()
    symmetric = J[0, 1] == 0 and math.isclose(J[0, 0], J[1, 1], rel_tol=1e-12)
    rod = J[0, 0] if symmetric else (J[0, 0] + J[1, 1] - J[2, 2]) / 2
    J[0, 0], J[1, 1] = (0.0, 0.0) if symmetric else (J[0, 0] - rod, J[1, 1] - rod)
    return Inertia(0.0, [inertia.h[0], inertia.h[1], 0.0], J)


Rewrite = Callable[[Robot], Robot]


def rewrites(snap: float = 0.0, notes: list[str] | None = None) -> list[tuple[str, Rewrite]]:
    """The canonical form, step by step; each step relies on the one before."""
    return [
        ("merge_fixed", merge_fixed),  # later steps see moving joints only
        ("align_axes", lambda robot: align_axes(robot, snap, notes)),  # one case: z
        ("modified_dh", modified_dh),  # frames may slide and turn about z only
        ("regroup_inertia", regroup_inertia),  # depends on the final frames
    ]


def stages(
    robot: Robot, snap: float = 0.0, notes: list[str] | None = None
) -> Iterator[tuple[str, Robot]]:
    """The robot after each rewrite, with the rewrite's name."""
    for name, rewrite in rewrites(snap, notes):
        robot = rewrite(robot)
        yield name, robot


def canonicalize(robot: Robot, snap: float = 0.0, notes: list[str] | None = None) -> Robot:
    """All rewrites. ``snap`` [rad] is ``align_axes``'s tolerance."""
    for _, robot in stages(robot, snap, notes):
        pass
    return robot


def move_frame(robot: Robot, i: int, motion: Transform) -> Robot:
    """Body ``i``'s frame moved by ``motion`` (the new frame's pose in the old one), exactly.

    The motion must keep the joint's axis: a translation along it, a turn about it, or, before
    axes are aligned, any rotation that takes z to the axis. A translation of a prismatic
    joint's frame may have any direction.
    """
    joints = list(robot.joints)
    joint, back = joints[i], motion.inverse()
    joints[i] = replace(
        joint,
        placement=joint.placement @ motion,
        axis=motion.rotation.T @ joint.axis,
        inertia=joint.inertia.seen_from(back),
        link_frame=back @ joint.link_frame,
    )
    for c in robot.children[i]:
        joints[c] = replace(joints[c], placement=back @ joints[c].placement)
    return robot.with_joints(joints)


def rotation_to_z(axis: Array) -> Array:
    """A rotation whose third column is ``axis``; a signed permutation where axis allows it."""
    near = int(np.argmax(np.abs(axis)))
    if abs(abs(axis[near]) - 1) < 1e-15:
        z = np.zeros(3)
        z[near] = np.sign(axis[near])
        x = np.eye(3)[0 if near != 0 else 1]
    else:
        z = axis / np.linalg.norm(axis)
        x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], z)
        x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def rot_x(angle: float) -> Array:
    c, s = quarter(math.cos(angle)), quarter(math.sin(angle))
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def rot_z(angle: float) -> Array:
    c, s = quarter(math.cos(angle)), quarter(math.sin(angle))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def quarter(x: float) -> float:
    """A sine or cosine without the rounding noise of multiples of 90°."""
    return float(round(x)) if abs(x - round(x)) < 1e-15 else x


def zxz(rotation: Array) -> tuple[float, float, float]:
    """Angles (γ, α, β) with rotation = Rz(γ) Rx(α) Rz(β); β = 0 where z stays on ±z."""
    sine = math.hypot(rotation[0, 2], rotation[1, 2])
    alpha = math.atan2(sine, rotation[2, 2])
    if sine < NOISE:
        return math.atan2(rotation[1, 0], rotation[0, 0]), 0.0 if alpha < 1 else math.pi, 0.0
    return (
        math.atan2(rotation[0, 2], -rotation[1, 2]),
        alpha,
        math.atan2(rotation[2, 0], rotation[2, 1]),
    )


def snapped(rotation: Array, tolerance: float) -> tuple[Array, float]:
    """The rotation with its z-x-z angles on multiples of 90° where they are near; the change."""
    gamma, alpha, beta = zxz(rotation)
    if min(alpha, math.pi - alpha) <= tolerance:  # z stays on z: only γ ± β is an angle
        alpha = 0.0 if alpha < 1 else math.pi
        gamma, beta = math.atan2(rotation[1, 0], rotation[0, 0]), 0.0
    angles = []
    for angle in (gamma, alpha, beta):
        nearest = round(angle / (math.pi / 2)) * math.pi / 2
        angles.append(nearest if abs(angle - nearest) <= tolerance else angle)
    result = rot_z(angles[0]) @ rot_x(angles[1]) @ rot_z(angles[2])
    change = float(np.abs(result - rotation).max())
    # Rebuilding from angles costs an ulp or two: keep the original where nothing was snapped.
    return (result, change) if change <= 2 * tolerance and change > 4e-16 else (rotation, 0.0)


def denoised(robot: Robot) -> Robot:
    """Entries that are zero but for float64 rounding, set to zero."""
    lengths = [np.abs(j.placement.translation).max() for j in robot.joints]
    small = NOISE * max(lengths, default=0.0)
    joints = []
    for joint in robot.joints:
        R = joint.placement.rotation
        R = np.where(np.abs(R - np.round(R)) < NOISE, np.round(R), R)
        p = joint.placement.translation
        inertia = joint.inertia
        size_J = np.abs(inertia.J).max()
        size_h = max(np.abs(inertia.h).max(), abs(inertia.mass) * max(lengths, default=0.0))
        joints.append(
            replace(
                joint,
                placement=Transform(R, np.where(np.abs(p) <= small, 0.0, p)),
                inertia=Inertia(
                    inertia.mass,
                    np.where(np.abs(inertia.h) <= NOISE * size_h, 0.0, inertia.h),
                    np.where(np.abs(inertia.J) <= NOISE * size_J, 0.0, inertia.J),
                ),
            )
        )
    return robot.with_joints(joints)


def _slide(robot: Robot, i: int) -> float:
    """How far frame ``i`` moves along its z to stand nearest its neighbour's axis.

    The neighbour is the parent; for a joint on a fixed base, where placements cost nothing, it
    is the first turning child.
    """
    joint = robot.joints[i]
    if joint.parent >= 0:
        # The parent's z axis passes through its origin: seen from this joint's frame.
        toward = joint.placement.inverse()
        if robot.joints[joint.parent].kind is not JointKind.REVOLUTE:
            return float(toward.translation[2])
    else:
        turning = [
            c for c in robot.children[i] if robot.joints[c].kind is JointKind.REVOLUTE
        ]
        if not turning:
            return 0.0
        toward = robot.joints[turning[0]].placement
    point, direction = toward.translation, toward.rotation[:, 2]
    # Nearest point, on our z axis, to the line point + t·direction.
    sine2 = 1.0 - direction[2] ** 2
    if sine2 < 1e-12:
        return float(point[2])
    along = float(np.dot(point, direction))
    return float((point[2] - along * direction[2]) / sine2)


def _turn(robot: Robot, i: int) -> Robot:
    """Turn frame ``i`` about its z so that its first child's placement loses Rz(γ).

    A leaf is turned so that its centre of mass lies on x, unless it lies on an axis already.
    """
    joint = robot.joints[i]
    children = [c for c in robot.children[i] if robot.joints[c].kind in ONE_AXIS]
    hx, hy, _ = joint.inertia.h
    if joint.kind is JointKind.PRISMATIC:
        _, _, beta = zxz(joint.placement.rotation)
        angle = -beta  # nothing else can take up a constant turn before a sliding joint
    elif children:
        angle = _gamma(robot.joints[children[0]].placement)
    elif not robot.children[i] and abs(hx) > NOISE and abs(hy) > NOISE:
        angle = math.atan2(hy, hx)
    else:
        angle = 0.0
    if angle:
        robot = move_frame(robot, i, Transform(rot_z(angle)))
    return _turn_into_offset(robot, i) if joint.kind is JointKind.REVOLUTE else robot


def _turn_into_offset(robot: Robot, i: int) -> Robot:
    """Rz(γ) Rx(α) Rz(β) Rz(q) = Rz(γ) Rx(α) Rz(q + β): a revolute joint's offset takes up β."""
    joint = robot.joints[i]
    gamma, alpha, beta = zxz(joint.placement.rotation)
    if alpha in (0.0, math.pi):  # Rz(γ) Rx(0) = Rx(0) Rz(γ), Rz(γ) Rx(π) = Rx(π) Rz(-γ)
        gamma, beta = 0.0, gamma if alpha == 0.0 else -gamma
    if beta == 0.0:
        return robot
    joints = list(robot.joints)
    joints[i] = replace(
        joint,
        placement=Transform(rot_z(gamma) @ rot_x(alpha), joint.placement.translation),
        offset=joint.offset + beta,
    )
    return robot.with_joints(joints)


def _gamma(placement: Transform) -> float:
    """The angle, about the parent's z, of the common normal of parent and child axis."""
    x, y, _ = placement.rotation[:, 2]
    if math.hypot(x, y) > NOISE:
        # Either direction of the normal will do: the smaller turn keeps more signs.
        return math.atan2(x, -y) if abs(math.atan2(x, -y)) <= math.pi / 2 else math.atan2(-x, y)
    # Parallel axes: every common normal is as good; take the one through the child's origin.
    a, b, _ = placement.translation
    return math.atan2(b, a) if math.hypot(a, b) > NOISE else 0.0
