"""A step of time, and what it depends on: A = ∂x₊/∂x, B = ∂x₊/∂τ, x = (q, q̇).

Integration holds the effort over all steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..robot.model import Array, Robot
from .articulated import aba
from .derivatives import aba_derivatives
from .states import integrate, positions, tangents
from .tree import motion_cross

# Of a joint of up to six coordinates: where (linear, angular) has them, and (angular, linear).
PLACES = {1: (), 3: (3, 4, 2), 6: (3, 4, 5, 0, 1, 2)}


class Sensitivity(NamedTuple):
    """x₊ = (q_next (N, nq), qd_next (N, nv)), A (N, 2 nv, 2 nv) and B (N, 2 nv, nv), of which the
    first nv rows and columns are q's, along its tangent space."""

    q_next: Array
    qd_next: Array
    A: Array
    B: Array


def euler_sensitivity(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    h: float,
    f_ext: ArrayLike | None = None,
) -> Sensitivity:
    """q̇₊ = q̇ + h q̈ and q₊ = q ⊕ h q̇₊, from q (N, nq), q̇, τ (N, nv), h [s], and derivatives.

    Raises ValueError on wrong shapes, RobotError where the mass matrix is singular.
    """
    q = positions(robot, q)
    qd, tau = tangents(robot, len(q), qd=qd, tau=tau)
    after = qd + h * aba(robot, q, qd, tau, f_ext)
    slopes = aba_derivatives(robot, q, qd, tau, f_ext)
    nv = robot.nv
    B = np.concatenate([np.zeros_like(slopes.Minv), h * slopes.Minv], axis=1)
    A = np.concatenate([np.zeros_like(B), np.zeros_like(B)], axis=2)
    A[:, nv:, :nv], A[:, nv:, nv:] = h * slopes.dqdd_dq, np.eye(nv) + h * slopes.dqdd_dqd
    by_q, by_step = _slopes(robot, h * after)
    # δq₊ = ∂(q ⊕ w)/∂q δq + ∂(q ⊕ w)/∂w h δq̇₊
    A[:, :nv] = h * by_step @ A[:, nv:]
    A[:, :nv, :nv] += by_q
    B[:, :nv] = h * by_step @ B[:, nv:]
    return Sensitivity(integrate(robot, q, h * after), after, A, B)


def rk4_sensitivity(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    h: float,
    f_ext: ArrayLike | None = None,
) -> Sensitivity:
    """The classical rule of Runge and Kutta, of points q ⊕ w along steps w from the first one.

    From q (N, nq), q̇, τ (N, nv), h [s]. Of joints that turn or slide it is the rule of
    `rk4_step`; floating and planar ones have the steps of their points in q's tangent space, as
    crocoddyl's ``IntegratedActionModelRK``. Raises as `euler_sensitivity`.
    """
    q = positions(robot, q)
    qd, tau = tangents(robot, len(q), qd=qd, tau=tau)
    nv, n = robot.nv, len(q)
    first = np.zeros((n, 2 * nv, 3 * nv))  # of (q, q̇) by (q, q̇, τ)
    first[:, : 2 * nv, : 2 * nv] = np.eye(2 * nv)
    point, by = (q, qd), first
    rates, slopes = np.zeros((n, 2 * nv)), np.zeros_like(first)

    def moved(far: float, rate: Array, slope: Array) -> tuple[tuple[Array, Array], Array]:
        w = far * rate[:, :nv]
        by_q, by_step = _slopes(robot, w)
        after = first + far * slope
        after[:, :nv] = by_q @ first[:, :nv] + far * by_step @ slope[:, :nv]
        return (integrate(robot, q, w), qd + far * rate[:, nv:]), after

    for weight, far in ((1, h / 2), (2, h / 2), (2, h), (1, 0.0)):
        own = aba_derivatives(robot, *point, tau, f_ext)
        rate = np.hstack([point[1], aba(robot, *point, tau, f_ext)])
        slope = by[:, nv:], own.dqdd_dq @ by[:, :nv] + own.dqdd_dqd @ by[:, nv:]
        slope[1][:, :, 2 * nv :] += own.Minv
        both = np.concatenate(slope, axis=1)
        rates, slopes = rates + weight * rate, slopes + weight * both
        if far:
            point, by = moved(far, rate, both)
    (q_next, qd_next), by = moved(h / 6, rates, slopes)
    return Sensitivity(q_next, qd_next, by[:, :, : 2 * nv], by[:, :, 2 * nv :])


def _slopes(robot: Robot, w: Array) -> tuple[Array, Array]:
    """∂(q ⊕ w)/∂q and ∂(q ⊕ w)/∂w, each (N, nv, nv), for w (N, nv); they do not depend on q.

    exp(−ad w), and its integral Σ (−ad w)ᵏ / (k + 1)! (Solà et al. 2018, §II.F and eq. 179).
    """
    from scipy.linalg import expm  # late: a quarter of a second

    by_q, by_step = np.tile(np.eye(robot.nv), (2, len(w), 1, 1))
    for i in robot.free:
        own = robot.v_slices[i]
        if places := PLACES[own.stop - own.start]:
            twist = np.zeros((len(w), 6))
            twist[:, places] = w[:, own]
            at = np.ix_(range(len(w)), places, places)
            # exp [ −ad  1 ;  0  0 ] has both in its first row
            both = np.zeros((len(w), 12, 12))
            both[:, :6, :6], both[:, :6, 6:] = -motion_cross(twist), np.eye(6)
            found = expm(both)
            by_q[:, own, own] = found[:, :6, :6][at]
            by_step[:, own, own] = found[:, :6, 6:][at]
    return by_q, by_step


State = tuple[Array, Array]
Rates = Callable[[Array, Array], Array]


def rollout(
    robot: Robot,
    rule: str,
    state: State,
    tau: Array,
    h: Array,
    steps: NDArray[np.int64],
    f_ext: Array | None = None,
) -> State:
    """(q, q̇) (N, nv) after ``steps`` (N,) steps of ``h`` (N,) seconds.

    ``rule``: "euler", semi-implicit, or "rk4", the classical rule. ``tau`` (N, nv) [N·m, N] and
    ``f_ext`` (as `aba` takes it) do not change. For joints that turn or slide; angles are not
    brought within a turn.
    """
    step = {"euler": euler_step, "rk4": rk4_step}[rule]
    q, v = (np.array(x, np.float64) for x in state)
    for k in range(int(np.max(steps, initial=0))):
        after = step(lambda q, v: aba(robot, q, v, tau, f_ext), (q, v), h[:, None])
        going = (steps > k)[:, None]
        q, v = np.where(going, after[0], q), np.where(going, after[1], v)
    return q, v


def euler_step(rates: Rates, state: State, h: Array) -> State:
    """One step of semi-implicit Euler: the new velocity moves the position."""
    q, v = state
    v = v + h * rates(q, v)
    return q + h * v, v


def rk4_step(rates: Rates, state: State, h: Array) -> State:
    """One step of the classical Runge-Kutta rule."""
    q, v = state
    a1 = rates(q, v)
    v2 = v + h / 2 * a1
    a2 = rates(q + h / 2 * v, v2)
    v3 = v + h / 2 * a2
    a3 = rates(q + h / 2 * v2, v3)
    v4 = v + h * a3
    a4 = rates(q + h * v3, v4)
    return q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
