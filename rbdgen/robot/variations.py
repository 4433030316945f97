"""Robots that differ from one in a parameter, or in all: others of the same model.

Parameters are those that a file has, of links without fixed ones and of joints about z: a body's
mass, its centre of mass and its inertia about that; a joint's place, its angles but multiples of
90°; rotor, damping and friction. What is zero stays so.

The payload of a link: a tool, as ten numbers in the link's frame.

They are those of Pinocchio's ``toDynamicParameters``: mass m [kg], first moment m c [kg m], and the
inertia about the frame's origin [kg m²], its entries xx, xy, yy, xz, yz and zz.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from .angles import off_quarters, rot_x, rot_z
from .frames import frame_of
from .model import Array, Inertia, Joint, Robot, RobotError, Transform

NONE = 1e-9  # of the largest of its kind: less is zero, or a right angle
Change = Callable[[float], Joint]  # by a part of the parameter, or of the largest of its vector


def variations(robot: Robot, tolerance: float) -> Iterator[Robot]:
    """Robots with one parameter larger by ``tolerance``, for each parameter that is not zero."""
    for i, joint in enumerate(robot.joints):
        for change in changes(joint):
            yield robot.with_joints([*robot.joints[:i], change(tolerance), *robot.joints[i + 1 :]])


def count(robot: Robot) -> int:
    """The number of parameters that `variations` changes."""
    return sum(len(list(changes(joint))) for joint in robot.joints)


def varied(robot: Robot, deviations: Array) -> Robot:
    """The robot with each parameter off by its own part (P,), in the order of `variations`."""
    joints, left = [], iter(deviations.tolist())
    for joint in robot.joints:
        for k in range(len(list(changes(joint)))):
            joint = list(changes(joint))[k](next(left))
        joints.append(joint)
    return robot.with_joints(joints)


def changes(joint: Joint) -> Iterator[Change]:
    """The possible deviations of a joint and its body."""
    inertia, place = joint.inertia, joint.placement.translation
    if inertia.mass:
        yield partial(_heavier, joint)
        c = inertia.h / inertia.mass
        yield from (partial(_moved_com, joint, step) for step in _steps(c))
        about = inertia.J - _steiner(inertia.mass, c)
        size = float(np.abs(about).max())
        for i, j in ENTRIES:
            if abs(about[i, j]) > NONE * size:
                bump = np.zeros((3, 3))
                # a product of inertia by so much of what the two moments allow
                bump[i, j] = bump[j, i] = math.sqrt(abs(about[i, i] * about[j, j]))
                yield partial(_with_moment, joint, bump)
    yield from (partial(_moved, joint, step) for step in _steps(place))
    for axis, angle in zip(np.eye(3), _rpy(joint.placement.rotation), strict=True):
        if off_quarters(float(angle)) > NONE:
            yield partial(_turned, joint, axis)
    for name in ("armature", "damping", "friction"):
        if getattr(joint.drivetrain, name):
            yield partial(_driven, joint, name)


def _steps(v: Array) -> list[Array]:
    """Along each axis along which a vector goes, as far as its longest entry."""
    size = float(np.abs(v).max())
    return [size * axis for axis, x in zip(np.eye(3), v, strict=True) if abs(x) > NONE * size]


def _heavier(joint: Joint, by: float) -> Joint:
    """Its centre of mass and its inertia about that are as they were."""
    mass, c, about = _body(joint)
    return _with_body(joint, (1 + by) * mass, c, about)


def _moved_com(joint: Joint, step: Array, by: float) -> Joint:
    mass, c, about = _body(joint)
    return _with_body(joint, mass, c + by * step, about)


def _with_moment(joint: Joint, bump: Array, by: float) -> Joint:
    mass, c, about = _body(joint)
    return _with_body(joint, mass, c, about + by * bump)


def _moved(joint: Joint, step: Array, by: float) -> Joint:
    R, place = joint.placement.rotation, joint.placement.translation
    return replace(joint, placement=Transform(R, place + by * step))


def _turned(joint: Joint, axis: Array, by: float) -> Joint:
    R = _from_rpy(_rpy(joint.placement.rotation) + by * axis)
    return replace(joint, placement=Transform(R, joint.placement.translation))


def _driven(joint: Joint, name: str, by: float) -> Joint:
    more = {name: (1 + by) * getattr(joint.drivetrain, name)}
    return replace(joint, drivetrain=replace(joint.drivetrain, **more))


def _body(joint: Joint) -> tuple[float, Array, Array]:
    """Mass, centre of mass, inertia about it."""
    inertia = joint.inertia
    c = inertia.h / inertia.mass
    return inertia.mass, c, inertia.J - _steiner(inertia.mass, c)


def _with_body(joint: Joint, mass: float, com: Array, about: Array) -> Joint:
    return replace(joint, inertia=Inertia(mass, mass * com, about + _steiner(mass, com)))


def _steiner(mass: float, c: Array) -> Array:
    return np.asarray(mass * (c @ c * np.eye(3) - np.outer(c, c)))


def _rpy(R: Array) -> Array:
    """Angles with R = Rz(yaw) Ry(pitch) Rx(roll), in the order roll, pitch, yaw."""
    level = math.hypot(R[0, 0], R[1, 0])
    pitch = math.atan2(-R[2, 0], level)
    if level < NONE:  # straight up or down: roll and yaw are one angle
        return np.array([0.0, pitch, math.atan2(-R[0, 1], R[1, 1])])
    return np.array([math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])])


def _from_rpy(angles: Array) -> Array:
    roll, pitch, yaw = map(float, angles)
    # Ry(b) = Rx(-90°) Rz(b) Rx(90°)
    about_y = rot_x(-math.pi / 2) @ rot_z(pitch) @ rot_x(math.pi / 2)
    return np.asarray(rot_z(yaw) @ about_y @ rot_x(roll))


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
