"""Forward dynamics: the articulated-body algorithm (Featherstone, RBDA table 7.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Robot
from . import tree
from .articulated import articulated_inertias
from .batch import external_forces, in_chunks, positions, tangents
from .drivetrain import efforts
from .minv import minv
from .rnea import rnea
from .spatial import force_cross, motion_cross, transform_vector, transpose_times


def aba(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | None = None
) -> Array:
    """Accelerations q̈ (N, nv) under torques ``tau`` (N, nv) at q (N, nq), qd (N, nv).

    ``f_ext`` as for ``rnea``. A mimic joint is a constraint between bodies, which articulated
    bodies do not know: such robots solve M q̈ = τ − bias instead.
    Raises ValueError on wrong shapes, RobotError where the mass matrix is singular.
    """
    q = positions(robot, q)
    qd, tau = tangents(robot, len(q), qd=qd, tau=tau)
    f_ext = external_forces(robot, len(q), f_ext)
    if any(joint.mimic for joint in robot.joints):
        bias = rnea(robot, q, qd, np.zeros_like(qd), f_ext)
        return transform_vector(minv(robot, q), tau - bias)
    (qdd,) = in_chunks(_aba, robot, 300 * len(robot.joints), q, qd, tau, f_ext)
    return qdd


def _aba(robot: Robot, q: Array, qd: Array, tau: Array, f_ext: Array) -> tuple[Array]:
    own, S, inertia = tree.columns(robot), tree.subspaces(robot), tree.inertias(robot)
    X = tree.transforms(robot, q)
    U, D, UDinv, Ia = articulated_inertias(robot, X)
    v, c, a, pA = np.zeros((4, len(robot.joints) + 1, len(q), 6))
    u, qdd = np.zeros((2, *qd.shape))
    tau = tau - efforts(robot, qd)
    a[-1] = tree.base_acceleration(robot)

    for i, joint in enumerate(robot.joints):
        # v = X v_λ + S q̇;  c = v × S q̇
        vJ = qd[:, own[i]] @ S[i].T
        v[i] = transform_vector(X[i], v[joint.parent]) + vJ
        c[i] = transform_vector(motion_cross(v[i]), vJ)
        # pᴬ = v ×* I v − f_ext
        pA[i] = transform_vector(force_cross(v[i]), v[i] @ inertia[i].T)
    pA[:-1] -= tree.body_forces(robot, f_ext)

    for i, joint in reversed(list(enumerate(robot.joints))):
        # u = τ − Sᵀ pᴬ
        u[:, own[i]] = tau[:, own[i]] - pA[i] @ S[i]
        # pᵃ = pᴬ + Iᵃ c + U D⁻¹ u;  pᴬ_λ += Xᵀ pᵃ
        pa = pA[i] + transform_vector(Ia[i], c[i]) + transform_vector(UDinv[i], u[:, own[i]])
        pA[joint.parent] += transpose_times(X[i], pa)

    for i, joint in enumerate(robot.joints):
        # a' = X a_λ + c;  q̈ = D⁻¹ (u − Uᵀ a');  a = a' + S q̈
        a[i] = transform_vector(X[i], a[joint.parent]) + c[i]
        rest = u[:, own[i]] - transpose_times(U[i], a[i])
        qdd[:, own[i]] = np.linalg.solve(D[i], rest[..., None])[..., 0]
        a[i] += qdd[:, own[i]] @ S[i].T
    return (qdd,)
