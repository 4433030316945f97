"""Steps of time and their derivatives against finite differences, Pinocchio and rollouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.robot.model import Array, Robot
from tests.support.random_robots import ALL_KINDS, random_robot

H = 0.02
EPSILON = 1e-6


def drawn(robot: Robot, seed: int) -> tuple[Array, Array, Array]:
    q, qd, qdd = golden.random_state(robot, 1, np.random.default_rng(seed), 5.0, 20.0)
    return q, qd, golden.rnea(robot, q, qd, qdd)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_pinocchio(base: str) -> None:
    """Its own integrate and dIntegrate, of its own forward dynamics."""
    design, robot = load("iiwa14", base=base)
    root = [pin.JointModelFreeFlyer()] if base == "floating" else []
    model = pin.buildModelFromUrdf(design.robot, *root)
    q, qd, tau = (array[0] for array in drawn(robot, 1))
    data, nv = model.createData(), model.nv
    pin.computeABADerivatives(model, data, q, qd, tau)
    after = qd + H * data.ddq
    w = H * after
    by_q = pin.dIntegrate(model, q, w, pin.ArgumentPosition.ARG0)
    by_step = pin.dIntegrate(model, q, w, pin.ArgumentPosition.ARG1)
    Minv = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    low = H * np.hstack([data.ddq_dq, data.ddq_dv]) + np.eye(nv, 2 * nv, nv)
    high = H * by_step @ low + np.hstack([by_q, np.zeros((nv, nv))])
    expected = golden.Sensitivity(
        pin.integrate(model, q, w),
        after,
        np.vstack([high, low]),
        np.vstack([H * by_step @ (H * Minv), H * Minv]),
    )
    found = golden.euler_sensitivity(robot, q[None], qd[None], tau[None], H)
    for ours, theirs in zip(found, expected, strict=True):
        scale = max(np.abs(theirs).max(), 1.0)
        np.testing.assert_allclose(ours[0], theirs, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("seed", range(2))
def test_runge_kutta_is_that_of_rollouts(seed: int) -> None:
    """Of joints that turn or slide; and half a step is off by a sixteenth."""
    robot = random_robot(np.random.default_rng(seed + 20), 4)
    q, qd, tau = drawn(robot, seed)

    def after(h: float, steps: int) -> Array:
        found = golden.rollout(robot, "rk4", (q, qd), tau, np.array([h]), np.array([steps]))
        return np.hstack(found)

    found = golden.rk4_sensitivity(robot, q, qd, tau, H)
    np.testing.assert_allclose(np.hstack(found[:2]), after(H, 1), rtol=0, atol=1e-12)
    exact = after(1e-3, 16)
    whole, halves = (np.abs(after(0.016 / n, n) - exact).max() for n in (1, 2))
    assert 8 < whole / halves < 32


@pytest.mark.parametrize("rule", [golden.euler_sensitivity, golden.rk4_sensitivity])
@pytest.mark.parametrize("seed", range(3))
def test_finite_differences(seed: int, rule: Any) -> None:
    """Along the tangent space, before and after; a force on every body."""
    robot = random_robot(np.random.default_rng(seed + 10), 3, kinds=ALL_KINDS, floating_base=True)
    q, qd, tau = drawn(robot, seed)
    nv = robot.nv
    f_ext = np.random.default_rng(seed).normal(0.0, 5.0, (1, len(robot.moving), 6))
    off = EPSILON * np.concatenate([np.eye(3 * nv), -np.eye(3 * nv), np.zeros((1, 3 * nv))])

    at = golden.integrate(robot, np.repeat(q, len(off), 0), off[:, :nv])
    moving, effort = qd + off[:, nv : 2 * nv], tau + off[:, 2 * nv :]
    forces = np.repeat(f_ext, len(off), 0)
    found = rule(robot, at, moving, effort, H, forces)
    slopes = np.concatenate([found.A[-1], found.B[-1]], axis=1)
    # q₊ ⊕ A δ is where q₊ goes
    there = np.repeat(found.q_next[-1:], len(off), 0)
    near = golden.integrate(robot, there, off @ slopes[:nv].T)
    np.testing.assert_allclose(found.q_next, near, rtol=0, atol=1e-9)
    plus, minus = found.qd_next[: 3 * nv], found.qd_next[3 * nv : -1]
    scale = np.abs(slopes[nv:]).max()
    np.testing.assert_allclose(
        (plus - minus).T / (2 * EPSILON), slopes[nv:], rtol=0, atol=1e-6 * scale
    )
