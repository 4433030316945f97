"""A step of Runge and Kutta's method with its sensitivity, of many sampling points at once.

Trajectory optimisation needs it at every point of a trajectory. Each point takes four gradients of
forward dynamics, one after the other; the points are independent. So the points take turns: while
one waits for its result the others keep the accelerator busy (Dadu-RBD, section V-C3, Fig. 13).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rbdgen.api.folder import InputError

from .dynamics import Dynamics
from .futures import CALLS
from .words import Array

ASKED = "computeABADerivatives"
# Where the k-th slope is taken, along the one before, and its weight in the step, in steps.
PLACES = (0.0, 1 / 2, 1 / 2, 1.0)
WEIGHTS = (1 / 6, 1 / 3, 1 / 3, 1 / 6)


@dataclass(frozen=True, eq=False)
class Step:
    """The states x₊ = f(x, τ) after a step from N points, x = (q, v), and their derivatives.

    ``states``: q and v, each (N, nv), at which the four slopes were taken.
    """

    q: Array  # (N, nv)
    v: Array  # (N, nv)
    A: Array  # (N, 2 nv, 2 nv) ∂x₊/∂x
    B: Array  # (N, 2 nv, nv) ∂x₊/∂τ
    states: tuple[tuple[Array, Array], ...]


def rk4_sensitivity(
    dynamics: Dynamics, q: ArrayLike, v: ArrayLike, tau: ArrayLike, h: float
) -> Step:
    """A step of h seconds of the classical Runge-Kutta rule, with constant τ, from each of N
    points.

    q, v, tau (N, nv). In each of four rounds, the gradients at all points run together, by the
    functions dfd and minv. The host then computes the next points in float64.

    Raises InputError for arrays of another shape, a robot whose q is not as long as its v, or an
    accelerator that lacks a function.
    """
    if dynamics.nq != dynamics.nv:
        raise InputError(
            f"rk4_sensitivity: q has {dynamics.nq} entries and v {dynamics.nv}; it is for robots "
            "on a fixed base with revolute and prismatic joints only"
        )
    if lacking := {*CALLS[ASKED].functions} - set(dynamics.functions):
        raise InputError(f"rk4_sensitivity: the design lacks {', '.join(sorted(lacking))}")
    nv = dynamics.nv
    given = [np.asarray(array, np.float64) for array in (q, v, tau)]
    n = len(given[0]) if given[0].ndim else 0
    if any(array.shape != (n, nv) for array in given):
        shapes = ", ".join(str(array.shape) for array in given)
        raise InputError(f"rk4_sensitivity: q, v, tau are {shapes}; each must be (N, {nv})")
    x, effort = np.concatenate(given[:2], axis=1), given[2]
    # of the slope before: itself, ∂/∂x and ∂/∂τ
    slope, by_x, by_tau = (np.zeros((n, 2 * nv, *k)) for k in ((), (2 * nv,), (nv,)))
    unit = np.broadcast_to(np.eye(2 * nv), by_x.shape)
    after, A, B = x.copy(), unit.copy(), by_tau.copy()
    states = []
    for place, weight in zip(PLACES, WEIGHTS, strict=True):
        at = x + place * h * slope
        states.append((at[:, :nv], at[:, nv:]))
        found = dynamics.submit(ASKED, *states[-1], effort)
        found.result()  # says what overflowed
        arrays = found.arrays
        # ẋ = (v, q̈(q, v, τ))
        F = np.zeros_like(by_x)
        F[:, :nv, nv:] = np.eye(nv)
        F[:, nv:, :nv], F[:, nv:, nv:] = arrays["dqdd_dq"], arrays["dqdd_dqd"]
        G = np.zeros_like(by_tau)
        G[:, nv:] = arrays["Minv"]
        slope = np.concatenate([at[:, nv:], arrays["qdd"]], axis=1)
        # k = F(x + c h k₋, τ): ∂k/∂x = F (1 + c h ∂k₋/∂x), ∂k/∂τ = F c h ∂k₋/∂τ + G
        by_x = F @ (unit + place * h * by_x)
        by_tau = place * h * F @ by_tau + G
        after += weight * h * slope
        A += weight * h * by_x
        B += weight * h * by_tau
    return Step(after[:, :nv], after[:, nv:], A, B, tuple(states))
