"""A step in the tangent space of q, which can be differentiated at zero."""

from __future__ import annotations

from typing import Any

from rbdgen.robot.model import JointKind, Robot

from .algebra import Array, cross, hat, identity, mm, mv

NEAR = 1e-2  # rad²: below, sines over their angles are by their series


def integrated(xp: Any, robot: Robot, q: Array, v: Array) -> Array:
    """q ⊕ v (nq, N) of q (nq, N), v (nv, N): the constant velocity v in unit time."""
    parts = []
    for i in robot.free:
        at, step = q[robot.q_slices[i]], v[robot.v_slices[i]]
        match robot.joints[i].kind:
            case JointKind.FLOATING:
                at = _floating(xp, at, step)
            case JointKind.PLANAR:
                at = _planar(xp, at, step)
            case _:
                at = at + step
        parts.append(at)
    return xp.concatenate(parts)


def tangent(xp: Any, robot: Robot, q: Array, dq: Array) -> Array:
    """v (nv, N) whose q ⊕ v changes q (nq, N) as ``dq`` does, in first order.

    Of a quaternion, or of a cosine and sine, the part of ``dq`` that changes the norm is left out.
    """
    parts = []
    for i in robot.free:
        at, change = q[robot.q_slices[i]], dq[robot.q_slices[i]]
        match robot.joints[i].kind:
            case JointKind.FLOATING:
                v, w, dp, dv, dw = at[3:6], at[6], change[:3], change[3:6], change[6]
                # Rᵀ ṗ, and the vector of 2 q* q̇
                turned = dp - 2 * cross(xp, v, w * dp - cross(xp, v, dp))
                parts += [turned, 2 * (w * dv - dw * v - cross(xp, v, dv))]
            case JointKind.PLANAR:
                (_, _, c, s), (dx, dy, dc, ds) = at, change
                parts.append(xp.stack([c * dx + s * dy, c * dy - s * dx, c * ds - s * dc]))
            case _:
                parts.append(change)
    return xp.concatenate(parts)


def _floating(xp: Any, q: Array, v: Array) -> Array:
    """SE(3): q (7, N) · exp(v), v (6, N) linear then angular."""
    u, w = v[:3], v[3:]
    t = (w * w).sum(0)
    _, a, b = _ratios(xp, t)
    # cos(θ/2), sin(θ/2)/θ
    half_sine, half_a, _ = _ratios(xp, t / 4)
    half_cosine, half_sine = 1 - half_a * t / 4, half_sine / 2
    W = hat(xp, w)
    x, y, z, s = q[3:]
    vector = xp.stack([x, y, z])
    R = identity(xp, 3, q) + 2 * s * hat(xp, vector) + 2 * mm(hat(xp, vector), hat(xp, vector))
    # p + R (u + (1 − cos θ)/θ² w × u + (θ − sin θ)/θ³ w × (w × u))
    p = q[:3] + mv(R, u + a * mv(W, u) + b * mv(W, mv(W, u)))
    # quaternion · (sin(θ/2)/θ w, cos(θ/2))
    turn = half_sine * w
    turned = xp.concatenate(
        [
            s * turn + half_cosine * vector + cross(xp, vector, turn),
            (s * half_cosine - (vector * turn).sum(0))[None],
        ]
    )
    return xp.concatenate([p, turned / xp.sqrt((turned * turned).sum(0))])


def _planar(xp: Any, q: Array, v: Array) -> Array:
    """SE(2): q (4, N) = x, y, cos θ, sin θ, times exp(v), v (3, N) = vx, vy, ω."""
    vx, vy, w = v
    sine, a, _ = _ratios(xp, w * w)
    c, s = q[2], q[3]
    x, y = sine * vx - a * w * vy, a * w * vx + sine * vy
    turned = xp.stack([c * xp.cos(w) - s * xp.sin(w), s * xp.cos(w) + c * xp.sin(w)])
    moved = xp.stack([q[0] + c * x - s * y, q[1] + s * x + c * y])
    return xp.concatenate([moved, turned / xp.sqrt((turned * turned).sum(0))])


def _ratios(xp: Any, t: Array) -> tuple[Array, ...]:
    """sin θ/θ, (1 − cos θ)/θ², (θ − sin θ)/θ³ of t = θ²."""
    near = t < NEAR
    safe = xp.where(near, 1.0, t)
    θ = xp.sqrt(safe)
    sine = xp.where(near, _series(t, 1, 6, 120, 5040, 362880), xp.sin(θ) / θ)
    a = xp.where(near, _series(t, 2, 24, 720, 40320, 3628800), (1 - xp.cos(θ)) / safe)
    b = xp.where(near, _series(t, 6, 120, 5040, 362880, 39916800), (θ - xp.sin(θ)) / (safe * θ))
    return sine, a, b


def _series(t: Array, *factorials: int) -> Array:
    """Σ (−t)^k / factorials[k]."""
    return sum(((-t) ** k / factorial for k, factorial in enumerate(factorials)), 0 * t)
