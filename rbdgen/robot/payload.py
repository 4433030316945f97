"""The payload of a link: a tool, as ten numbers in the link's frame.

They are those of Pinocchio's ``toDynamicParameters``: mass m [kg], first moment m c [kg m], and the
inertia about the frame's origin [kg m²], its entries xx, xy, yy, xz, yz and zz.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .frame_lookup import frame_of
from .model import Array, Inertia, Robot, RobotError

PAYLOAD = "payload"  # the array of them
ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # of the inertia
SIZE = 4 + len(ENTRIES)
ROUNDING = 1e-6  # of a moment of inertia, against the largest


def payload_of(inertia: Inertia) -> Array:
    """The ten numbers (10,) of a body, of its own frame."""
    return np.array([inertia.mass, *inertia.h, *(inertia.J[at] for at in ENTRIES)])


def inertia_of(payload: ArrayLike) -> Inertia:
    """The body of ten numbers (10,)."""
    m, *rest = np.asarray(payload, dtype=np.float64)
    J = np.zeros((3, 3))
    for (i, j), entry in zip(ENTRIES, rest[3:], strict=True):
        J[i, j] = J[j, i] = entry
    return Inertia(m, np.array(rest[:3]), J)


def checked_body(mass: float, com: ArrayLike, inertia: ArrayLike) -> Inertia:
    """The body of that mass, centre of mass (3,) and inertia (3, 3) about it.

    RobotError for what no body has: other shapes, a negative mass, an inertia that is not
    symmetric, or whose largest moment is more than the two others together.
    """
    c, J = np.asarray(com, dtype=np.float64), np.asarray(inertia, dtype=np.float64)
    if np.shape(mass) or c.shape != (3,) or J.shape != (3, 3):
        raise RobotError(
            f"mass {np.shape(mass)}, com {c.shape}, inertia {J.shape}; expected a number, "
            "(3,) and (3, 3)"
        )
    if not np.isfinite([mass, *c, *J.ravel()]).all() or mass < 0:
        raise RobotError("numbers that are finite, and a mass that is not below 0")
    slack = ROUNDING * float(np.abs(J).max())
    if np.abs(J - J.T).max() > slack:
        raise RobotError("the inertia is not symmetric")
    moments = np.linalg.eigvalsh(J)
    if moments[0] < -slack or moments[2] > moments[0] + moments[1] + slack:
        raise RobotError(
            f"no body has the moments of inertia {', '.join(f'{x:g}' for x in moments)}; "
            "none is below 0, and none above the two others together"
        )
    return Inertia.about_com(float(mass), c, J)


def carrying(robot: Robot, link: str, payload: ArrayLike) -> Robot:
    """The robot with a payload (10,) on ``link``; RobotError where no joint moves that."""
    i, pose = frame_of(robot, link, PAYLOAD)
    joints = list(robot.joints)
    joints[i] = replace(joints[i], inertia=joints[i].inertia + inertia_of(payload).seen_from(pose))
    return robot.with_joints(joints)
