"""A floating base whose motion is given: the joints alone, on a base that moves as it is told.

The mass matrix and its gradients lose the base's rows and columns. What they lose is not a
robot's own inverse: M⁻¹ is here that of the joints' block, as if the base were fixed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, JointKind, Robot
from .batch import positions, tangents
from .crba import crba
from .minv import minv
from .rnea import rnea
from .spatial import transform_vector


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
