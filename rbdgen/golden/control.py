"""Laws of controllers in textbook form: from M and the bias, with angles on the circle.

Siciliano, Sciavicco, Villani and Oriolo, *Robotics: Modelling, Planning and Control*, §8.5: gravity
compensation, and inverse dynamics control. Joint impedance is Albu-Schäffer, Ott and Hirzinger,
IJRR 26 (2007), without elastic joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, JointKind, Robot
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
    q, qd = state
    e, rate = _errors(robot, state, reference, within)
    wanted = np.clip(reference[2] + kp * e + kd * rate, -within.acceleration, within.acceleration)
    tau = np.einsum("nij,nj->ni", crba(robot, q), wanted)
    return _limited(tau + rnea(robot, q, qd, np.zeros_like(qd), f_ext), within)


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
    q, qd = state
    e, rate = _errors(robot, state, reference, within)
    tau = np.einsum("nij,nj->ni", crba(robot, q), reference[2])
    bias = rnea(robot, q, qd, np.zeros_like(qd), f_ext)
    return _limited(tau + bias + kp * e + kd * rate, within)


def gravity_damping(robot: Robot, q: Array, qd: Array, kd: Array, effort: Array) -> Array:
    """τ (N, nv) = g(q) - Kd q̇, of magnitude ``effort`` (nv,) at most."""
    still = np.zeros_like(qd)
    return np.clip(rnea(robot, q, still, still) - kd * qd, -effort, effort)


def _errors(
    robot: Robot, state: State, reference: Followed, within: Saturation
) -> tuple[Array, Array]:
    """e and ė (N, nv), of joints that go beyond half a turn the angle between two directions."""
    e, rate = reference[0] - state[0], reference[1] - state[1]
    for i in robot.free:
        joint, k = robot.joints[i], robot.q_slices[i].start
        low, high = joint.limits.lower, joint.limits.upper
        if joint.kind is JointKind.REVOLUTE and (low < -np.pi or high > np.pi):
            e[:, k] = np.arctan2(np.sin(e[:, k]), np.cos(e[:, k]))
    return np.clip(e, -within.error, within.error), np.clip(rate, -within.rate, within.rate)


def _limited(tau: Array, within: Saturation) -> Array:
    return np.clip(tau, -within.effort, within.effort)
