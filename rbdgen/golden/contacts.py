"""Forward dynamics while frames are held where they are: the whole system, solved as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Robot, RobotError
from .batch import positions, tangents
from .crba import crba
from .kinematics import frame_drifts, frame_jacobians
from .rnea import rnea


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
        raise RobotError(
            f"{robot.name}: cfd: the held directions are dependent in some state; "
            "--contact-damping makes that regular"
        ) from None
    forces: Array = np.zeros((n, len(links), 6))
    forces[..., :axes] = found[:, nv:].reshape(n, len(links), axes)
    return Constrained(found[:, :nv], forces)
