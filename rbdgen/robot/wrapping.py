"""Angles that mean the same some whole turns further on, and bringing them near zero."""

from __future__ import annotations

import math

import numpy as np

from .model import Array, JointKind, Robot

MOST = 16  # turns, after which a mimic joint may be back where it was
_WHOLE = 1e-12  # how near a whole number a multiplier's multiple must be, relative


def periods(robot: Robot) -> dict[int, int]:
    """Coordinate of q → after how many whole turns of it the robot is the same again.

    1 for a revolute joint; more where another follows it at a fraction of its rate. Left out where
    that never comes round, or slides, as are positions that are no angles.
    """
    found: dict[int, int] = {}
    for i in robot.free:
        if robot.joints[i].kind is not JointKind.REVOLUTE:
            continue
        followers = [joint for joint in robot.joints if joint.mimic and joint.mimic.joint == i]
        if any(joint.kind is JointKind.PRISMATIC for joint in followers):
            continue
        rates = [joint.mimic.multiplier for joint in followers if joint.mimic]
        for n in range(1, MOST + 1):
            if all(_whole(n * rate) for rate in rates):
                found[robot.q_slices[i].start] = n
                break
    return found


def wrapped(angles: Array, limit: float, turns: int | None) -> Array:
    """The angles [rad], those beyond ±``limit`` within half of so many ``turns`` of zero.

    As they are where ``turns`` is None. An angle of any size is exact to the last bit or two.
    """
    if turns is None:
        return angles
    near = turns * np.arctan2(np.sin(angles / turns), np.cos(angles / turns))
    return np.where(np.abs(angles) > limit, near, angles)


def _whole(x: float) -> bool:
    return math.isclose(x, round(x), rel_tol=_WHOLE, abs_tol=_WHOLE)
