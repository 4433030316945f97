"""The recursive algorithms of Featherstone, *Rigid Body Dynamics Algorithms*.

``rnea`` is the recursive Newton-Euler algorithm (table 5.1), ``crba`` the composite-rigid-body
algorithm (table 6.2), ``aba`` the articulated-body algorithm (table 7.1). ``minv`` is the inverse
of the mass matrix: the accelerations that unit torques cause, articulated bodies being at rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Robot, RobotError
from . import tree
from .states import external_forces, in_chunks, positions, tangents
from .tree import armatures, efforts, force_cross, motion_cross, transform_vector, transpose_times


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


# Singular where a joint's articulated inertia is this much less than that of its bodies.
SMALLEST_PIVOT = 1e-14


class ArticulatedFactors(NamedTuple):
    """Per joint: U (N, 6, nv), D (N, nv, nv), U D⁻¹ (N, 6, nv) and Iᵃ (N, 6, 6).

    D is the articulated inertia at the joint, with its rotor's, Iᵃ that which its parent sees
    through it.
    """

    U: list[Array]
    D: list[Array]
    UDinv: list[Array]
    Ia: list[Array]


def articulated_inertias(robot: Robot, X: list[Array]) -> ArticulatedFactors:
    """Articulated inertias, from the tree's transforms X; RobotError where M is singular."""
    S, n = tree.subspaces(robot), len(robot.joints)
    own, rotor = tree.columns(robot), armatures(robot)
    shape = X[0].shape if X else (6, 6)
    # one slot more for the base, which index −1 finds
    IA = [np.broadcast_to(inertia, shape) for inertia in tree.inertias(robot)]
    IA.append(np.zeros(shape))
    U, D, UDinv, Ia = ArticulatedFactors(*([np.empty(0)] * n for _ in range(4)))
    for i, joint in reversed(list(enumerate(robot.joints))):
        # U = Iᴬ S;  D = Sᵀ U + a
        U[i] = IA[i] @ S[i]
        D[i] = S[i].T @ U[i] + np.diag(rotor[own[i]])
        pivots = np.abs(np.linalg.eigvalsh(D[i]))
        if np.any(pivots <= SMALLEST_PIVOT * np.abs(IA[i]).max(axis=(1, 2))[:, None]):
            raise RobotError(
                f"{robot.name}: singular mass matrix: no inertia resists joint {joint.name!r}"
            )
        # Iᵃ = Iᴬ − U D⁻¹ Uᵀ;  Iᴬ_λ += Xᵀ Iᵃ X
        UT = U[i].swapaxes(1, 2)
        UDinv[i] = np.asarray(np.linalg.solve(D[i], UT), np.float64).swapaxes(1, 2)
        Ia[i] = IA[i] - UDinv[i] @ UT
        IA[joint.parent] = IA[joint.parent] + X[i].swapaxes(1, 2) @ Ia[i] @ X[i]
    return ArticulatedFactors(U, D, UDinv, Ia)


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
