"""Forward dynamics of bodies that are held, or whose base is.

Forward dynamics while frames are held where they are: the whole system, solved as it stands.

A floating base whose motion is given: the joints alone, on a base that moves as it is told.

The mass matrix and its gradients lose the base's rows and columns. What they lose is not a
robot's own inverse: M⁻¹ is here that of the joints' block, as if the base were fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, JointKind, Robot, RobotError
from .articulated import crba, minv, rnea
from .kinematics import frame_drifts, frame_jacobians
from .states import positions, tangents
from .tree import transform_vector

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
    n, nv, rows = len(q), robot.nv, axes * len(links)
    J = frame_jacobians(robot, q, links)[:, :, :axes].reshape(n, rows, nv)
    drift = frame_drifts(robot, q, qd, links)[:, :, :axes].reshape(n, rows)
    whole = np.zeros((n, nv + rows, nv + rows))
    whole[:, :nv, :nv] = crba(robot, q)
    whole[:, :nv, nv:], whole[:, nv:, :nv] = -J.swapaxes(1, 2), J
    whole[:, range(nv, nv + rows), range(nv, nv + rows)] = damping
    right = np.hstack([tau - rnea(robot, q, qd, np.zeros_like(qd), f_ext), -drift])
    try:
        found: Array = np.asarray(np.linalg.solve(whole, right[..., None])[..., 0], np.float64)
    except np.linalg.LinAlgError:
        raise RobotError(DEPENDENT.format(robot.name, "cfd")) from None
    forces: Array = np.zeros((n, len(links), 6))
    forces[..., :axes] = found[:, nv:].reshape(n, len(links), axes)
    return Constrained(found[:, :nv], forces)


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
