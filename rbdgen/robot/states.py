"""Batches of random states within a design's limits: for ranges, simulation and error figures."""

from __future__ import annotations

import numpy as np

from .design import Bounds
from .model import Array, JointKind, Robot, RobotError

State = dict[str, Array]


def random_states(
    robot: Robot, box: Bounds, n: int, seed: int | list[int], extremes: float = 0.0
) -> State:
    """q (n, nq), qd, qdd (n, nv), f_ext (n, moving, 6), uniform within ``box``.

    The share ``extremes`` of the states has every velocity, acceleration and force at one of its
    two limits, chosen at random: there the sums of many joints are largest.
    """
    if any(
        robot.joints[i].kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC) for i in robot.free
    ):
        raise RobotError(f"{robot.name}: random states need joints with one coordinate each")
    rng = np.random.default_rng(seed)
    wrench = np.array([box.force] * 3 + [box.moment] * 3)
    state = {
        "q": rng.uniform(box.q_lower, box.q_upper, (n, robot.nq)),
        "qd": rng.uniform(-box.qd, box.qd, (n, robot.nv)),
        "qdd": rng.uniform(-box.qdd, box.qdd, (n, robot.nv)),
        "f_ext": rng.uniform(-wrench, wrench, (n, len(robot.moving), 6)),
    }
    at_limit = int(n * extremes)
    for name, limit in (("qd", box.qd), ("qdd", box.qdd), ("f_ext", wrench)):
        values = state[name][:at_limit]
        values[:] = np.where(values < 0, -limit, limit)
    return state
