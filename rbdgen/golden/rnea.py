"""The recursive algorithms of inverse dynamics and of the mass matrix.

Inverse dynamics: the recursive Newton-Euler algorithm (Featherstone, RBDA table 5.1).

The mass matrix: the composite-rigid-body algorithm (Featherstone, RBDA table 6.2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Robot
from . import tree
from .drivetrain import armatures, efforts
from .states import external_forces, in_chunks, positions, tangents
from .tree import force_cross, motion_cross, transform_vector, transpose_times


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


def crba(robot: Robot, q: ArrayLike) -> Array:
    """M (N, nv, nv), both triangles, at q (N, nq): ``τ = M q̈ + bias``.

    Raises ValueError on a wrong shape.
    """
    q = positions(robot, q)
    numbers = 150 * len(robot.joints) + 3 * tree.tree_size(robot) ** 2
    (M,) = in_chunks(_crba, robot, numbers, q)
    return M


def _crba(robot: Robot, q: Array) -> tuple[Array]:
    G, own, S = tree.projection(robot), tree.columns(robot), tree.subspaces(robot)
    X = tree.transforms(robot, q)
    M = np.zeros((len(q), len(G), len(G)))
    composite = np.zeros((len(robot.joints) + 1, len(q), 6, 6))
    for i, inertia in enumerate(tree.inertias(robot)):
        composite[i] = inertia

    for i, joint in reversed(list(enumerate(robot.joints))):
        XT = X[i].swapaxes(1, 2)
        # Iᶜ_λ += Xᵀ Iᶜ X
        composite[joint.parent] += XT @ composite[i] @ X[i]
        # F = Iᶜ S;  M_ii = Sᵀ F
        F = composite[i] @ S[i]
        M[:, own[i], own[i]] = S[i].T @ F
        j = i
        while robot.joints[j].parent >= 0:
            # F = Xᵀ F;  M_ji = S_jᵀ F, on the way to the base
            F = X[j].swapaxes(1, 2) @ F
            j = robot.joints[j].parent
            M[:, own[j], own[i]] = S[j].T @ F
            M[:, own[i], own[j]] = M[:, own[j], own[i]].swapaxes(1, 2)
    return (G.T @ (M + np.diag(armatures(robot))) @ G,)
