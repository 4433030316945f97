"""Where the joints put their links: (R, p) of each link in its parent, from q."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdgen.golden.tree import plane_frame
from rbdgen.robot.model import Joint, JointKind

from .algebra import Array, hat, identity, mm, mv
from .links import Links

Pose = tuple[Array, Array]


def poses(xp: Any, links: Links, q: Array) -> Pose:
    """R (n, 3, 3, N), p (n, 3, N) at q (nq, N), which is of the robot: mimics follow."""
    parts: list[tuple[list[int], Pose]] = []
    joints = links.robot.joints
    for kind, place in _PLACES.items():
        own = [i for i, joint in enumerate(joints) if joint.kind is kind]
        if own:
            parts.append((own, place(xp, links, own, q)))
    order = np.argsort([i for own, _ in parts for i in own])
    R, p = (xp.concatenate([pose[k] for _, pose in parts])[order] for k in range(2))
    # of the joint's frame, and that in the parent's
    return mm(links.placement, R), links.offset + mv(links.placement, p)


def single(links: Links, own: list[int], q: Array) -> Array:
    """Positions (own, N) of joints of one coordinate, with offsets and mimicry."""
    joints = [links.robot.joints[i] for i in own]
    rows = np.array([links.robot.q_slices[i].start for i in own])
    factor = np.array([joint.mimic.multiplier if joint.mimic else 1.0 for joint in joints])
    offset = np.array([_offset(joint) for joint in joints])
    position = q[rows]
    if (factor != 1).any():
        position = position * factor[:, None].astype(_kind(q))
    return position + offset[:, None].astype(_kind(q)) if offset.any() else position


def _offset(joint: Joint) -> float:
    return joint.offset + (joint.mimic.offset if joint.mimic else 0.0)


def _kind(q: Array) -> Any:
    """Constants stay numbers beside graph nodes."""
    return np.float64 if q.dtype == object else q.dtype


def _revolute(xp: Any, links: Links, own: list[int], q: Array) -> Pose:
    angle = single(links, own, q)
    axis = _axes(links, own, q)
    R = _turn(xp, axis, xp.cos(angle), xp.sin(angle))
    return R, 0 * R[:, 0]


def _prismatic(xp: Any, links: Links, own: list[int], q: Array) -> Pose:
    p = single(links, own, q)[:, None] * _axes(links, own, q)
    return 0 * p[:, None] + identity(xp, 3, p), p


def _floating(xp: Any, links: Links, own: list[int], q: Array) -> Pose:
    at = xp.stack([q[links.robot.q_slices[i]] for i in own])
    v, w = hat(xp, at[:, 3:6]), at[:, 6, None, None]
    # R = 1 + 2 w v̂ + 2 v̂²
    return identity(xp, 3, w) + 2 * w * v + 2 * mm(v, v), at[:, :3]


def _planar(xp: Any, links: Links, own: list[int], q: Array) -> Pose:
    at = xp.stack([q[links.robot.q_slices[i]] for i in own])
    F = np.array([plane_frame(links.robot.joints[i].axis) for i in own])[..., None].astype(_kind(q))
    R = _turn(xp, _axes(links, own, q), at[:, 2], at[:, 3])
    return R, mv(F[:, :, :2], at[:, :2])


def _axes(links: Links, own: list[int], q: Array) -> Array:
    return np.array([links.robot.joints[i].axis for i in own])[..., None].astype(_kind(q))


def _turn(xp: Any, axis: Array, c: Array, s: Array) -> Array:
    """R (own, 3, 3, N) about constant unit vectors (own, 3, 1) by angles as cos, sin (own, N)."""
    û = hat(np, axis)
    projection = axis[:, :, None] * axis[:, None, :]
    # R = c (1 − u uᵀ) + s û + u uᵀ                                          (Rodrigues)
    c, s = c[:, None, None], s[:, None, None]
    across = np.eye(3)[..., None].astype(axis.dtype) - projection
    return c * across + s * û + projection


_PLACES = {
    JointKind.REVOLUTE: _revolute,
    JointKind.PRISMATIC: _prismatic,
    JointKind.FLOATING: _floating,
    JointKind.PLANAR: _planar,
}
