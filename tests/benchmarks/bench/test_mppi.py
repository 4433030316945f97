"""Sampling efforts around a plan, followed by forward dynamics."""

from __future__ import annotations

import numpy as np

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.robot.model import Array
from rbdgen_benchmarks.bench.mppi import Sampler, closed_loop

SMALL = Sampler(samples=64, horizon=10, step=0.02)


def test_costs_are_those_of_rollouts() -> None:
    """One effort, held: the golden model's semi-implicit Euler."""
    _, robot = load("pendulum")
    q, v, aim = np.array([0.3, -0.2]), np.array([0.1, 0.4]), np.array([1.0, 0.5])
    tau = np.array([0.7, -0.3])
    efforts = np.tile(tau, (1, SMALL.horizon, 1))

    def accelerations(q: Array, v: Array, tau: Array) -> Array:
        return golden.aba(robot, q, v, tau)

    h = np.array([SMALL.step])
    expected = 0.0
    for k in range(SMALL.horizon):
        steps = np.array([k + 1])
        at, moving = golden.rollout(robot, "euler", (q[None], v[None]), tau[None], h, steps)
        expected += ((at - aim) ** 2).sum() + 0.02 * (moving**2).sum()
    found = SMALL.costs(accelerations, q, v, efforts, aim)
    np.testing.assert_allclose(found, [expected], rtol=1e-12)


def test_the_plan_is_one_of_the_samples_and_the_best_weigh_most() -> None:
    rng, plan = np.random.default_rng(2), np.zeros((SMALL.horizon, 2))
    efforts = SMALL.efforts(rng, np.eye(2), plan)
    assert efforts.shape == (64, SMALL.horizon, 2)
    np.testing.assert_array_equal(efforts[0], plan)
    np.testing.assert_array_equal(efforts[:, 0], efforts[:, SMALL.held - 1])
    costs = np.full(64, 1e6)
    costs[7] = 0.0
    np.testing.assert_allclose(SMALL.better(efforts, costs), efforts[7], atol=1e-12)


def test_a_pendulum_gets_nearer() -> None:
    _, robot = load("pendulum")

    def accelerations(q: Array, v: Array, tau: Array) -> Array:
        return golden.aba(robot, q, v, tau)

    reached = closed_loop(robot, accelerations, SMALL, 40)
    assert reached.after < 0.2 * reached.before
