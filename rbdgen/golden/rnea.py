"""Inverse dynamics: the recursive Newton-Euler algorithm (Featherstone, RBDA table 5.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Robot
from . import tree
from .batch import external_forces, in_chunks, positions, tangents
from .drivetrain import armatures, efforts
from .spatial import force_cross, motion_cross, transform_vector, transpose_times


def rnea(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, f_ext: ArrayLike | None = None
) -> Array:
    """Joint torques τ (N, nv) [N·m; N] that give accelerations ``qdd`` (N, nv) at q (N, nq), qd.

    ``f_ext`` (N, moving bodies, 6): force and moment [N; N·m] on each body of ``robot.moving``,
    in the frame that the file gave the link and acting at its origin; none by default.
    Raises ValueError on wrong shapes.
    """
    q = positions(robot, q)
    qd, qdd = tangents(robot, len(q), qd=qd, qdd=qdd)
    f_ext = external_forces(robot, len(q), f_ext)
    (tau,) = in_chunks(_rnea, robot, 200 * len(robot.joints), q, qd, qdd, f_ext)
    return tau


def _rnea(robot: Robot, q: Array, qd: Array, qdd: Array, f_ext: Array) -> tuple[Array]:
    G = tree.projection(robot)
    qd, qdd, tau = qd @ G.T, qdd @ G.T, np.zeros((len(q), len(G)))
    own, S, inertia = tree.columns(robot), tree.subspaces(robot), tree.inertias(robot)
    X = tree.transforms(robot, q)
    v, a, f = np.zeros((3, len(robot.joints) + 1, len(q), 6))
    a[-1] = tree.base_acceleration(robot)

    for i, joint in enumerate(robot.joints):
        # v = X v_λ + S q̇
        vJ = qd[:, own[i]] @ S[i].T
        v[i] = transform_vector(X[i], v[joint.parent]) + vJ
        # a = X a_λ + S q̈ + v × S q̇
        aJ = qdd[:, own[i]] @ S[i].T + transform_vector(motion_cross(v[i]), vJ)
        a[i] = transform_vector(X[i], a[joint.parent]) + aJ
        # f = I a + v ×* I v − f_ext
        f[i] = a[i] @ inertia[i].T + transform_vector(force_cross(v[i]), v[i] @ inertia[i].T)
    f[:-1] -= tree.body_forces(robot, f_ext)

    for i, joint in reversed(list(enumerate(robot.joints))):
        # τ = Sᵀ f;  f_λ += Xᵀ f
        tau[:, own[i]] = f[i] @ S[i]
        f[joint.parent] += transpose_times(X[i], f[i])
    tau += armatures(robot) * qdd + efforts(robot, qd)
    return (tau @ G,)
