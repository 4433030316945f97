"""The inverse of the mass matrix: what unit torques do to the articulated bodies at rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Robot, RobotError
from . import tree
from .articulated import articulated_inertias
from .batch import in_chunks, positions
from .crba import crba

# Of a matrix scaled to unit diagonal, an eigenvalue below this is zero but for rounding.
SMALLEST_EIGENVALUE = 1e-14


def minv(robot: Robot, q: ArrayLike) -> Array:
    """M⁻¹ (N, nv, nv), symmetric, at q (N, nq).

    Forward dynamics for a unit torque in each column, without velocity and weight; for robots
    with mimic joints the inverse of ``crba``'s matrix.
    Raises ValueError on a wrong shape, RobotError where M is singular.
    """
    q = positions(robot, q)
    if any(joint.mimic for joint in robot.joints):
        Minv = _inverse(robot, crba(robot, q))
    else:
        numbers = len(robot.joints) * (300 + 15 * robot.nv) + 3 * robot.nv**2
        (Minv,) = in_chunks(_minv, robot, numbers, q)
    # only rounding sets the two triangles apart
    return (Minv + Minv.swapaxes(1, 2)) / 2


def _minv(robot: Robot, q: Array) -> tuple[Array]:
    own, S = tree.columns(robot), tree.subspaces(robot)
    X = tree.transforms(robot, q)
    U, D, UDinv, _ = articulated_inertias(robot, X)
    p, a = np.zeros((2, len(robot.joints) + 1, len(q), 6, robot.nv))
    u = np.broadcast_to(np.eye(robot.nv), (len(q), robot.nv, robot.nv)).copy()
    Minv = np.zeros_like(u)

    for i, joint in reversed(list(enumerate(robot.joints))):
        # u = 1 − Sᵀ p;  p_λ += Xᵀ (p + U D⁻¹ u)
        u[:, own[i]] -= S[i].T @ p[i]
        p[joint.parent] += X[i].swapaxes(1, 2) @ (p[i] + UDinv[i] @ u[:, own[i]])

    for i, joint in enumerate(robot.joints):
        # a' = X a_λ;  q̈ = D⁻¹ (u − Uᵀ a');  a = a' + S q̈
        a[i] = X[i] @ a[joint.parent]
        Minv[:, own[i]] = np.linalg.solve(D[i], u[:, own[i]] - U[i].swapaxes(1, 2) @ a[i])
        a[i] += S[i] @ Minv[:, own[i]]
    return (Minv,)


def _inverse(robot: Robot, M: Array) -> Array:
    """Inverses (N, nv, nv) of mass matrices, from their eigenvalues.

    M is scaled to unit diagonal first: heavy and light links, metres and radians put many decades
    between its entries without making it ill-conditioned.
    """
    diagonal = np.abs(np.diagonal(M, axis1=1, axis2=2))
    massless = np.any(diagonal == 0, axis=0)
    if massless.any():
        names = [robot.joints[i].name for i in robot.free if massless[robot.v_slices[i]].any()]
        raise RobotError(f"{robot.name}: singular mass matrix: no inertia resists joints {names}")
    # M = s C s,  s = diag(M)^½,  C = V Λ Vᵀ
    s = np.sqrt(diagonal)
    scale = s[:, :, None] * s[:, None, :]
    eigenvalues, V = np.linalg.eigh(M / scale)
    if np.any(np.abs(eigenvalues) < SMALLEST_EIGENVALUE):
        raise RobotError(f"{robot.name}: singular mass matrix: two joints move the same inertia")
    # M⁻¹ = s⁻¹ V Λ⁻¹ Vᵀ s⁻¹
    inverse: Array = (V / eigenvalues[:, None, :]) @ V.swapaxes(1, 2) / scale
    return inverse
