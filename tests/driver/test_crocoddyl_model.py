"""Crocoddyl's solvers over our dynamics, beside the same solvers over Pinocchio's."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api import InputError
from rbdgen.design.loading import load
from rbdgen_host.driver import Dynamics
from rbdgen_host.driver.defaults import DynamicsWarning

pinocchio = pytest.importorskip("pinocchio")
crocoddyl = pytest.importorskip("crocoddyl")
from rbdgen_host.driver.crocoddyl_model import ForwardDynamics, forward_dynamics  # noqa: E402

ROBOTS = Path(__file__).parents[2] / "robots"
FUNCTIONS = ("fd", "dfd", "minv")
NODES = 25
Action = Callable[[Any], Any]


def state_of(robot: str) -> Any:
    return crocoddyl.StateMultibody(pinocchio.buildModelFromUrdf(str(ROBOTS / f"{robot}.urdf")))


def costs(state: Any, goal: np.ndarray, along: float, effort: float) -> Any:
    total = crocoddyl.CostModelSum(state)
    weights = crocoddyl.ActivationModelWeightedQuad(np.repeat([1.0, 0.1], state.nv))
    near = crocoddyl.ResidualModelState(state, goal)
    total.addCost("goal", crocoddyl.CostModelResidual(state, weights, near), along)
    efforts = crocoddyl.ResidualModelControl(state)
    total.addCost("effort", crocoddyl.CostModelResidual(state, efforts), effort)
    return total


def reach(state: Any, action: Action, solver: Any = None, most: int = 40) -> list[float]:
    """Costs after each iteration of a seeded reach of half a second; of another solver than FDDP
    how many iterations it took, and the cost at the end."""
    rng = np.random.default_rng(1)
    still = np.zeros(state.nv)
    start = state.integrate(state.zero(), np.r_[rng.uniform(-0.8, 0.8, state.nv), still])
    goal = state.integrate(start, np.r_[rng.uniform(0.3, 0.8, state.nv), still])
    running = action(costs(state, goal, 0.1, 1e-4))
    last = action(costs(state, goal, 100.0, 0.0))
    problem = crocoddyl.ShootingProblem(
        start,
        [crocoddyl.IntegratedActionModelEuler(running, 0.02)] * NODES,
        crocoddyl.IntegratedActionModelEuler(last, 0.0),
    )
    made = (solver or crocoddyl.SolverFDDP)(problem)
    log = crocoddyl.CallbackLogger()
    if solver is None:
        made.setCallbacks([log])
    model = state.pinocchio
    hold = pinocchio.rnea(model, model.createData(), start[: state.nq], still, still)
    made.solve([start] * (NODES + 1), [hold] * NODES, most, False)
    return list(log.costs) or [made.iter, made.cost]


def crocoddyls(state: Any) -> Action:
    """Its own model; skipped where its wheel was built for another Pinocchio than is installed."""
    driven = crocoddyl.ActuationModelFull(state)

    def action(own: Any) -> Any:
        return crocoddyl.DifferentialActionModelFreeFwdDynamics(state, driven, own)

    if not own_dynamics_is_right(state):
        pytest.skip("crocoddyl's own dynamics is wrong with this Pinocchio: pip install pin==4.0.0")
    return action


def own_dynamics_is_right(state: Any = None) -> bool:
    """Whether crocoddyl's wheel was built for the Pinocchio that is installed."""
    state = state or state_of("gantry")
    driven = crocoddyl.ActuationModelFull(state)
    x, u = state.integrate(state.zero(), np.full(2 * state.nv, 0.3)), np.ones(state.nv)
    costs = crocoddyl.CostModelSum(state)
    model = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, driven, costs)
    data = model.createData()
    model.calc(data, x, u)
    model, q, v = state.pinocchio, x[: state.nq], x[state.nq :]
    return np.allclose(data.xout, pinocchio.aba(model, model.createData(), q, v, u))


def near(found: list[float], best: float) -> int:
    """Iterations until the cost is within 0.1 % of the best."""
    return next(k for k, cost in enumerate(found) if cost <= 1.001 * best)


def test_values_and_gradients() -> None:
    """Beside crocoddyl's own model, and its finite differences of ours; a frame's velocity, too."""
    state = state_of("gantry")
    x, goal = (state.integrate(state.zero(), np.full(2 * state.nv, own)) for own in (0.4, 0.1))
    own = costs(state, goal, 1.0, 0.1)
    tip, still = state.pinocchio.nframes - 1, pinocchio.Motion.Zero()
    speed = crocoddyl.ResidualModelFrameVelocity(state, tip, still, pinocchio.LOCAL)
    own.addCost("speed", crocoddyl.CostModelResidual(state, speed), 0.5)
    ours = ForwardDynamics(state, own, Dynamics("gantry", "golden", functions=FUNCTIONS))
    models = [ours, crocoddyls(state)(own), crocoddyl.DifferentialActionModelNumDiff(ours, True)]
    u = np.random.default_rng(2).uniform(-1, 1, state.nv)
    found = []
    for model in models:
        data = model.createData()
        model.calc(data, x, u)
        model.calcDiff(data, x, u)
        found.append((data.cost, data.xout, data.Fx, data.Fu, data.Lx, data.Lu))
    for a, b, c in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(a, c, rtol=1e-4, atol=1e-4)
    data = ours.createData()
    ours.calc(data, x)
    ours.calcDiff(data, x)
    assert data.cost > 0
    assert (ours.calls > 2, ours.cycles) == (True, 0)


SWINGER = Path(__file__).parents[1] / "robots" / "swinger.urdf"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake: apt-get install cmake")
@pytest.mark.parametrize("reads", ["nothing", "placements", "velocities", "a constraint"])
@pytest.mark.parametrize("other", [False, True], ids=["driven", "other actuation"])
def test_in_cpp(reads: str, other: bool) -> None:
    """Beside crocoddyl's own, of a robot whose base floats with joints without end, whatever the
    residuals read of Pinocchio's data."""
    if not own_dynamics_is_right():
        pytest.skip("crocoddyl's own dynamics is wrong with this Pinocchio: pip install pin==4.0.0")
    model = pinocchio.buildModelFromUrdf(str(SWINGER), pinocchio.JointModelFreeFlyer())
    state = crocoddyl.StateMultibody(model)
    driven = crocoddyl.ActuationModelFloatingBase(state)
    if other:
        driven = crocoddyl.ActuationSquashingModel(driven, smooth(driven.nu), driven.nu)
    rng = np.random.default_rng(3)
    own, link = crocoddyl.CostModelSum(state, driven.nu), model.getFrameId("lower")
    effort = crocoddyl.ResidualModelControl(state, driven.nu)
    own.addCost("effort", crocoddyl.CostModelResidual(state, effort), 0.1)
    place = crocoddyl.ResidualModelFramePlacement(state, link, pinocchio.SE3.Random(), driven.nu)
    still = pinocchio.Motion.Zero()
    speed = crocoddyl.ResidualModelFrameVelocity(state, link, still, pinocchio.LOCAL, driven.nu)
    if reads != "nothing":
        residual = {"velocities": speed}.get(reads, place)
        own.addCost("frame", crocoddyl.CostModelResidual(state, residual), 1.0)
    constraints = None
    if reads == "a constraint":
        constraints = crocoddyl.ConstraintModelManager(state, driven.nu)
        constraints.addConstraint("slow", crocoddyl.ConstraintModelResidual(state, speed))
    dynamics = Dynamics(str(SWINGER), "cpp", functions=FUNCTIONS, base="floating")
    ours = forward_dynamics(state, own, dynamics, actuation=driven, constraints=constraints)
    given = (constraints,) if constraints else ()
    theirs = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, driven, own, *given)
    assert isinstance(ours, crocoddyl.DifferentialActionModelFreeFwdDynamics)
    for _ in range(3):
        x = state.integrate(state.zero(), rng.uniform(-1, 1, 2 * state.nv))
        u = rng.uniform(-1, 1, driven.nu)
        found = []
        for action in (ours, theirs):
            data = action.createData()
            action.calc(data, x, u)
            action.calcDiff(data, x, u)
            arrays = [data.cost, data.xout, data.Fx, data.Fu, data.Lx, data.Lu, data.Lxx]
            found.append([np.array(array) for array in (*arrays, data.h, data.Hx)])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def smooth(nu: int) -> Any:
    return crocoddyl.SquashingModelSmoothSat(np.full(nu, -2.0), np.full(nu, 2.0), nu)


def test_models_that_cpp_has_none_of() -> None:
    """Of other back ends the model is in Python; so it is, with a warning, where the functions in
    C++ take what crocoddyl does not have."""
    state = state_of("gantry")
    own = crocoddyl.CostModelSum(state)
    golden = Dynamics("gantry", "golden", functions=FUNCTIONS)
    assert type(forward_dynamics(state, own, golden)) is ForwardDynamics
    with pytest.raises(InputError, match="this one is in Python"):
        forward_dynamics(state, own, golden, actuation=crocoddyl.ActuationModelFull(state))
    loaded = Dynamics("gantry", "cpp", functions=FUNCTIONS, payload="tool")
    with pytest.warns(DynamicsWarning, match="calls Python for each state: dfd of this design"):
        assert type(forward_dynamics(state, own, loaded)) is ForwardDynamics


def test_what_does_not_agree_is_refused() -> None:
    state = state_of("gantry")
    own = crocoddyl.CostModelSum(state)
    with pytest.raises(InputError, match="dynamics lacks minv"):
        ForwardDynamics(state, own, Dynamics("gantry", "golden", functions=("fd", "dfd")))
    with pytest.raises(InputError, match="are not the robot's: joint_1"):
        ForwardDynamics(state, own, Dynamics("iiwa14", "golden", functions=FUNCTIONS))


@pytest.mark.slow
def test_an_arm_reaches_in_as_many_iterations() -> None:
    """C++: the same costs; words of 18 bits: as many iterations to 0.1 % of the optimum, ± 2."""
    state = state_of("iiwa14")
    theirs = reach(state, crocoddyls(state))
    compiled = Dynamics("iiwa14", "cpp", functions=FUNCTIONS)
    ours = reach(state, lambda own: forward_dynamics(state, own, compiled))
    assert abs(len(ours) - len(theirs)) <= 1
    np.testing.assert_allclose(ours[:5], theirs[:5], rtol=1e-9)
    words = Dynamics(
        "iiwa14",
        "integer",
        functions=FUNCTIONS,
        velocity=12,
        acceleration=500,
        effort=300,
        outside="saturate",
        on_overflow="ignore",
        target="xcup",
        ii=8,
    )
    chip = reach(state, lambda own: ForwardDynamics(state, own, words), most=6)
    for name, found in (("crocoddyl's own", theirs), ("cpp", ours), ("integer", chip)):
        steps = len(found) - 1
        print(f"{name}: {steps} iterations, {near(found, theirs[-1])} to 0.1 %, {found[-1]:.6f}")
    assert abs(near(chip, theirs[-1]) - near(theirs, theirs[-1])) <= 2


@pytest.mark.slow
@pytest.mark.rtl
def test_the_hardware_in_the_loop() -> None:
    """Every cost is that of the integer model, to the last bit; cycles are counted."""
    state = state_of("gantry")
    found = {}
    for backend in ("integer", "rtl"):
        dynamics = Dynamics(
            "gantry", backend, functions=FUNCTIONS, on_overflow="ignore", outside="saturate", ii=8
        )
        models: list[ForwardDynamics] = []

        def action(own: Any, dynamics: Dynamics = dynamics, models: Any = models) -> Any:
            models.append(ForwardDynamics(state, own, dynamics))
            return models[-1]

        found[backend] = reach(state, action, most=3)
        assert (models[0].cycles > 0) == (backend == "rtl")
    assert found["integer"] == found["rtl"]
    assert found["rtl"][-1] < found["rtl"][0]


@pytest.mark.slow
def test_mim_solvers() -> None:
    mim_solvers = pytest.importorskip("mim_solvers")
    state = state_of("gantry")
    dynamics = Dynamics("gantry", "cpp", functions=FUNCTIONS)
    solver = mim_solvers.SolverSQP
    found = [
        reach(state, action, solver)
        for action in (crocoddyls(state), lambda own: forward_dynamics(state, own, dynamics))
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_step_of_runge_and_kutta(base: str) -> None:
    """Where it leads and B are crocoddyl's. So is A of a fixed base; of one that floats it is the
    difference quotient of crocoddyl's step, from which its own A is 1e-5 off."""
    design, robot = load("iiwa14", base=base)
    root = [pinocchio.JointModelFreeFlyer()] if base == "floating" else []
    state = crocoddyl.StateMultibody(pinocchio.buildModelFromUrdf(design.robot, *root))
    running = crocoddyls(state)(crocoddyl.CostModelSum(state))
    action = crocoddyl.IntegratedActionModelRK(running, crocoddyl.RKType.four, 0.02)
    q, qd, qdd = golden.random_state(robot, 1, np.random.default_rng(4), 5.0, 20.0)
    tau = golden.rnea(robot, q, qd, qdd)
    own = golden.rk4_sensitivity(robot, q, qd, tau, 0.02)
    x, data = np.concatenate([q[0], qd[0]]), action.createData()
    action.calc(data, x, tau[0])
    action.calcDiff(data, x, tau[0])
    end, slope = np.array(data.xnext), np.array(data.Fx)
    np.testing.assert_allclose(np.concatenate([own.q_next[0], own.qd_next[0]]), end, atol=1e-12)
    np.testing.assert_allclose(own.B[0], data.Fu, atol=1e-11)
    if base == "fixed":
        np.testing.assert_allclose(own.A[0], slope, atol=1e-11)
        return

    def after(off: np.ndarray) -> np.ndarray:
        action.calc(data, state.integrate(x, off), tau[0])
        return state.diff(end, np.array(data.xnext))

    far = 1e-5 * np.eye(2 * state.nv)
    numeric = np.array([(after(off) - after(-off)) / 2e-5 for off in far]).T
    np.testing.assert_allclose(own.A[0], numeric, atol=1e-7)
    np.testing.assert_allclose(slope, numeric, atol=1e-4)
