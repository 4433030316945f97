"""Optimal motions of an arm, as problems of the generated controller and of crocoddyl's."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rbdgen.design.loading import filed
from rbdgen.golden.ilqr import Problem
from rbdgen_host.driver.predictive import PredictiveController

from .trajectories import arm

Array = np.ndarray[Any, np.dtype[np.float64]]
ITERATIONS = 300


class Solved(NamedTuple):
    """A solve: its iterations, the cost, and seconds of CPU time."""

    iterations: int
    cost: float
    took: float


Solve = Callable[[float], Solved]  # to a tolerance


def tasks(robot: Any, reaches: Sequence[int]) -> dict[str, tuple[Array, Problem]]:
    """A figure eight and reaches by seed, in 63 steps: the state where each begins, and what is
    wanted."""
    found, own = {}, arm(robot, reaches)
    n = own.joints
    for name, start, aim, weight, hold in zip(
        own.names, own.start, own.aims, own.weights, own.efforts, strict=True
    ):
        efforts = np.full(n, own.effort)
        found[name] = start, Problem(own.step, aim, weight, hold, efforts, np.zeros(n))
    return found


def reach(n: int, knots: int) -> tuple[Array, Problem]:
    """All joints go from 0 to 0.6 rad in steps of 20 ms, and rest there."""
    h = 0.02
    weight = np.full((knots + 1, 2 * n), 0.1 * h)
    weight[-1] = 100.0
    aim = np.tile(np.repeat([0.6, 0.0], n), (knots + 1, 1))
    hold = np.zeros((knots, n))
    return np.zeros(2 * n), Problem(h, aim, weight, hold, np.full(n, 1e-4 * h), np.zeros(n))


def ours(controller: PredictiveController, start: Array, problem: Problem) -> Solve:
    """A solve by the controller, from rest where the problem begins."""
    for name in ("step", "aim", "weight", "hold", "effort", "acceleration"):
        setattr(controller.problem, name, getattr(problem, name))

    def solve(tolerance: float) -> Solved:
        for name in ("q", "qd", "qdd", "K"):
            setattr(controller.plan, name, 0.0)
        begin = time.process_time()
        report = controller.solve(start, ITERATIONS, tolerance)
        took = time.process_time() - begin
        return Solved(report.iterations, controller.plan.cost, took)

    return solve


def crocoddyls(robot: str, start: Array, problem: Problem, inverse: bool = False) -> Solve:
    """The same by crocoddyl's FDDP, on one thread.

    The input is τ, or q̈ of its ``inverse`` dynamics, of which τ is a residual. The search begins
    with the states and inputs that hold the arm where it begins.
    """
    import crocoddyl
    import pinocchio

    state = crocoddyl.StateMultibody(pinocchio.buildModelFromUrdf(filed(robot).robot))
    driven, nu = crocoddyl.ActuationModelFull(state), state.nv

    def model(k: int, h: float) -> Any:
        total, scale = crocoddyl.CostModelSum(state, nu), 1 / h if h else 1.0
        near = crocoddyl.ResidualModelState(state, problem.aim[k], nu)
        weighted = crocoddyl.ActivationModelWeightedQuad(scale * problem.weight[k])
        total.addCost("state", crocoddyl.CostModelResidual(state, weighted, near), 1.0)
        if h:
            hold = problem.hold[k]
            effort = (
                crocoddyl.ResidualModelJointEffort(state, driven, hold, nu)
                if inverse
                else crocoddyl.ResidualModelControl(state, hold)
            )
            weighted = crocoddyl.ActivationModelWeightedQuad(scale * problem.effort)
            total.addCost("effort", crocoddyl.CostModelResidual(state, weighted, effort), 1.0)
        of = "DifferentialActionModelFreeInvDynamics" if inverse else None
        kind = getattr(crocoddyl, of or "DifferentialActionModelFreeFwdDynamics")
        return crocoddyl.IntegratedActionModelEuler(kind(state, driven, total), h)

    knots = len(problem.hold)
    running = [model(k, problem.step) for k in range(knots)]
    shooting = crocoddyl.ShootingProblem(start, running, model(knots, 0.0))
    shooting.nthreads = 1
    solver = crocoddyl.SolverFDDP(shooting)
    inputs = [np.zeros(nu)] * knots if inverse else list(_held(state, start, knots))

    def solve(tolerance: float) -> Solved:
        solver.th_stop = tolerance
        states = [start] * (knots + 1)
        begin = time.process_time()
        solver.solve(states, inputs, ITERATIONS)
        return Solved(solver.iter + 1, solver.cost, time.process_time() - begin)

    return solve


def _held(state: Any, start: Array, knots: int) -> Array:
    """The efforts (knots, n) that hold the arm still."""
    import pinocchio

    model, n = state.pinocchio, state.nv
    still = np.zeros(n)
    tau = pinocchio.rnea(model, model.createData(), start[:n], still, still)
    return np.tile(tau, (knots, 1))
