"""Batches of states: random ones, checked inputs, and steps in the configuration space.

Inputs are checked once, and then worked through a few states at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.angles import endless
from ..robot.model import Array, Joint, JointKind, Robot
from .tree import cross_matrix, quaternion_matrix, transform_vector, transpose_times, turn


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

    Floating and planar velocities are in the moving body frame. Quaternions and (cos, sin) of any
    length but zero stand for their directions, and come out normalised. Raises ValueError on wrong
    shapes.
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


def difference(robot: Robot, q0: ArrayLike, q1: ArrayLike) -> Array:
    """q1 ⊖ q0 (N, nv): the smallest constant velocity that leads from q0 to q1 (N, nq) in unit
    time, as Pinocchio's ``difference(q0, q1)``; `integrate` goes back.

    An angle without limits turns the shorter way, by at most π, and so do floating and planar
    bodies; of half a turn either direction may come out. Quaternions and (cos, sin) of any length
    but zero stand for their directions. Raises ValueError on wrong shapes.
    """
    q0, q1 = positions(robot, q0), positions(robot, q1)
    if len(q0) != len(q1):
        raise ValueError(f"q0 has {len(q0)} states, and q1 {len(q1)}")
    result, round_and_round = np.empty((len(q0), robot.nv)), endless(robot)
    for i in robot.free:
        own = robot.q_slices[i]
        a, b = q0[:, own], q1[:, own]
        match robot.joints[i].kind:
            case JointKind.FLOATING:
                step = _difference_floating(a, b)
            case JointKind.PLANAR:
                step = _difference_planar(a, b)
            case _:
                step = b - a
                if own.start in round_and_round:
                    step -= 2 * np.pi * np.round(step / (2 * np.pi))
        result[:, robot.v_slices[i]] = step
    return result


def _directions(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _integrate_floating(q: Array, v: Array) -> Array:
    """SE(3): q (N, 7) · exp(v), v (N, 6) linear then angular."""
    u, w = v[:, :3], v[:, 3:]
    angle = np.linalg.norm(w, axis=1, keepdims=True)
    W = cross_matrix(w)
    A = (np.sinc(angle / (2 * np.pi)) ** 2 / 2)[..., None]
    B = _cubic_sinc(angle)[..., None]
    # p + R (1 + (1 − cos θ)/θ² ŵ + (θ − sin θ)/θ³ ŵ²) u
    slide = transform_vector(np.eye(3) + A * W + B * W @ W, u)
    start = _directions(q[:, 3:])
    p = q[:, :3] + transform_vector(quaternion_matrix(start), slide)
    # quaternion · (sin(θ/2)/θ w, cos(θ/2))
    step = np.hstack([np.sinc(angle / (2 * np.pi)) / 2 * w, np.cos(angle / 2)])
    return np.hstack([p, _directions(_product(start, step))])


def _difference_floating(q0: Array, q1: Array) -> Array:
    """SE(3): log(q0⁻¹ · q1) (N, 6) of q0, q1 (N, 7), linear then angular; θ from 0 to π."""
    start = _directions(q0[:, 3:])
    relative = _product(start * [-1, -1, -1, 1], _directions(q1[:, 3:]))
    relative *= np.where(relative[:, 3:] < 0, -1, 1)  # of a quaternion and its antipode the nearer
    vector, cosine = relative[:, :3], relative[:, 3:]
    sine = np.linalg.norm(vector, axis=1, keepdims=True)
    angle = 2 * np.arctan2(sine, cosine)
    # ω = θ / sin(θ/2) · vector
    w = np.where(sine > 0, angle / np.where(sine > 0, sine, 1), 2) * vector
    # (1 − ŵ/2 + (1 − θ/2 cot(θ/2))/θ² ŵ²) Rᵀ (p1 − p0)
    d = transpose_times(quaternion_matrix(start), q1[:, :3] - q0[:, :3])
    small = angle < 0.1
    t, safe = angle**2, np.where(small, 1, angle)
    series = 1 / 12 + t / 720 + t**2 / 30240 + t**3 / 1209600 + t**4 / 47900160
    whole = (1 - safe / 2 * cosine / np.where(small, 1, sine)) / safe**2
    W, D = cross_matrix(w), np.where(small, series, whole)[..., None]
    return np.hstack([transform_vector(np.eye(3) - W / 2 + D * W @ W, d), w])


def _product(a: Array, b: Array) -> Array:
    """Products (N, 4) of quaternions in the order x, y, z, w."""
    (u, s), (v, c) = ((own[:, :3], own[:, 3:]) for own in (a, b))
    return np.hstack([s * v + c * u + np.cross(u, v), s * c - np.sum(u * v, axis=1, keepdims=True)])


def _integrate_planar(q: Array, v: Array) -> Array:
    """SE(2): q (N, 4) = x, y, cos θ, sin θ, times exp(v), v (N, 3) = vx, vy, ω."""
    z = np.array([0.0, 0.0, 1.0])
    w = v[:, 2:]
    A, B = np.sinc(w / np.pi), w * np.sinc(w / (2 * np.pi)) ** 2 / 2
    # p + R(θ) [ sin ω/ω  −(1 − cos ω)/ω ;  (1 − cos ω)/ω  sin ω/ω ] (vx, vy)
    vx, vy = v[:, :1], v[:, 1:2]
    slide = np.hstack([A * vx - B * vy, B * vx + A * vy])
    R = turn(z, *_directions(q[:, 2:]).T)[:, :2, :2]
    turned = transform_vector(R, np.hstack([np.cos(w), np.sin(w)]))
    return np.hstack([q[:, :2] + transform_vector(R, slide), _directions(turned)])


def _difference_planar(q0: Array, q1: Array) -> Array:
    """SE(2): log(q0⁻¹ · q1) (N, 3) of q0, q1 (N, 4) = x, y, cos θ, sin θ; ω from -π to π."""
    z = np.array([0.0, 0.0, 1.0])
    R = turn(z, *_directions(q0[:, 2:]).T)[:, :2, :2]
    (cosine, sine), (x, y) = (
        transpose_times(R, own).T for own in (_directions(q1[:, 2:]), q1[:, :2] - q0[:, :2])
    )
    w = np.arctan2(sine, cosine)
    # [ ω/2 cot(ω/2)  ω/2 ;  −ω/2  ω/2 cot(ω/2) ] Rᵀ (p1 − p0)
    A, B = np.cos(w / 2) / np.sinc(w / (2 * np.pi)), w / 2
    return np.column_stack([A * x + B * y, A * y - B * x, w])


def _cubic_sinc(angle: Array) -> Array:
    """(θ − sin θ) / θ³, by its series where the difference would cancel."""
    small = np.abs(angle) < 0.1
    safe = np.where(small, 1.0, angle)
    t = angle**2
    series = 1 / 6 - t / 120 + t**2 / 5040 - t**3 / 362880 + t**4 / 39916800
    return np.where(small, series, (safe - np.sin(safe)) / safe**3)
