"""The robot as a tree in which every moving joint has coordinates of its own, mimics too.

The algorithms run on these tree coordinates. The robot's own, fewer ones follow by projection:
q̇_tree = G q̇, so by virtual work τ = Gᵀ τ_tree, M = Gᵀ M_tree G, and for every gradient likewise.
Without mimic joints G is the identity.

Quantities per body are kept in arrays with one slot more than there are joints: the last one is
the base, which index −1, the base's number as a parent, finds.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..robot.model import Array, Robot
from .joints import joint_pose, motion_subspace
from .spatial import inertia_matrix, motion_transform


def columns(robot: Robot) -> list[slice]:
    """Per joint its slice of the tree's velocity vector; empty for a fixed joint."""
    ends = np.cumsum([0, *(joint.kind.nv for joint in robot.joints)]).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]


def tree_size(robot: Robot) -> int:
    """Length of the tree's velocity vector."""
    return sum(joint.kind.nv for joint in robot.joints)


def projection(robot: Robot) -> Array:
    """G (tree size, nv): ``q̇_tree = G q̇``."""
    G = np.zeros((tree_size(robot), robot.nv))
    own = columns(robot)
    for i in robot.moving:
        mimic = robot.joints[i].mimic
        G[own[i], robot.v_slices[i]] = (
            mimic.multiplier if mimic else np.eye(robot.joints[i].kind.nv)
        )
    return G


def position(robot: Robot, i: int, q: Array) -> Array:
    """The position (N, nq) of joint ``i``, with offsets and mimicry, from q (N, nq of robot)."""
    joint = robot.joints[i]
    if not joint.kind.nq:
        return np.zeros((len(q), 0))
    own = q[:, robot.q_slices[i]]
    if joint.mimic:
        own = joint.mimic.multiplier * own + joint.mimic.offset
    return own + joint.offset if joint.offset else own


def transforms(robot: Robot, q: Array) -> list[Array]:
    """Per joint X (N, 6, 6), motion vectors from the parent body's to the body's frame."""
    result = []
    for i, joint in enumerate(robot.joints):
        X_tree = motion_transform(joint.placement.rotation, joint.placement.translation)
        X_joint = motion_transform(*joint_pose(joint, position(robot, i, q)))
        result.append(X_joint @ X_tree)
    return result


def subspaces(robot: Robot) -> list[Array]:
    """Per joint S (6, nv)."""
    return [motion_subspace(joint) for joint in robot.joints]


def inertias(robot: Robot) -> list[Array]:
    """Per joint the inertia (6, 6) of its body."""
    return [inertia_matrix(joint.inertia) for joint in robot.joints]


def body_forces(robot: Robot, f_ext: Array) -> Array:
    """External force (joints, N, 6) on every joint's body, moment first, in the body frame.

    ``f_ext`` (N, moving, 6) is force first, in the frame that the file gave the link.
    """
    forces = np.zeros((len(robot.joints), len(f_ext), 6))
    for k, i in enumerate(robot.moving):
        frame = robot.joints[i].link_frame
        X_link = motion_transform(frame.rotation, frame.translation)
        # f_body = Xᵀ f_link
        forces[i] = np.roll(f_ext[:, k], 3, axis=-1) @ X_link
    return forces


def base_acceleration(robot: Robot) -> Array:
    """−g as a spatial acceleration (6,) of the base: weight comes with every body's inertia."""
    return np.concatenate([np.zeros(3), -robot.gravity])
