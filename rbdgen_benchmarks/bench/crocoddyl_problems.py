"""Problems of crocoddyl, over its own dynamics and over ours, solved by FDDP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import crocoddyl
import numpy as np
import pinocchio

from rbdgen.design.loading import filed
from rbdgen.system.quoting import Progress
from rbdgen_host.driver import Dynamics
from rbdgen_host.driver.crocoddyl_model import contact_dynamics, forward_dynamics

OWN = "crocoddyl's own"
FUNCTIONS = ("fd", "dfd", "minv")
KNOTS, STEP, MOST = 25, 0.02, 30
LEGS = {"lf": 1, "lh": -1, "rf": 1, "rh": -1}  # which way a knee bends
Action = Callable[[Any], Any]
Solves = tuple[int, Callable[[], Any], Callable[[], Any]]  # knots, ours, the peer's


def _cost(state: Any, terms: list[tuple[str, Any, Any, float]], nu: int) -> Any:
    total = crocoddyl.CostModelSum(state, nu)
    for name, activation, residual, weight in terms:
        given = (activation, residual) if activation else (residual,)
        total.addCost(name, crocoddyl.CostModelResidual(state, *given), weight)
    return total


def _solve(
    start: Any, action: Action, along: Any, last: Any, hold: Any, knots: int = KNOTS
) -> Callable[[], Any]:
    """A solve by FDDP, from the same state at all knots and the efforts ``hold``, on one thread."""
    running = crocoddyl.IntegratedActionModelEuler(action(along), STEP)
    end = crocoddyl.IntegratedActionModelEuler(action(last), 0.0)
    problem = crocoddyl.ShootingProblem(start, [running] * knots, end)
    problem.nthreads = 1
    solver = crocoddyl.SolverFDDP(problem)

    def solve() -> Any:
        solver.solve([start] * (knots + 1), [hold] * knots, MOST)
        return solver

    return solve


def _free(state: Any, costs: Any, robot: str, progress: Progress, **choices: Any) -> Solves:
    """Solves of free dynamics; ``costs``: of a running knot, and of the last one."""
    start, along, last = costs
    floats = state.nq != state.nv
    driven = (crocoddyl.ActuationModelFloatingBase if floats else crocoddyl.ActuationModelFull)(
        state
    )
    dynamics = Dynamics(robot, "cpp", functions=FUNCTIONS, progress=progress, **choices)
    hold = np.zeros(driven.nu)

    def ours(own: Any) -> Any:
        return forward_dynamics(state, own, dynamics, progress=progress)

    def theirs(own: Any) -> Any:
        return crocoddyl.DifferentialActionModelFreeFwdDynamics(state, driven, own)

    solves = [_solve(start, action, along, last, hold) for action in (ours, theirs)]
    return KNOTS, solves[0], solves[1]


def _arm() -> tuple[Any, Any]:
    state = crocoddyl.StateMultibody(pinocchio.buildModelFromUrdf(filed("iiwa14").robot))
    return state, crocoddyl.ResidualModelControl(state)


def reach(progress: Progress) -> Solves:
    """An arm goes to a state in half a second."""
    state, effort = _arm()
    goal = np.r_[np.full(state.nv, 0.6), np.zeros(state.nv)]
    near = crocoddyl.ResidualModelState(state, goal)
    along = [("goal", None, near, 0.1), ("effort", None, effort, 1e-4)]
    costs = (_cost(state, own, state.nv) for own in (along, [("goal", None, near, 100.0)]))
    return _free(state, (state.zero(), *costs), "iiwa14", progress)


def place(progress: Progress) -> Solves:
    """An arm brings its flange to a pose in half a second."""
    state, effort = _arm()
    model, data = state.pinocchio, state.pinocchio.createData()
    pinocchio.framesForwardKinematics(model, data, np.full(model.nq, 0.6))
    tip = model.nframes - 1
    pose = crocoddyl.ResidualModelFramePlacement(state, tip, data.oMf[tip].copy())
    still = crocoddyl.ActivationModelWeightedQuad(np.repeat([0.01, 1.0], state.nv))
    near = crocoddyl.ResidualModelState(state, state.zero())

    def cost(along: float, effort_too: float) -> Any:
        terms = [("pose", None, pose, 10 * along), ("still", still, near, 0.1 * along)]
        terms += [("effort", None, effort, effort_too)] * (effort_too > 0)
        return _cost(state, terms, state.nv)

    costs = cost(0.1, 1e-4), cost(100.0, 0.0)
    return _free(state, (state.zero(), *costs), "iiwa14", progress)


def flight(progress: Progress) -> Solves:
    """A quadruped in the air turns by moving its legs."""
    model = pinocchio.buildModelFromUrdf(filed("hyq").robot, pinocchio.JointModelFreeFlyer())
    state = crocoddyl.StateMultibody(model)
    nu = model.nv - 6
    rng = np.random.default_rng(1)
    by = np.r_[np.zeros(3), 0.05 * rng.uniform(-1, 1, 3), rng.uniform(-0.3, 0.3, nu)]
    start = state.integrate(state.zero(), np.r_[0, 0, 0, np.zeros(3), np.zeros(nu + model.nv)])
    goal = state.integrate(start, np.r_[by, np.zeros(model.nv)])
    near = crocoddyl.ResidualModelState(state, goal, nu)
    weights = np.r_[np.zeros(3), np.ones(3 + nu), np.zeros(3), np.full(3 + nu, 0.1)]
    apart = crocoddyl.ActivationModelWeightedQuad(weights)
    effort = crocoddyl.ResidualModelControl(state, nu)
    along = [("goal", apart, near, 0.1), ("effort", None, effort, 1e-4)]
    costs = (_cost(state, own, nu) for own in (along, [("goal", apart, near, 100.0)]))
    return _free(state, (start, *costs), "hyq", progress, base="floating")


def stance(progress: Progress) -> Solves:
    """A quadruped on four feet sinks by five centimetres; friction cones bound the forces."""
    model = pinocchio.buildModelFromUrdf(filed("hyq").robot, pinocchio.JointModelFreeFlyer())
    state, data = crocoddyl.StateMultibody(model), model.createData()
    driven, q = crocoddyl.ActuationModelFloatingBase(state), pinocchio.neutral(model)
    for leg, sign in LEGS.items():
        first = model.joints[model.getJointId(f"{leg}_hip_abduction")].idx_q
        q[first : first + 3] = -0.1, sign * 0.75, -sign * 1.5
    pinocchio.framesForwardKinematics(model, data, q)
    goal = pinocchio.centerOfMass(model, data, q) - [0.0, 0.0, 0.05]
    start, nu = np.r_[q, np.zeros(model.nv)], driven.nu
    contacts, feet = crocoddyl.ContactModelMultiple(state, nu), []
    for leg in LEGS:
        foot = model.getFrameId(f"{leg}_foot")
        at, axes, gains = data.oMf[foot].translation.copy(), pinocchio.LOCAL, np.array([0.0, 50.0])
        contacts.addContact(leg, crocoddyl.ContactModel3D(state, foot, at, axes, nu, gains))
        cone = crocoddyl.FrictionCone(np.eye(3), 0.7, 4, False)
        bounds = crocoddyl.ActivationBounds(cone.lb, cone.ub)
        slips = crocoddyl.ResidualModelContactFrictionCone(state, foot, cone, nu)
        feet.append((leg, crocoddyl.ActivationModelQuadraticBarrier(bounds), slips, 1e-4))
    sunk = crocoddyl.ResidualModelCoMPosition(state, goal, nu)
    near = crocoddyl.ResidualModelState(state, start, nu)
    effort = crocoddyl.ResidualModelControl(state, nu)
    along = [("sunk", None, sunk, 10.0), ("near", None, near, 0.01), ("effort", None, effort, 1e-5)]
    last = [("sunk", None, sunk, 1e4), ("near", None, near, 10.0)]
    costs = [_cost(state, own, nu) for own in ([*along, *feet], last)]
    shins = tuple(f"{leg}_shin" for leg in LEGS)
    choices: dict[str, Any] = {"base": "floating", "external_forces": shins}
    dynamics = Dynamics("hyq", "cpp", functions=FUNCTIONS, progress=progress, **choices)

    def ours(own: Any) -> Any:
        return contact_dynamics(state, contacts, own, dynamics, progress=progress)

    def theirs(own: Any) -> Any:
        return crocoddyl.DifferentialActionModelContactFwdDynamics(
            state, driven, contacts, own, 0.0, True
        )

    standing = theirs(costs[0])
    hold = standing.quasiStatic(standing.createData(), start)
    solves = [_solve(start, action, costs[0], costs[1], hold) for action in (ours, theirs)]
    return KNOTS, solves[0], solves[1]


PROBLEMS = {
    "iiwa14 reaches a state": reach,
    "iiwa14 places its flange": place,
    "hyq turns in flight": flight,
    "hyq sinks on its feet": stance,
}
