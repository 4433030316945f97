"""The textbook's iLQR: its recursion beside one linear system, its optimum beside slopes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rbdgen.design.loading import load
from rbdgen.golden import ilqr
from rbdgen.robot.model import Array, Robot
from tests.support.optimal_motions import drawn_problem

STEPS = 5


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load("pendulum")[1]


@pytest.fixture
def problem() -> ilqr.Problem:
    return drawn_problem(np.random.default_rng(1), STEPS, np.ones((4, 2)))


def positive(rng: np.random.Generator, *shape: int) -> Array:
    roots = rng.normal(size=(*shape, shape[-1]))
    return roots @ np.swapaxes(roots, -1, -2)


def test_gains_minimise_the_quadratic_problem() -> None:
    """The inputs of the recursion, from a state that is off, are those of one least-squares sum."""
    rng, m, n = np.random.default_rng(2), 3, 2
    F, B = rng.normal(size=(1, STEPS, m, m)), rng.normal(size=(1, STEPS, m, n))
    both = positive(rng, 1, STEPS, m + n)
    costs = ilqr.Quadratic(
        rng.normal(size=(1, STEPS, m)),
        rng.normal(size=(1, STEPS, n)),
        both[..., :m, :m],
        both[..., m:, :m],
        both[..., m:, m:],
        rng.normal(size=(1, m)),
        positive(rng, 1, m),
    )
    own = ilqr.backward(F, B, costs, np.zeros(1))
    start = rng.normal(size=m)
    # x_k = A_k start + C_k u of all inputs u
    A, C = [np.eye(m)], [np.zeros((m, STEPS * n))]
    for k in range(STEPS):
        inputs = np.zeros((n, STEPS * n))
        inputs[:, k * n : (k + 1) * n] = np.eye(n)
        A.append(F[0, k] @ A[-1])
        C.append(F[0, k] @ C[-1] + B[0, k] @ inputs)
    H, g = np.zeros((STEPS * n,) * 2), np.zeros(STEPS * n)
    for k in range(STEPS):
        at = slice(k * n, (k + 1) * n)
        pick = np.zeros((n, STEPS * n))
        pick[:, at] = np.eye(n)
        z, by = np.concatenate([A[k] @ start, np.zeros(n)]), np.concatenate([C[k], pick])
        H += by.T @ both[0, k] @ by
        g += by.T @ (both[0, k] @ z + np.concatenate([costs.x[0, k], costs.u[0, k]]))
    H += C[-1].T @ costs.last_xx[0] @ C[-1]
    g += C[-1].T @ (costs.last_xx[0] @ A[-1] @ start + costs.last_x[0])
    expected, x = -np.linalg.solve(H, g).reshape(STEPS, n), start
    for k in range(STEPS):
        u = own.k[0, k] + own.K[0, k] @ x
        np.testing.assert_allclose(u, expected[k], rtol=1e-8)
        x = F[0, k] @ x + B[0, k] @ u


def test_slopes_are_those_of_the_cost(robot: Robot, problem: ilqr.Problem) -> None:
    """Of the last input and state, whose effect on the cost is theirs alone."""
    rng = np.random.default_rng(3)
    start, qdd = rng.uniform(-1, 1, 4), rng.uniform(-3, 3, (STEPS, 2))
    plan = ilqr.start(robot, problem, start, qdd)
    F, B, costs = ilqr.quadratic(robot, problem, plan)
    # of all inputs: what the adjoint of the linearised steps carries back
    v, slopes = costs.last_x, np.zeros_like(qdd)
    for k in reversed(range(STEPS)):
        slopes[k] = costs.u[k] + B[k].T @ v
        v = costs.x[k] + F[k].T @ v
    for at in np.ndindex(qdd.shape):
        ends = []
        for sign in (1, -1):
            moved = qdd.copy()
            moved[at] += sign * 1e-5
            ends.append(ilqr.start(robot, problem, start, moved).cost)
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(slopes[at], rel=1e-6, abs=1e-8)


def test_no_motion_nearby_costs_less(robot: Robot, problem: ilqr.Problem) -> None:
    rng = np.random.default_rng(4)
    first = ilqr.start(robot, problem, rng.uniform(-1, 1, 4), np.zeros((STEPS, 2)))
    problem = replace(problem, limits=None)
    best = ilqr.solve(robot, problem, first, tolerance=1e-13)
    assert best.iterations > 2
    for _ in range(20):
        other = best.qdd + rng.normal(size=best.qdd.shape) * 1e-3
        assert ilqr.start(robot, problem, best.x[0], other).cost > best.cost


def test_a_step_that_does_not_help_is_regularised(robot: Robot, problem: ilqr.Problem) -> None:
    """From far off whole steps overshoot; the cost falls in each iteration that moves."""
    start = np.array([2.0, -2.0, 15.0, -20.0])
    plan = ilqr.start(robot, problem, start, np.zeros((STEPS, 2)))
    costs = [plan.cost]
    for _ in range(8):
        plan = ilqr.solve(robot, problem, replace(plan), iterations=1, slack=np.inf)
        costs.append(plan.cost)
    assert np.all(np.diff(costs) <= 0) and costs[-1] < 0.9 * costs[0]


def test_limits_are_kept(robot: Robot, problem: ilqr.Problem) -> None:
    """Multipliers have the sign of what presses, and the penalty is what they cost."""
    high = np.array([[9.0, 9.0], [1.0, 1.0], [9.0, 9.0], [2.0, 1.0]])
    limits = ilqr.Limits(-high, high, np.array([0.0, 5.0, 0.0, 5.0]))
    problem = replace(problem, limits=limits, hold=np.full((STEPS, 2), 4.0))
    first = ilqr.start(robot, problem, np.zeros(4), np.zeros((STEPS, 2)))
    best = ilqr.solve(robot, problem, first, 500, 1e-14, 1e-6)
    assert best.iterations < 500
    assert np.abs(best.tau).max() <= np.abs(high[3]).max() + 1e-6
    assert np.any(best.excess > 0) and np.abs(problem.beyond(best.numbers)).max() <= 1e-6
    active = best.excess[:-1, 6:] != 0
    near = np.isclose(np.abs(best.tau), high[3], atol=1e-5)
    np.testing.assert_array_equal(active & ~near, False)
