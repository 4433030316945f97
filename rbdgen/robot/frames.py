"""Frames: each body's own, moved to where its numbers are fewest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..system.notes import changing
from .angles import NOISE, plane_rotation, rotation_to_z, snapped
from .model import Inertia, JointKind, Robot, Transform, frozen

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
