"""Random states for tests, range analysis and measurements."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..robot.model import Array, Joint, JointKind, Robot


class State(NamedTuple):
    """Positions (N, nq), velocities (N, nv), accelerations (N, nv); SI units."""

    q: Array
    qd: Array
    qdd: Array


def random_state(
    robot: Robot,
    n: int,
    rng: np.random.Generator,
    velocity: float = 1.0,
    acceleration: float = 1.0,
) -> State:
    """``n`` states, uniform within the position limits and within ±velocity, ±acceleration.

    A revolute joint whose range is wider than a turn, or that has none, turns within ±π, or within
    the nearest whole turn that its limits allow; a prismatic joint that lacks a limit slides over
    2 m, within ±1 m if it can. Limits of mimic joints are not looked at. Floating and planar
    bodies take any orientation within ±1 m.
    """
    q = np.empty((n, robot.nq))
    for i in robot.free:
        q[:, robot.q_slices[i]] = _random_position(robot.joints[i], n, rng)
    return State(
        q,
        rng.uniform(-velocity, velocity, (n, robot.nv)),
        rng.uniform(-acceleration, acceleration, (n, robot.nv)),
    )


def _random_position(joint: Joint, n: int, rng: np.random.Generator) -> Array:
    match joint.kind:
        case JointKind.FLOATING:
            quaternion = rng.normal(size=(n, 4))
            quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
            return np.hstack([rng.uniform(-1, 1, (n, 3)), quaternion])
        case JointKind.PLANAR:
            angle = rng.uniform(-np.pi, np.pi, (n, 1))
            return np.hstack([rng.uniform(-1, 1, (n, 2)), np.cos(angle), np.sin(angle)])
        case _:
            return rng.uniform(*position_range(joint), (n, 1))


def position_range(joint: Joint) -> tuple[float, float]:
    """The finite interval [rad or m] that ``random_state`` draws a one-coordinate joint from."""
    lower, upper = joint.limits.lower, joint.limits.upper
    revolute = joint.kind is JointKind.REVOLUTE
    reach = np.pi if revolute else 1.0
    if upper - lower <= 2 * np.pi or (not revolute and np.isfinite(upper - lower)):
        return lower, upper
    middle = min(max(0.0, lower + reach), upper - reach)
    return middle - reach, middle + reach
