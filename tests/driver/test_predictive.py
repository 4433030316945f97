"""The controller in Python: views into its memory, warm starts, arguments that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen_host.driver.predictive import PredictiveController

STEPS = 8


@pytest.fixture(scope="module")
def controller() -> PredictiveController:
    made = PredictiveController("pendulum", STEPS)
    made.problem.step = 0.05
    made.problem.weight = 1.0
    made.problem.effort = 0.01
    made.problem.aim = np.repeat([0.5, 0.0], 2)
    return made


def test_what_is_set_is_what_is_solved(controller: PredictiveController) -> None:
    x = np.array([0.1, -0.2, 0.3, 0.0])
    first = controller.solve(x)
    plan = controller.plan
    assert first.converged and first.iterations > 1
    np.testing.assert_array_equal(plan.q[0], x[:2])
    np.testing.assert_allclose(plan.qd[1:], plan.qd[:-1] + 0.05 * plan.qdd, rtol=1e-12)
    assert plan.K.shape == (STEPS, 2, 4) and np.abs(plan.K).max() > 0.1
    cost = plan.cost
    again = controller.solve(x)  # which begins with the last plan
    assert again.iterations == 1 and plan.cost == pytest.approx(cost)
    near = x + 1e-3
    assert controller.solve(near).iterations <= first.iterations
    np.testing.assert_array_equal(plan.q[0], near[:2])


def test_fields_are_views(controller: PredictiveController) -> None:
    controller.problem.hold[0, 1] = 3.0
    assert controller.problem.hold[0, 1] == 3.0 and controller.problem.step == 0.05
    controller.problem.hold = 0.0
    assert not controller.problem.hold.any()
    assert "weight" in dir(controller.problem)
    with pytest.raises(AttributeError, match="no 'wieght'; did you mean \"weight\""):
        controller.problem.wieght = 1.0
    with pytest.raises(ValueError, match="broadcast"):
        controller.problem.aim = np.zeros(3)


@pytest.mark.parametrize("x", [np.zeros(3), np.zeros(5), np.zeros((2, 3))])
def test_a_state_of_another_size(controller: PredictiveController, x: np.ndarray) -> None:
    with pytest.raises(ValueError, match="x: expected 4 numbers of float64"):
        controller.solve(x)


def test_memory_that_is_none(controller: PredictiveController) -> None:
    solve = controller._module.solve
    for memory in (bytearray(8), bytearray(controller._module.size - 1)):
        with pytest.raises(ValueError, match="bytes from a multiple of 64 on"):
            solve(memory, np.zeros(4), 1, 1e-9, 1e-4)
    with pytest.raises(BufferError):
        solve(bytes(controller._module.size), np.zeros(4), 1, 1e-9, 1e-4)


def test_a_real_time_iteration_is_one_of_a_solve() -> None:
    """Its efforts are those of its plan; shifted by whole steps the plan is that of later."""
    made = PredictiveController("pendulum", STEPS)
    made.problem.step, made.problem.weight, made.problem.effort = 0.05, 1.0, 0.01
    x = np.array([0.1, -0.2, 0.3, 0.0])
    made.solve(x)
    near = x + 0.01
    assert made.prepare()
    tau = made.respond(near)
    made.advance(near)
    np.testing.assert_allclose(made.plan.tau[0], tau, rtol=1e-12)
    np.testing.assert_array_equal(made.plan.q[0], near[:2])
    cost, before = made.plan.cost, {name: getattr(made.plan, name).copy() for name in ("q", "qdd")}
    made.solve(near)
    assert made.plan.cost <= cost <= 1.001 * made.plan.cost
    made.advance(near)
    before = {name: getattr(made.plan, name).copy() for name in ("q", "qd", "qdd", "tau")}
    made.shift()
    for name, own in before.items():
        np.testing.assert_allclose(getattr(made.plan, name)[:-2], own[1:-1], atol=1e-12)
    half = made.plan.qdd.copy()
    made.shift(0.5)
    np.testing.assert_allclose(made.plan.qdd[0], (half[0] + half[1]) / 2)
