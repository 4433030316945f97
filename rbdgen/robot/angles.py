"""Rotations about x and z, z-x-z angles, angles near multiples of 90°, and whole turns."""

from __future__ import annotations

import math

import numpy as np

from .model import Array, JointKind, Robot

NOISE = 1e-13  # rounding noise of float64, relative to a robot's largest length or inertia


def rotation_to_z(axis: Array) -> Array:
    """A rotation whose third column is ``axis``; a signed permutation where axis allows it."""
    near = int(np.argmax(np.abs(axis)))
    if abs(abs(axis[near]) - 1) < 1e-15:
        z = np.zeros(3)
        z[near] = np.sign(axis[near])
        x = np.eye(3)[0 if near != 0 else 1]
    else:
        z = axis / np.linalg.norm(axis)
        x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], z)
        x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def plane_rotation(normal: Array) -> Array:
    """The smallest rotation that takes z to ``normal``, which is how a planar joint's x and y lie
    in its plane; half a turn about x where normal is -z."""
    x, y, z = normal
    if z < -1 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    # 1 + û + û² / (1 + z),  u = e_z × normal = (-y, x, 0)
    u = np.array([[0.0, 0.0, x], [0.0, 0.0, y], [-x, -y, 0.0]])
    return np.eye(3) + u + u @ u / (1 + z)


def rot_x(angle: float) -> Array:
    c, s = quarter(math.cos(angle)), quarter(math.sin(angle))
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def rot_z(angle: float) -> Array:
    c, s = quarter(math.cos(angle)), quarter(math.sin(angle))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def quarter(x: float) -> float:
    """A sine or cosine without the rounding noise of multiples of 90°."""
    return float(round(x)) if abs(x - round(x)) < 1e-15 else x


def off_quarters(angle: float) -> float:
    """The distance of the angle from the nearest multiple of 90°."""
    return abs(angle - round(angle / (math.pi / 2)) * (math.pi / 2))


def zxz(rotation: Array) -> tuple[float, float, float]:
    """Angles (γ, α, β) with rotation = Rz(γ) Rx(α) Rz(β); β = 0 where z stays on ±z."""
    sine = math.hypot(rotation[0, 2], rotation[1, 2])
    alpha = math.atan2(sine, rotation[2, 2])
    if sine < NOISE:
        return math.atan2(rotation[1, 0], rotation[0, 0]), 0.0 if alpha < 1 else math.pi, 0.0
    return (
        math.atan2(rotation[0, 2], -rotation[1, 2]),
        alpha,
        math.atan2(rotation[2, 0], rotation[2, 1]),
    )


def snapped(rotation: Array, tolerance: float) -> tuple[Array, float]:
    """The rotation with its z-x-z angles on multiples of 90° where they are near; the change."""
    gamma, alpha, beta = zxz(rotation)
    if min(alpha, math.pi - alpha) <= tolerance:  # z stays on z: only γ ± β is an angle
        alpha = 0.0 if alpha < 1 else math.pi
        gamma, beta = math.atan2(rotation[1, 0], rotation[0, 0]), 0.0
    angles = []
    for angle in (gamma, alpha, beta):
        nearest = round(angle / (math.pi / 2)) * math.pi / 2
        angles.append(nearest if abs(angle - nearest) <= tolerance else angle)
    result = rot_z(angles[0]) @ rot_x(angles[1]) @ rot_z(angles[2])
    change = float(np.abs(result - rotation).max())
    # Rebuilding from angles costs an ulp or two: keep the original where nothing was snapped.
    return (result, change) if change <= 2 * tolerance and change > 4e-16 else (rotation, 0.0)


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


def endless(robot: Robot) -> frozenset[int]:
    """Coordinates of q that are angles without limits, after whose turn the robot is the same:
    those of URDF's continuous joints."""
    limits = {robot.q_slices[i].start: robot.joints[i].limits for i in robot.free}
    return frozenset(
        at
        for at, turns in periods(robot).items()
        if turns == 1 and math.isinf(limits[at].upper - limits[at].lower)
    )


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
