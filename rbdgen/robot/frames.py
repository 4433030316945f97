"""Frames of bodies, placed where the bodies' numbers cost the fewest products by constants.

The cost is a local estimate of what tracing counts, so that rewrites can weigh one frame against
another. A number counts wherever the recursive Newton-Euler algorithm multiplies by it: a first
moment in F = U h and N = h × a, a lever in a + U r and r × f, a product of inertia in N; an angle
for each of the five vectors that it turns (ω, α, a on the way out, f, n on the way back). Bodies
near the base move more simply.

Base inertial parameters give each body an inertia of the fewest numbers with the same effect.

``frame_of`` finds the frame of a link, whatever rewrites have made of the link.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..system.quoting import changing
from .angles import NOISE, off_quarters, plane_rotation, rotation_to_z, snapped, zxz
from .model import Inertia, JointKind, Robot, RobotError, Transform, frozen
from .xml_lines import did_you_mean, quoted

# In which axes, and of which point, a frame's motion is, as Pinocchio names them.
LOCAL, WORLD, ALIGNED = REFERENCES = ("local", "world", "local-world-aligned")


def frame_of(robot: Robot, link: str, said: str = "frames") -> tuple[int, Transform]:
    """The joint whose body has the frame that the file gave ``link``, and its pose in the body's.

    Raises RobotError where no joint moves such a link; ``said``: the choice that names it.
    """
    poses = {joint.body: (i, joint.link_frame) for i, joint in enumerate(robot.joints)}
    for frame in robot.merged:
        if frame.body in poses:
            i, on = poses[frame.body]
            poses[frame.link] = i, on @ frame.pose
    moved = {name: at for name, at in poses.items() if moves(robot, at[0])}
    if link in moved:
        return moved[link]
    still = {robot.base_body, *(frame.link for frame in robot.merged), *poses}
    if link in still:
        raise RobotError(f"{said}: {quoted(link)} is on the base; no joint moves it")
    hint = did_you_mean(link, moved, f"; one of {', '.join(moved) or 'none'}")
    raise RobotError(f"{said}: no link {quoted(link)}{hint}")


def moves(robot: Robot, i: int) -> bool:
    """Whether any joint on the way from the base to body ``i`` moves."""
    while i >= 0:
        if robot.joints[i].kind.nv:
            return True
        i = robot.joints[i].parent
    return False


NONE = 1e-12  # smaller numbers, relative to the largest of their kind, are rounding noise
MASS = 3.0
OFFSET = 0.3  # a constant added to an angle, against a product by a constant
# by the number of turning joints from the base to the body's parent, two or more being alike:
ANGLE = (2.0, 12.0, 20.0)
LEVER_ACROSS = (0.0, 3.0, 5.0)
LEVER_ALONG = (0.0, 0.0, 5.0)
FIRST_MOMENT = (1.0, 3.0, 5.0)
PRODUCT_OF_INERTIA = (0.0, 3.0, 3.0)


def levels(robot: Robot) -> list[int]:
    """The number of turning joints between each joint's parent and the base, at most two."""
    found: list[int] = []
    for joint in robot.joints:
        level = 0
        if joint.parent >= 0:
            above = robot.joints[joint.parent].kind
            level = found[joint.parent] + (above is not JointKind.PRISMATIC)
        found.append(min(level, 2))
    return found


def placement_cost(placement: Transform, kind: JointKind, level: int) -> float:
    """The cost of getting from the parent's frame to the joint's and back.

    Of the angles (γ, α, β) a turning joint takes up the last in its offset.
    """
    gamma, alpha, beta = zxz(placement.rotation)
    if kind is JointKind.REVOLUTE and math.sin(alpha) < NONE:
        gamma, beta = 0.0, gamma
    turned = [int(off_quarters(angle) > NONE) for angle in (gamma, alpha, beta)]
    cost = ANGLE[level] * (turned[0] + turned[1])
    if turned[2]:
        cost += OFFSET if kind is JointKind.REVOLUTE else ANGLE[level]
    x, y, z = (int(abs(r) > NONE) for r in placement.translation)
    return cost + LEVER_ACROSS[level] * (x + y) + LEVER_ALONG[level] * z


def inertia_cost(inertia: Inertia, level: int, size: float = 1.0) -> float:
    """The cost of a body's force and moment. ``size``: the inertia whose rounding noise is none.

    Of revolute bodies the numbers that ``regroup_inertia`` leaves; diagonal entries cost the
    same in every frame.
    """
    h = sum(abs(x) > NONE * size for x in inertia.h)
    J = inertia.J
    products = sum(abs(x) > NONE * size for x in (J[0, 1], J[0, 2], J[1, 2]))
    mass = MASS if abs(inertia.mass) > NONE * size else 0.0
    return FIRST_MOMENT[level] * h + PRODUCT_OF_INERTIA[level] * products + mass


def regroup_inertia(robot: Robot, symmetry: bool = True) -> Robot:
    """Give each body the fewest inertial parameters: Khalil's base parameters, leaves to root.

    Revolute about z: what is symmetric about the axis and at rest on it (mass, h_z and a rod's
    second moment) may as well be fixed to the parent. Prismatic: the rotational inertia may.
    Khalil & Bennis 1995; with the rod's share chosen so that ∫z²dm = 0, or, where the body is
    symmetric about z, J_xx = J_yy = 0; without ``symmetry`` in the first way always.
    """
    joints = list(robot.joints)
    base_inertia = robot.base_inertia
    for i in reversed(range(len(joints))):
        joint = joints[i]
        if joint.kind is JointKind.REVOLUTE:
            kept = _kept_about_axis(joint.inertia, symmetry)
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


def _kept_about_axis(inertia: Inertia, symmetry: bool) -> Inertia:
    J = inertia.J.copy()
    symmetric = symmetry and J[0, 1] == 0 and math.isclose(J[0, 0], J[1, 1], rel_tol=1e-12)
    rod = J[0, 0] if symmetric else (J[0, 0] + J[1, 1] - J[2, 2]) / 2
    J[0, 0], J[1, 1] = (0.0, 0.0) if symmetric else (J[0, 0] - rod, J[1, 1] - rod)
    return Inertia(0.0, inertia.h * [1.0, 1.0, 0.0], J)


ONE_AXIS = (JointKind.REVOLUTE, JointKind.PRISMATIC)
Z = frozen([0.0, 0.0, 1.0])
SNAP = 1e-5  # rad: so near a right angle a file's digits are cut off


def align_axes(robot: Robot, snap: float | None = 0.0, notes: list[str] | None = None) -> Robot:
    """Turn each body frame so that its joint's axis, or normal, is +z; snap angles near 90°.

    With the axis on z a placement is Rz(γ) Rx(α) Rz(β); each of the three angles within ``snap``
    [rad] of a multiple of 90° becomes that multiple; None: within `SNAP`. What changed is appended
    to ``notes``.
    """
    tolerance = SNAP if snap is None else snap
    turned = robot
    for i, joint in enumerate(robot.joints):
        if joint.kind in ONE_AXIS:
            turned = move_frame(turned, i, Transform(rotation_to_z(joint.axis)))
        elif joint.kind is JointKind.PLANAR:
            turned = move_frame(turned, i, Transform(plane_rotation(joint.axis)))
    joints = []
    for joint in turned.joints:
        rotation, change = snapped(joint.placement.rotation, tolerance)
        if notes is not None and change > 1e-9:
            notes.append(
                changing(
                    f'joint "{joint.name}": its placement was {change:.1e} rad from a multiple of '
                    "90° and is taken for it (--snap 0 keeps it)"
                )
            )
        placement = Transform(rotation, joint.placement.translation)
        aligned = joint.kind in (*ONE_AXIS, JointKind.PLANAR)
        axis = Z if aligned else joint.axis  # without rounding noise
        joints.append(replace(joint, placement=placement, axis=axis))
    return denoised(turned.with_joints(joints))


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
