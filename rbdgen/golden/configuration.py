"""The configuration space: its neutral point and steps in its tangent space."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, JointKind, Robot
from .spatial import cross_matrix, transform_vector
from .states import positions, tangents
from .tree import quaternion_matrix, turn


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
