"""Batches of states.

Random states for tests, range analysis and measurements.

The inputs of a batch: checked once at the door, then worked through a few states at a time.

The configuration space: its neutral point and steps in its tangent space.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Joint, JointKind, Robot
from .tree import cross_matrix, quaternion_matrix, transform_vector, turn


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


# Numbers that one chunk of states may hold in intermediate results (64 MB).
WORKSPACE = 2**23


def positions(robot: Robot, q: ArrayLike) -> Array:
    """``q`` as float64 (N, nq); ValueError on any other shape."""
    array = np.asarray(q, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != robot.nq:
        raise ValueError(f"q has shape {array.shape}; {robot.name} needs (N, {robot.nq})")
    return array


def tangents(robot: Robot, n: int, **vectors: ArrayLike) -> list[Array]:
    """Vectors such as qd, qdd, tau as float64 (n, nv); ValueError on any other shape."""
    arrays = []
    for name, vector in vectors.items():
        array = np.asarray(vector, dtype=np.float64)
        if array.shape != (n, robot.nv):
            raise ValueError(
                f"{name} has shape {array.shape}; {robot.name} with q of {n} states "
                f"needs ({n}, {robot.nv})"
            )
        arrays.append(array)
    return arrays


def external_forces(robot: Robot, n: int, f_ext: ArrayLike | None) -> Array:
    """``f_ext`` as float64 (n, moving bodies, 6), zeros for None; ValueError on other shapes."""
    shape = (n, len(robot.moving), 6)
    if f_ext is None:
        return np.broadcast_to(0.0, shape)
    array = np.asarray(f_ext, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(
            f"f_ext has shape {array.shape}; {robot.name} with q of {n} states needs {shape}: "
            "one force and moment for each moving body"
        )
    return array


def in_chunks(
    kernel: Callable[..., tuple[Array, ...]], robot: Robot, numbers: int, *arrays: Array
) -> tuple[Array, ...]:
    """``kernel(robot, *arrays)``, called on as many states at a time as fit the workspace.

    ``numbers`` is what the kernel holds for one state. States do not interact, so the result does
    not depend on where the chunks end.
    """
    n = len(arrays[0])
    step = max(1, WORKSPACE // max(1, numbers))
    parts = [
        kernel(robot, *(a[start : start + step] for a in arrays))
        for start in range(0, max(n, 1), step)
    ]
    return tuple(np.concatenate(pieces) for pieces in zip(*parts, strict=True))


def neutral(robot: Robot) -> Array:
    """q (nq,) with every free joint at zero: angle, distance and turn."""
    q = np.zeros(robot.nq)
    for i in robot.free:
        match robot.joints[i].kind:
            case JointKind.FLOATING:
                q[robot.q_slices[i]][6] = 1.0
            case JointKind.PLANAR:
                q[robot.q_slices[i]][2] = 1.0
    return q


def integrate(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """q ⊕ v (N, nq): the configuration reached from q (N, nq) by the constant velocity v (N, nv)
    in unit time. Gradients ∂/∂q of this package are taken along it.

    Floating and planar velocities are in the moving body frame; quaternions and (cos, sin) come
    out normalised. Raises ValueError on wrong shapes.
    """
    q = positions(robot, q)
    (v,) = tangents(robot, len(q), v=v)
    result = np.empty_like(q)
    for i in robot.free:
        at, step = q[:, robot.q_slices[i]], v[:, robot.v_slices[i]]
        match robot.joints[i].kind:
            case JointKind.FLOATING:
                moved = _integrate_floating(at, step)
            case JointKind.PLANAR:
                moved = _integrate_planar(at, step)
            case _:
                moved = at + step
        result[:, robot.q_slices[i]] = moved
    return result


def _integrate_floating(q: Array, v: Array) -> Array:
    """SE(3): q (N, 7) · exp(v), v (N, 6) linear then angular."""
    u, w = v[:, :3], v[:, 3:]
    angle = np.linalg.norm(w, axis=1, keepdims=True)
    W = cross_matrix(w)
    A = (np.sinc(angle / (2 * np.pi)) ** 2 / 2)[..., None]
    B = _cubic_sinc(angle)[..., None]
    # p + R (1 + (1 − cos θ)/θ² ŵ + (θ − sin θ)/θ³ ŵ²) u
    slide = transform_vector(np.eye(3) + A * W + B * W @ W, u)
    p = q[:, :3] + transform_vector(quaternion_matrix(q[:, 3:]), slide)
    # quaternion · (sin(θ/2)/θ w, cos(θ/2))
    x, c = np.sinc(angle / (2 * np.pi)) / 2 * w, np.cos(angle / 2)
    vector, scalar = q[:, 3:6], q[:, 6:]
    turned = np.hstack(
        [
            scalar * x + c * vector + np.cross(vector, x),
            scalar * c - np.sum(vector * x, axis=1, keepdims=True),
        ]
    )
    return np.hstack([p, turned / np.linalg.norm(turned, axis=1, keepdims=True)])


def _integrate_planar(q: Array, v: Array) -> Array:
    """SE(2): q (N, 4) = x, y, cos θ, sin θ, times exp(v), v (N, 3) = vx, vy, ω."""
    z = np.array([0.0, 0.0, 1.0])
    w = v[:, 2:]
    A, B = np.sinc(w / np.pi), w * np.sinc(w / (2 * np.pi)) ** 2 / 2
    # p + R(θ) [ sin ω/ω  −(1 − cos ω)/ω ;  (1 − cos ω)/ω  sin ω/ω ] (vx, vy)
    vx, vy = v[:, :1], v[:, 1:2]
    slide = np.hstack([A * vx - B * vy, B * vx + A * vy])
    R = turn(z, q[:, 2], q[:, 3])[:, :2, :2]
    turned = transform_vector(R, np.hstack([np.cos(w), np.sin(w)]))
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    return np.hstack([q[:, :2] + transform_vector(R, slide), turned])


def _cubic_sinc(angle: Array) -> Array:
    """(θ − sin θ) / θ³, by its series where the difference would cancel."""
    small = np.abs(angle) < 0.1
    safe = np.where(small, 1.0, angle)
    t = angle**2
    series = 1 / 6 - t / 120 + t**2 / 5040 - t**3 / 362880 + t**4 / 39916800
    return np.where(small, series, (safe - np.sin(safe)) / safe**3)
