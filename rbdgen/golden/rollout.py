"""Numerical integration of forward dynamics, the effort held over all steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..robot.model import Robot
from .aba import aba

Array = NDArray[np.float64]
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
