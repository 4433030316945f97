"""Where a joint puts its body, and the directions in which it can move.

All five kinds move in a subgroup of SE(3), so the motion subspace S is constant in the body frame
and the joint's transform follows X(q ⊕ δ) = exp(−(S δ)×) X(q): the one fact about joints that the
derivatives use.
"""

from __future__ import annotations

import numpy as np

from ..robot.model import Array, Joint, JointKind
from .spatial import cross_matrix


def motion_subspace(joint: Joint) -> Array:
    """S (6, nv): body velocity relative to the parent is S q̇, in the body frame."""
    S = np.zeros((6, joint.kind.nv))
    match joint.kind:
        case JointKind.REVOLUTE:
            S[:3, 0] = joint.axis
        case JointKind.PRISMATIC:
            S[3:, 0] = joint.axis
        case JointKind.FLOATING:  # the user's twist has its linear part first
            S[3:, :3] = S[:3, 3:] = np.eye(3)
        case JointKind.PLANAR:
            F = plane_frame(joint.axis)
            S[3:, :2] = F[:, :2]
            S[:3, 2] = F[:, 2]
        case JointKind.FIXED:
            pass
    return S


def joint_pose(joint: Joint, position: Array) -> tuple[Array, Array]:
    """Pose (N, 3, 3), (N, 3) of the body in the joint frame at ``position`` (N, nq)."""
    n = len(position)
    R, p = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
    match joint.kind:
        case JointKind.REVOLUTE:
            R = turn(joint.axis, np.cos(position[:, 0]), np.sin(position[:, 0]))
        case JointKind.PRISMATIC:
            p = position * joint.axis
        case JointKind.FLOATING:
            R, p = quaternion_matrix(position[:, 3:]), position[:, :3]
        case JointKind.PLANAR:
            F = plane_frame(joint.axis)
            R, p = turn(joint.axis, position[:, 2], position[:, 3]), position[:, :2] @ F[:, :2].T
        case JointKind.FIXED:
            pass
    return R, p


def turn(axis: Array, cosine: Array, sine: Array) -> Array:
    """Rotation (N, 3, 3) about the unit vector ``axis`` by angles given as cosine, sine (N,)."""
    c, s = cosine[:, None, None], sine[:, None, None]
    # R = c 1 + s û + (1 − c) u uᵀ                                          (Rodrigues)
    return c * np.eye(3) + s * cross_matrix(axis) + (1 - c) * np.outer(axis, axis)


def quaternion_matrix(quaternion: Array) -> Array:
    """Rotation (N, 3, 3) of unit quaternions (N, 4) in the order x, y, z, w."""
    v = cross_matrix(quaternion[:, :3])
    w = quaternion[:, 3, None, None]
    # R = 1 + 2 w v̂ + 2 v̂²
    return np.eye(3) + 2 * w * v + 2 * v @ v


def plane_frame(normal: Array) -> Array:
    """F (3, 3): in-plane x, in-plane y and normal of a planar joint, as columns.

    F is the rotation by the smallest angle that takes z to the unit vector ``normal`` (half a turn
    about x when ``normal`` is −z), so a planar joint with axis z is Pinocchio's JointModelPlanar
    and any other one is that joint seen from a frame turned by F.
    """
    x, y, z = normal
    if z < -1 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    # R = 1 + û + û² / (1 + z),  u = e_z × normal = (−y, x, 0)
    u = cross_matrix(np.array([-y, x, 0.0]))
    return np.eye(3) + u + u @ u / (1 + z)
