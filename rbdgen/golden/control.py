"""Laws of controllers in textbook form: from M and the bias, with angles on the circle.

Siciliano, Sciavicco, Villani and Oriolo, *Robotics: Modelling, Planning and Control*, §8.5: gravity
compensation, and inverse dynamics control. Joint impedance is Albu-Schäffer, Ott and Hirzinger,
IJRR 26 (2007), without elastic joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.angles import endless
from ..robot.model import Array, Robot
from .articulated import crba, rnea

State = tuple[Array, Array]  # q (N, nq), q̇ (N, nv)
Followed = tuple[Array, Array, Array]  # of a reference q (N, nq), q̇ and q̈ (N, nv)


class Saturation(NamedTuple):
    """The largest magnitudes, (nv,), of e and ė, of a commanded q̈ and of τ; infinite: none."""

    error: Array
    rate: Array
    acceleration: Array
    effort: Array


def computed_torque(
    robot: Robot,
    state: State,
    reference: Followed,
    kp: Array,
    kd: Array,
    within: Saturation,
    f_ext: ArrayLike | None = None,
) -> Array:
    """τ (N, nv) = M (q̈_ref + Kp e + Kd ė) + n(q, q̇), as M times an acceleration and the bias."""
    wanted = reference[2] + _feedback(robot, state, reference, kp, kd, within)
    wanted = np.clip(wanted, -within.acceleration, within.acceleration)
    return _driven(robot, state, wanted, 0.0, within, f_ext)


def impedance(
    robot: Robot,
    state: State,
    reference: Followed,
    kp: Array,
    kd: Array,
    within: Saturation,
    f_ext: ArrayLike | None = None,
) -> Array:
    """τ (N, nv) = M q̈_ref + n(q, q̇) + Kp e + Kd ė."""
    added = _feedback(robot, state, reference, kp, kd, within)
    return _driven(robot, state, reference[2], added, within, f_ext)


def gravity_damping(robot: Robot, q: Array, qd: Array, kd: Array, effort: Array) -> Array:
    """τ (N, nv) = g(q) - Kd q̇, of magnitude ``effort`` (nv,) at most."""
    still = np.zeros_like(qd)
    return np.clip(rnea(robot, q, still, still) - kd * qd, -effort, effort)


def _feedback(
    robot: Robot, state: State, reference: Followed, kp: Array, kd: Array, within: Saturation
) -> Array:
    """Kp e + Kd ė (N, nv); of joints without limits e is the angle between two directions."""
    e, rate = reference[0] - state[0], reference[1] - state[1]
    for k in endless(robot):
        e[:, k] = np.arctan2(np.sin(e[:, k]), np.cos(e[:, k]))
    return kp * np.clip(e, -within.error, within.error) + kd * np.clip(
        rate, -within.rate, within.rate
    )


def _driven(
    robot: Robot,
    state: State,
    qdd: Array,
    added: Array | float,
    within: Saturation,
    f_ext: ArrayLike | None,
) -> Array:
    """M q̈ + n(q, q̇) and what is ``added`` (N, nv), of the largest effort at most."""
    q, qd = state
    bias = rnea(robot, q, qd, np.zeros_like(qd), f_ext)
    tau = np.einsum("nij,nj->ni", crba(robot, q), qdd) + bias + added
    return np.clip(tau, -within.effort, within.effort)
