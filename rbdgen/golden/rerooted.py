"""States and torques of a floating robot, as those of the same robot with another base link."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rbdgen.golden import tree
from rbdgen.golden.batch import positions, tangents
from rbdgen.golden.joints import joint_pose
from rbdgen.golden.spatial import motion_cross, motion_transform, transform_vector
from rbdgen.robot.model import Array, Robot


class Rerooted(NamedTuple):
    """The state of the other robot: q (N, nq), qd, qdd (N, nv), and A (N, nv, nv), with
    qd' = A qd and, since power is the same, tau = Aᵀ tau'."""

    q: Array
    qd: Array
    qdd: Array
    A: Array


def rerooted(robot: Robot, other: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Rerooted:
    """What q, qd, qdd of ``robot`` are in the coordinates of ``other``, made from it by
    ``robot.reroot``.

    Joints keep their values; the base's are the pose, twist and acceleration of the new base link.
    Raises ValueError on wrong shapes.
    """
    q = positions(robot, q)
    qd, qdd = tangents(robot, len(q), qd=qd, qdd=qdd)
    path = [[joint.body for joint in robot.joints].index(other.joints[0].body)]
    while (parent := robot.joints[path[0]].parent) >= 0:
        path.insert(0, parent)
    G, own, S = tree.projection(robot), tree.columns(robot), tree.subspaces(robot)
    X = tree.transforms(robot, q)
    n, nv = len(q), robot.nv
    R, p = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
    v, a, J = np.zeros((n, 6)), np.zeros((n, 6)), np.zeros((n, 6, nv))
    for i in path:
        joint = robot.joints[i]
        step, slide = joint_pose(joint, tree.position(robot, i, q))
        if i:  # the floating joint's own placement is no part of its q
            step, slide = (
                joint.placement.rotation @ step,
                joint.placement.translation + (slide @ joint.placement.rotation.T),
            )
        p = p + transform_vector(R, slide)
        R = R @ step
        columns = S[i] @ G[own[i]]  # (6, nv)
        # v = X v_λ + S q̇;  a = X a_λ + S q̈ + v × S q̇
        v = transform_vector(X[i], v) + qd @ columns.T
        a = transform_vector(X[i], a) + qdd @ columns.T
        a += transform_vector(motion_cross(v), qd @ columns.T)
        J = X[i] @ J + columns
    link = robot.joints[path[-1]].link_frame  # the new base's frame
    X_link = motion_transform(link.rotation, link.translation)
    p, R = p + R @ link.translation, R @ link.rotation
    v, a, J = v @ X_link.T, a @ X_link.T, X_link @ J
    base = other.v_slices[0]
    A = np.zeros((n, nv, nv))
    A[:, base] = np.roll(J, 3, axis=1)
    new_q = np.zeros_like(q)
    new_q[:, other.q_slices[0]] = np.hstack([p, _quaternion(R)])
    place = {robot.joints[i].name: i for i in robot.free}
    for j in other.free[1:]:
        i = place[other.joints[j].name]
        new_q[:, other.q_slices[j]] = q[:, robot.q_slices[i]]
        A[:, other.v_slices[j], robot.v_slices[i]] = np.eye(robot.joints[i].kind.nv)
    new_qdd = transform_vector(A, qdd)
    new_qdd[:, base] = np.roll(a, 3, axis=1)
    return Rerooted(new_q, transform_vector(A, qd), new_qdd, A)


def _quaternion(R: Array) -> Array:
    """Unit quaternions (N, 4), x, y, z, w, of rotations (N, 3, 3): the largest eigenvector of
    Bar-Itzhack's matrix."""
    x, y, z = np.moveaxis(R, -1, 0)  # columns, (N, 3) each
    K = np.empty((len(R), 4, 4))
    K[:, :3, :3] = (
        R + np.swapaxes(R, 1, 2) - np.trace(R, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    )
    K[:, :3, 3] = K[:, 3, :3] = np.stack(
        [y[:, 2] - z[:, 1], z[:, 0] - x[:, 2], x[:, 1] - y[:, 0]], 1
    )
    K[:, 3, 3] = np.trace(R, axis1=1, axis2=2)
    return np.linalg.eigh(K)[1][:, :, -1]
