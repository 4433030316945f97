"""Where named frames are and how they move, in the world, linear part first.

Velocities, Jacobians and accelerations are of the frame's origin, along the world's axes:
Pinocchio's LOCAL_WORLD_ALIGNED. Accelerations are those of points (classical), not spatial ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.frame_lookup import frame_of
from ..robot.model import Array, Robot
from . import tree
from .spatial import motion_cross, motion_transform, transform_vector
from .states import in_chunks, positions, tangents
from .tree import joint_pose


class Poses(NamedTuple):
    """Positions p (N, F, 3) [m] and rotations R (N, F, 3, 3), x_world = R x_frame + p."""

    p: Array
    R: Array


def frame_poses(robot: Robot, q: ArrayLike, links: Sequence[str]) -> Poses:
    """The poses of F links' frames at q (N, nq); RobotError where no joint moves such a link."""
    q = positions(robot, q)
    numbers = 20 * (len(robot.joints) + len(links))
    return Poses(*in_chunks(lambda robot, q: _frames(robot, q, links), robot, numbers, q))


def frame_jacobians(robot: Robot, q: ArrayLike, links: Sequence[str]) -> Array:
    """J (N, F, 6, nv): the frames' velocities are J q̇."""
    q = positions(robot, q)

    def kernel(robot: Robot, q: Array) -> tuple[Array]:
        p, R = world_poses(robot, q)
        places, _ = _frames(robot, q, links)
        G, own, S = tree.projection(robot), tree.columns(robot), tree.subspaces(robot)
        J = np.zeros((len(q), len(links), 6, len(G)))
        for f, link in enumerate(links):
            i, _ = frame_of(robot, link)
            while i >= 0:
                # from the body's frame to one at the named frame's origin, along the world's axes
                back = motion_transform(R[i].swapaxes(1, 2), _times(R[i], places[:, f] - p[i]))
                J[:, f, :, own[i]] = back @ S[i]
                i = robot.joints[i].parent
        return (np.roll(J @ G, 3, axis=2),)

    numbers = len(links) * 12 * (tree.tree_size(robot) + 6) + 60 * len(robot.joints)
    (J,) = in_chunks(kernel, robot, numbers, q)
    return J


def frame_velocities(robot: Robot, q: ArrayLike, qd: ArrayLike, links: Sequence[str]) -> Array:
    """Twists (N, F, 6), linear then angular [m/s; rad/s]."""
    return _motions(robot, q, qd, links)[0]


def frame_drifts(robot: Robot, q: ArrayLike, qd: ArrayLike, links: Sequence[str]) -> Array:
    """J̇ q̇ (N, F, 6): the frames' accelerations where q̈ = 0 [m/s²; rad/s²]."""
    return _motions(robot, q, qd, links)[1]


def world_poses(robot: Robot, q: Array) -> tuple[Array, Array]:
    """p (joints, N, 3) and R (joints, N, 3, 3) of every body's frame in the world."""
    p, R = (
        np.zeros((len(robot.joints) + 1, len(q), 3)),
        np.zeros((len(robot.joints) + 1, len(q), 3, 3)),
    )
    R[-1] = np.eye(3)
    for i, joint in enumerate(robot.joints):
        turned, slid = joint_pose(joint, tree.position(robot, i, q))
        at = joint.placement.rotation @ slid[..., None] + joint.placement.translation[:, None]
        p[i] = p[joint.parent] + transform_vector(R[joint.parent], at[..., 0])
        R[i] = R[joint.parent] @ joint.placement.rotation @ turned
    return p[:-1], R[:-1]


def velocities(robot: Robot, q: Array, qd: Array) -> Array:
    """Spatial velocities (joints, N, 6) of all bodies in their own frames, angular part first."""
    return _spatial(robot, q, qd)[0]


def _spatial(robot: Robot, q: Array, qd: Array) -> tuple[Array, Array]:
    """The bodies' velocities, and their accelerations without q̈ and gravity."""
    rates, own, S = qd @ tree.projection(robot).T, tree.columns(robot), tree.subspaces(robot)
    X = tree.transforms(robot, q)
    v, a = np.zeros((2, len(robot.joints) + 1, len(q), 6))
    for i, joint in enumerate(robot.joints):
        vJ = rates[:, own[i]] @ S[i].T
        v[i] = transform_vector(X[i], v[joint.parent]) + vJ
        a[i] = transform_vector(X[i], a[joint.parent]) + transform_vector(motion_cross(v[i]), vJ)
    return v[:-1], a[:-1]


def _motions(
    robot: Robot, q: ArrayLike, qd: ArrayLike, links: Sequence[str]
) -> tuple[Array, Array]:
    q = positions(robot, q)
    (qd,) = tangents(robot, len(q), qd=qd)

    def kernel(robot: Robot, q: Array, qd: Array) -> tuple[Array, Array]:
        v, a = _spatial(robot, q, qd)
        _, R = _frames(robot, q, links)
        found = np.zeros((2, len(q), len(links), 6))
        for f, link in enumerate(links):
            i, pose = frame_of(robot, link)
            X = motion_transform(pose.rotation, pose.translation)
            twist, change = v[i] @ X.T, a[i] @ X.T
            # of the point: what is spatial, and ω × v
            change[:, 3:] += np.cross(twist[:, :3], twist[:, 3:])
            for k, own in enumerate((twist, change)):
                found[k, :, f, :3] = transform_vector(R[:, f], own[:, 3:])
                found[k, :, f, 3:] = transform_vector(R[:, f], own[:, :3])
        return found[0], found[1]

    twists, drifts = in_chunks(kernel, robot, 100 * (len(robot.joints) + len(links)), q, qd)
    return twists, drifts


def _frames(robot: Robot, q: Array, links: Sequence[str]) -> tuple[Array, Array]:
    p, R = world_poses(robot, q)
    places, turned = np.zeros((len(q), len(links), 3)), np.zeros((len(q), len(links), 3, 3))
    for f, link in enumerate(links):
        i, pose = frame_of(robot, link)
        places[:, f] = p[i] + R[i] @ pose.translation
        turned[:, f] = R[i] @ pose.rotation
    return places, turned


def _times(R: Array, x: Array) -> Array:
    """Rᵀ x."""
    return np.einsum("nji,nj->ni", R, x)
