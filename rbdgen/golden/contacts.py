"""Forward dynamics of a robot with held frames, or on a base whose motion is given.

With held frames, the whole system of motion and forces is solved as it stands.

On a base whose motion is given, the joints alone are unknown.

The mass matrix and its gradients lose the base's rows and columns. What they lose is not a
robot's own inverse: M⁻¹ is here that of the joints' block, as if the base were fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.frames import frame_of
from ..robot.model import Array, JointKind, Robot, RobotError
from . import tree
from .articulated import crba, minv, rnea
from .derivatives import rnea_derivatives
from .kinematics import frame_drifts, frame_jacobians, frame_poses
from .states import in_chunks, positions, tangents
from .tree import (
    cross_matrix,
    force_cross_swapped,
    motion_cross,
    motion_transform,
    transform_vector,
    transpose_times,
)

DEPENDENT = (
    "{}: {}: the held directions are dependent in some state; --contact-damping makes that regular"
)


class Constrained(NamedTuple):
    """Accelerations q̈ (N, nv), and what holds the frames (N, F, 6), force then moment, along the
    world's axes [N; Nm]."""

    qdd: Array
    forces: Array


def constraint_dynamics(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    links: Sequence[str],
    axes: int = 3,
    damping: float = 0.0,
    f_ext: ArrayLike | None = None,
) -> Constrained:
    """q̈ and λ of M q̈ = τ - bias + Jᵀ λ and J q̈ + J̇ q̇ + μ λ = 0 (Featherstone, RBDA §8.2).

    J has the first ``axes`` rows of each link's frame: three of its origin, then three of its turn.
    ``damping`` is μ. q (N, nq), qd, tau (N, nv), f_ext as for ``rnea``. RobotError where held
    directions are dependent and not damped.
    """
    q = positions(robot, q)
    qd, tau = tangents(robot, len(q), qd=qd, tau=tau)
    n, rows = len(q), axes * len(links)
    drift = frame_drifts(robot, q, qd, links)[:, :, :axes].reshape(n, rows)
    right = np.hstack([tau - rnea(robot, q, qd, np.zeros_like(qd), f_ext), -drift])
    found = _solved(robot, q, links, axes, damping, right[..., None], "cfd")[..., 0]
    forces: Array = np.zeros((n, len(links), 6))
    forces[..., :axes] = found[:, robot.nv :].reshape(n, len(links), axes)
    return Constrained(found[:, : robot.nv], forces)


def _solved(
    robot: Robot,
    q: Array,
    links: Sequence[str],
    axes: int,
    damping: float,
    right: Array,
    function: str,
) -> Array:
    """(q̈; λ) (N, nv + rows, C) of M q̈ - Jᵀ λ and J q̈ + μ λ that are ``right``, one below the
    other."""
    n, nv, rows = len(q), robot.nv, axes * len(links)
    J = frame_jacobians(robot, q, links)[:, :, :axes].reshape(n, rows, nv)
    whole = np.zeros((n, nv + rows, nv + rows))
    whole[:, :nv, :nv] = crba(robot, q)
    whole[:, :nv, nv:], whole[:, nv:, :nv] = -J.swapaxes(1, 2), J
    whole[:, range(nv, nv + rows), range(nv, nv + rows)] = damping
    try:
        return np.asarray(np.linalg.solve(whole, right), np.float64)
    except np.linalg.LinAlgError:
        raise RobotError(DEPENDENT.format(robot.name, function)) from None


class ConstrainedDerivatives(NamedTuple):
    """Derivatives of `Constrained` by q, q̇ and τ: of q̈ (N, nv, nv), of λ (N, F, 6, nv)."""

    dqdd_c_dq: Array
    dqdd_c_dqd: Array
    dqdd_c_dtau: Array
    dlambda_c_dq: Array
    dlambda_c_dqd: Array
    dlambda_c_dtau: Array


def constraint_derivatives(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    links: Sequence[str],
    axes: int = 3,
    damping: float = 0.0,
    f_ext: ArrayLike | None = None,
) -> ConstrainedDerivatives:
    """Gradients of ``constraint_dynamics``, whose arguments these are.

    Both equations are differentiated at the q̈ and λ that solve them (Carpentier, Budhiraja and
    Mansard, RSS 2021). ∂/∂q is in the tangent space, along ``integrate``. λ is along the world's
    axes, ``f_ext`` along the links'. RobotError as there.
    """
    q = positions(robot, q)
    qd, tau = tangents(robot, len(q), qd=qd, tau=tau)
    n, nv, rows = len(q), robot.nv, axes * len(links)
    at = constraint_dynamics(robot, q, qd, tau, links, axes, damping, f_ext)

    def kernel(robot: Robot, q: Array, *others: Array) -> tuple[Array, ...]:
        return _held_slopes(robot, links, q, *others)

    numbers = 36 * (len(robot.joints) + 2 * len(links)) * tree.tree_size(robot)
    weights, da_dq, da_dqd = in_chunks(kernel, robot, numbers, q, qd, at.qdd, at.forces)
    slopes = rnea_derivatives(robot, q, qd, at.qdd, f_ext)
    right = np.zeros((n, nv + rows, 3 * nv))
    right[:, :nv, :nv], right[:, :nv, nv : 2 * nv] = weights - slopes.dtau_dq, -slopes.dtau_dqd
    right[:, :nv, 2 * nv :] = np.eye(nv)
    right[:, nv:, :nv] = -da_dq[:, :, :axes].reshape(n, rows, nv)
    right[:, nv:, nv : 2 * nv] = -da_dqd[:, :, :axes].reshape(n, rows, nv)
    found = _solved(robot, q, links, axes, damping, right, "dcfd")
    forces = np.zeros((n, len(links), 6, 3 * nv))
    forces[:, :, :axes] = found[:, nv:].reshape(n, len(links), axes, 3 * nv)
    return ConstrainedDerivatives(
        *np.split(found[:, :nv], 3, axis=-1), *np.split(forces, 3, axis=-1)
    )


def _held_slopes(
    robot: Robot, links: Sequence[str], q: Array, qd: Array, qdd: Array, forces: Array
) -> tuple[Array, Array, Array]:
    """∂(Jᵀ λ)/∂q (N, nv, nv), λ along the world's axes, and ∂a/∂q and ∂a/∂q̇ (N, F, 6, nv) of the
    frames' accelerations a, classical, linear part first."""
    G = tree.projection(robot)
    rates, changes, size = qd @ G.T, qdd @ G.T, len(G)
    own, S, X = tree.columns(robot), tree.subspaces(robot), tree.transforms(robot, q)
    n, slots = len(q), len(robot.joints) + 1
    v, a = np.zeros((2, slots, n, 6))
    J, dv_dq, da_dq, da_dqd = np.zeros((4, slots, n, 6, size))
    for i, joint in enumerate(robot.joints):
        at, up = own[i], joint.parent
        # v = X v_λ + S q̇,   a = X a_λ + S q̈ + v × S q̇, as of ``rnea_derivatives``
        vJ, Xv = rates[:, at] @ S[i].T, transform_vector(X[i], v[up])
        v[i], J[i], dv_dq[i] = Xv + vJ, X[i] @ J[up], X[i] @ dv_dq[up]
        J[i, :, :, at] += S[i]
        dv_dq[i, :, :, at] += motion_cross(Xv) @ S[i]
        Xa = transform_vector(X[i], a[up])
        a[i] = Xa + changes[:, at] @ S[i].T + transform_vector(motion_cross(v[i]), vJ)
        da_dq[i] = X[i] @ da_dq[up] - motion_cross(vJ) @ dv_dq[i]
        da_dq[i, :, :, at] += motion_cross(Xa) @ S[i]
        da_dqd[i] = X[i] @ da_dqd[up] - motion_cross(vJ) @ J[i]
        da_dqd[i, :, :, at] += motion_cross(v[i]) @ S[i]
    _, turned = frame_poses(robot, q, links)
    weights = np.zeros((n, size, size))
    by_q, by_qd = list[Array](), list[Array]()
    for f, link in enumerate(links):
        i, pose = frame_of(robot, link)
        X_f, R = motion_transform(pose.rotation, pose.translation), turned[:, f]
        twist, change, steps = v[i] @ X_f.T, a[i] @ X_f.T, X_f @ J[i]
        w, u, turning = cross_matrix(twist[:, :3]), cross_matrix(twist[:, 3:]), steps[:, :3]
        # a point's: that of the frame, and ω × v; along the world's axes, which do not turn along
        classical = change[:, 3:] + transform_vector(w, twist[:, 3:])
        for slopes, moves in ((by_q, (da_dq, dv_dq)), (by_qd, (da_dqd, J))):
            da, dv = (X_f @ array[i] for array in moves)
            linear, angular = da[:, 3:] + w @ dv[:, 3:] - u @ dv[:, :3], da[:, :3]
            if slopes is by_q:
                linear = linear - cross_matrix(classical) @ turning
                angular = angular - cross_matrix(change[:, :3]) @ turning
            slopes.append(np.concatenate([R @ linear, R @ angular], axis=1) @ G)
        # the frame's force, moment first, turns back in its own axes: -δ × f = f × δ
        force = [np.einsum("nji,nj->ni", R, forces[:, f, k : k + 3]) for k in (3, 0)]
        df = X_f.T @ np.concatenate([cross_matrix(x) @ turning for x in force], axis=1)
        whole = np.concatenate(force, axis=1) @ X_f
        while i >= 0:
            # τ = Sᵀ f;  f_λ = Xᵀ f, and ∂(Xᵀ f) = Xᵀ (f ×̄* S)
            weights[:, own[i]] += S[i].T @ df
            df[:, :, own[i]] += force_cross_swapped(whole) @ S[i]
            df, whole = X[i].swapaxes(1, 2) @ df, transpose_times(X[i], whole)
            i = robot.joints[i].parent
    return G.T @ weights @ G, np.stack(by_q, axis=1), np.stack(by_qd, axis=1)


def operational_inertia(
    robot: Robot, q: ArrayLike, links: Sequence[str], axes: int = 3, damping: float = 0.0
) -> Array:
    """Λ (N, 6 F, 6 F) = (J M⁻¹ Jᵀ + μ 1)⁻¹ of F links' frames, at q (N, nq) (Khatib 1987).

    J is that of ``constraint_dynamics``, and μ the ``damping``; rows and columns of directions
    beyond the first ``axes`` of a frame are zero. RobotError where directions are dependent and
    not damped.
    """
    q, rows = positions(robot, q), axes * len(links)
    J = frame_jacobians(robot, q, links)[:, :, :axes].reshape(len(q), rows, robot.nv)
    inverse = J @ minv(robot, q) @ J.swapaxes(1, 2) + damping * np.eye(rows)
    found: Array = np.zeros((len(q), len(links), 6, len(links), 6))
    try:
        own = np.linalg.inv(inverse)
    except np.linalg.LinAlgError:
        raise RobotError(DEPENDENT.format(robot.name, "osim")) from None
    found[:, :, :axes, :, :axes] = own.reshape(len(q), len(links), axes, len(links), axes)
    return found.reshape(len(q), 6 * len(links), 6 * len(links))


def joint_minv(robot: Robot, q: ArrayLike) -> Array:
    """Inverse (N, nv − 6, nv − 6) of the joints' block of M, at q (N, nq) of a floating base.

    Raises ValueError on a wrong shape, RobotError where the block is singular.
    """
    held, base = _held(robot)
    return minv(held, positions(robot, q)[:, base.nq :])


def apart_minv(robot: Robot, q: ArrayLike) -> Array:
    """Inverse (N, nv, nv) of M without what couples the joints and their floating base.

    It has `joint_minv` beside the inverse of the base's own block. Raises as that.
    """
    _, base = _held(robot)
    q, nv = positions(robot, q), base.nv
    found = np.zeros((len(q), robot.nv, robot.nv))
    found[:, nv:, nv:] = joint_minv(robot, q)
    found[:, :nv, :nv] = np.linalg.inv(crba(robot, q)[:, :nv, :nv])
    return found


def joint_aba(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
) -> Array:
    """Accelerations (N, nv − 6) of the joints under their torques ``tau`` (N, nv − 6).

    The base moves with the first six entries of ``qd`` and ``qdd`` (N, nv); the others of
    ``qdd`` are not read. ``f_ext`` as for ``rnea``. Raises as ``joint_minv``.
    """
    _, base = _held(robot)
    q = positions(robot, q)
    (qdd,) = tangents(robot, len(q), qdd=qdd)
    moving_base = np.zeros_like(qdd)
    moving_base[:, : base.nv] = qdd[:, : base.nv]
    # τ_j = M_jj q̈_j + (M_jb q̈_b + bias_j)
    rest = rnea(robot, q, qd, moving_base, f_ext)[:, base.nv :]
    return transform_vector(joint_minv(robot, q), np.asarray(tau, np.float64) - rest)


def _held(robot: Robot) -> tuple[Robot, JointKind]:
    """The robot with its first joint, the base's, held at zero, and what kind that joint was."""
    first, *others = robot.joints
    return robot.with_joints([replace(first, kind=JointKind.FIXED), *others]), first.kind
