"""States, torques and gradients of a floating robot, as those of the same robot on another base.

Let the joints between the old base and the new have columns C_i of the new base's Jacobian, all in
the new base's frame. Its twist and acceleration are

    v' = Σ C_i q̇       a' = Σ (C_i q̈ + V_i × C_i q̇)       V_i = Σ_{j<i} C_j q̇

and since a joint that turns by δ carries all that lies before it by -C_i δ,

    ∂v'/∂q_i = V_i × C_i       ∂C_j/∂q_i = C_j × C_i for j < i, else 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Robot
from . import tree
from .states import positions, tangents
from .tree import force_cross, joint_pose, motion_cross, motion_transform, transform_vector


class Rerooted(NamedTuple):
    """The state of the other robot: q (N, nq), qd, qdd (N, nv), and A (N, nv, nv), with
    qd' = A qd and, since power is the same, tau = Aᵀ tau'."""

    q: Array
    qd: Array
    qdd: Array
    A: Array


class Slopes(NamedTuple):
    """How qd' and qdd' follow the old coordinates, each (N, nv, nv); q along its tangent space,
    where ∂q'/∂q is A, as ∂qd'/∂qd and ∂qdd'/∂qdd are."""

    qd_dq: Array
    qdd_dq: Array
    qdd_dqd: Array


def rerooted(robot: Robot, other: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Rerooted:
    """Transform q, qd, qdd of ``robot`` to ``other``, which ``robot.reroot`` made from it.

    Joints keep their values; the base's are the pose, twist and acceleration of the new base link.
    Raises ValueError on wrong shapes.
    """
    way = _way(robot, other, q, qd, qdd)
    A, base = way.A, other.v_slices[0]
    new_q = np.zeros_like(way.q)
    new_q[:, other.q_slices[0]] = np.hstack([way.position, _quaternion(way.rotation)])
    for i, j in way.same.items():
        new_q[:, other.q_slices[j]] = way.q[:, robot.q_slices[i]]
    new_qdd = transform_vector(A, way.qdd)
    new_qdd[:, base] = np.roll(way.accelerations[-1], 3, axis=1)
    return Rerooted(new_q, transform_vector(A, way.qd), new_qdd, A)


def rerooted_slopes(
    robot: Robot, other: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> Slopes:
    """The derivatives of what ``rerooted`` gives for the same arguments."""
    way = _way(robot, other, q, qd, qdd)
    zero = np.zeros_like(way.C[0])
    qd_dq, qdd_dq, qdd_dqd = zero, zero, zero
    last = way.twists[-1]
    for i, C in enumerate(way.C):
        before, behind = way.twists[i], last - way.twists[i + 1]
        carried = motion_cross(before) @ C
        qdd_dqd = qdd_dqd + carried - motion_cross(behind) @ C
        if i:  # of the old base's pose nothing depends
            qd_dq = qd_dq + carried
            qdd_dq = qdd_dq + motion_cross(way.accelerations[i]) @ C
            qdd_dq -= motion_cross(last - before) @ carried
    return Slopes(*(way.base_rows(rows) for rows in (qd_dq, qdd_dq, qdd_dqd)))


def rerooted_forces(robot: Robot, other: Robot, q: ArrayLike, tau: Array) -> Array:
    """∂(Aᵀ tau')/∂q (N, nv, nv) for a fixed ``tau`` (N, nv), which is that of ``other``."""
    still = np.zeros((len(tau), robot.nv))
    way = _way(robot, other, q, still, still)
    wrench = np.roll(tau[:, other.v_slices[0]], 3, axis=1)  # moment first
    found = np.zeros((len(tau), robot.nv, robot.nv))
    before = way.C[0]
    for C in way.C[1:]:
        for k in np.flatnonzero(C.any(axis=(0, 1))):
            # f · (C_j × C_k) = C_j · (C_k ×* f)
            moved = transform_vector(force_cross(C[:, :, k]), wrench)
            found[:, :, k] += np.einsum("nij,ni->nj", before, moved)
        before = before + C
    return found


@dataclass(frozen=True)
class _Way:
    """The way from the old base to the new: ``C`` (N, 6, nv), the columns of each joint between, in
    the frame of the new base, whose pose in the world is ``rotation``, ``position``."""

    robot: Robot
    other: Robot
    q: Array
    qd: Array
    qdd: Array
    C: list[Array]
    rotation: Array
    position: Array

    @cached_property
    def twists(self) -> list[Array]:
        """V (N, 6) before each of the joints, and behind the last."""
        steps = [transform_vector(C, self.qd) for C in self.C]
        return list(np.cumsum([np.zeros_like(steps[0]), *steps], axis=0))

    @cached_property
    def accelerations(self) -> list[Array]:
        """The like."""
        found = [np.zeros_like(self.twists[0])]
        for C, V in zip(self.C, self.twists, strict=False):
            step = transform_vector(motion_cross(V), transform_vector(C, self.qd))
            found.append(found[-1] + transform_vector(C, self.qdd) + step)
        return found

    @cached_property
    def same(self) -> dict[int, int]:
        """Joint of the robot → of the other, but for the bases."""
        place = {self.robot.joints[i].name: i for i in self.robot.free}
        return {place[self.other.joints[j].name]: j for j in self.other.free[1:]}

    @property
    def A(self) -> Array:
        robot, other = self.robot, self.other
        A = self.base_rows(np.sum(self.C, axis=0))
        for i, j in self.same.items():
            A[:, other.v_slices[j], robot.v_slices[i]] = np.eye(robot.joints[i].kind.nv)
        return A

    def base_rows(self, rows: Array) -> Array:
        """(N, nv, nv) with those of the base, linear part first, and no others."""
        whole = np.zeros((len(rows), self.other.nv, self.robot.nv))
        whole[:, self.other.v_slices[0]] = np.roll(rows, 3, axis=1)
        return whole


def _way(robot: Robot, other: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> _Way:
    q = positions(robot, q)
    qd, qdd = tangents(robot, len(q), qd=qd, qdd=qdd)
    path = [[joint.body for joint in robot.joints].index(other.joints[0].body)]
    while (parent := robot.joints[path[0]].parent) >= 0:
        path.insert(0, parent)
    G, own, S = tree.projection(robot), tree.columns(robot), tree.subspaces(robot)
    X = tree.transforms(robot, q)
    R, p = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
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
    link = robot.joints[path[-1]].link_frame  # the new base's frame
    behind = np.broadcast_to(motion_transform(link.rotation, link.translation), (len(q), 6, 6))
    C: list[Array] = []
    for i in reversed(path):
        C.insert(0, behind @ (S[i] @ G[own[i]]))
        behind = behind @ X[i]
    return _Way(robot, other, q, qd, qdd, C, R @ link.rotation, p + R @ link.translation)


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
