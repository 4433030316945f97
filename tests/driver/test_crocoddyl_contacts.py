"""A quadruped's stance in crocoddyl over our M, bias and gradients, beside crocoddyl's own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen_host.driver import Dynamics

pinocchio = pytest.importorskip("pinocchio")
crocoddyl = pytest.importorskip("crocoddyl")
from rbdgen_host.driver.crocoddyl_model import (  # noqa: E402
    ContactDynamics,
    ForwardDynamics,
    contact_dynamics,
    forward_dynamics,
)
from tests.driver.test_crocoddyl_model import own_dynamics_is_right  # noqa: E402

HYQ = Path(__file__).parents[2] / "robots" / "hyq.urdf"
LEGS = ("lf", "lh", "rf", "rh")
FORCED: dict[str, Any] = {
    "functions": ("fd", "dfd", "minv"),
    "base": "floating",
    "external_forces": tuple(f"{leg}_shin" for leg in LEGS),
}
NODES, STEP, SUNK = 15, 0.02, 0.05
DRIVEN = 12


class Stance:
    """HyQ on four feet, which is to sink by five centimetres; friction cones bound the forces."""

    def __init__(self, axes: Any = None) -> None:
        axes = pinocchio.LOCAL if axes is None else axes
        model = pinocchio.buildModelFromUrdf(str(HYQ), pinocchio.JointModelFreeFlyer())
        self.feet = [model.getFrameId(f"{leg}_foot") for leg in LEGS]
        self.model, self.state = model, crocoddyl.StateMultibody(model)
        q = pinocchio.neutral(model)
        for leg, sign in zip(LEGS, (1, -1, 1, -1), strict=True):
            first = model.joints[model.getJointId(f"{leg}_hip_abduction")].idx_q
            q[first : first + 3] = -0.1, sign * 0.75, -sign * 1.5
        self.start = np.concatenate([q, np.zeros(model.nv)])
        self.data = model.createData()
        pinocchio.framesForwardKinematics(model, self.data, q)
        self.center = pinocchio.centerOfMass(model, self.data, q).copy()
        self.contacts = crocoddyl.ContactModelMultiple(self.state, DRIVEN)
        for foot in self.feet:
            point = crocoddyl.ContactModel3D(
                self.state,
                foot,
                self.data.oMf[foot].translation.copy(),
                axes,
                DRIVEN,
                np.array([0.0, 50.0]),
            )
            self.contacts.addContact(model.frames[foot].name, point)

    def costs(self, along: float, effort: float, cones: bool = True) -> Any:
        state, total = self.state, crocoddyl.CostModelSum(self.state, DRIVEN)
        goal = self.center - [0.0, 0.0, SUNK]
        place = crocoddyl.ResidualModelCoMPosition(state, goal, DRIVEN)
        total.addCost("place", crocoddyl.CostModelResidual(state, place), along)
        near = crocoddyl.ResidualModelState(state, self.start, DRIVEN)
        total.addCost("near", crocoddyl.CostModelResidual(state, near), 1e-3 * along)
        if effort:
            efforts = crocoddyl.ResidualModelControl(state, DRIVEN)
            total.addCost("effort", crocoddyl.CostModelResidual(state, efforts), effort)
        for foot in self.feet if cones else ():
            cone = crocoddyl.FrictionCone(np.eye(3), 0.7, 4, False)
            slips = crocoddyl.ResidualModelContactFrictionCone(state, foot, cone, DRIVEN)
            bound = crocoddyl.ActivationModelQuadraticBarrier(
                crocoddyl.ActivationBounds(cone.lb, cone.ub)
            )
            own = crocoddyl.CostModelResidual(state, bound, slips)
            total.addCost(self.model.frames[foot].name, own, 1e-4)
        return total

    def theirs(self, costs: Any) -> Any:
        driven = crocoddyl.ActuationModelFloatingBase(self.state)
        return crocoddyl.DifferentialActionModelContactFwdDynamics(
            self.state, driven, self.contacts, costs, 0.0, True
        )

    def solved(self, action: Any) -> list[float]:
        """The cost after each iteration of FDDP."""
        running = crocoddyl.IntegratedActionModelEuler(action(self.costs(10.0, 1e-5)), STEP)
        last = crocoddyl.IntegratedActionModelEuler(action(self.costs(1e4, 0.0, False)), 0.0)
        problem = crocoddyl.ShootingProblem(self.start, [running] * NODES, last)
        solver, log = crocoddyl.SolverFDDP(problem), crocoddyl.CallbackLogger()
        solver.setCallbacks([log])
        standing = self.theirs(crocoddyl.CostModelSum(self.state, DRIVEN))
        hold = standing.quasiStatic(standing.createData(), self.start)
        solver.solve([self.start] * (NODES + 1), [hold] * NODES, 50, False)
        sunk = pinocchio.centerOfMass(self.model, self.data, solver.xs[-1][: self.model.nq])
        assert abs(self.center[2] - sunk[2] - SUNK) < 0.005
        return list(log.costs)


@pytest.mark.parametrize("axes", ["LOCAL", "LOCAL_WORLD_ALIGNED"])
def test_values_and_gradients(axes: str) -> None:
    """Of v̇, of the forces in the costs, and of the costs, beside crocoddyl's own."""
    if not own_dynamics_is_right():
        pytest.skip("crocoddyl's own dynamics is wrong with this Pinocchio: pip install pin==4.0.0")
    stance = Stance(getattr(pinocchio, axes))
    rng = np.random.default_rng(1)
    x = stance.state.integrate(stance.start, rng.uniform(-0.2, 0.2, 2 * stance.model.nv))
    u = rng.uniform(-20.0, 20.0, DRIVEN)
    costs = stance.costs(1.0, 0.1)
    golden = Dynamics("hyq", "golden", accelerator=False, **FORCED)
    found = []
    ours = ContactDynamics(stance.state, stance.contacts, costs, golden)
    for model in (ours, stance.theirs(costs)):
        data = model.createData()
        model.calc(data, x, u)
        model.calcDiff(data, x, u)
        found.append((data.cost, data.xout, data.Fx, data.Fu, data.Lx, data.Lu, data.Lxx))
        model.calc(data, x)
        model.calcDiff(data, x)
    assert ours.calls == 3
    for own, other in zip(*found, strict=True):
        scale = np.abs(other).max()
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-9 * scale)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake: apt-get install cmake")
@pytest.mark.parametrize("axes", ["LOCAL", "LOCAL_WORLD_ALIGNED"])
def test_in_cpp(axes: str) -> None:
    """All that crocoddyl's own has, with another actuation, a constraint and damping."""
    if not own_dynamics_is_right():
        pytest.skip("crocoddyl's own dynamics is wrong with this Pinocchio: pip install pin==4.0.0")
    stance = Stance(getattr(pinocchio, axes))
    state, driven = stance.state, crocoddyl.ActuationModelFloatingBase(stance.state)
    driven = crocoddyl.ActuationSquashingModel(driven, smooth(DRIVEN), DRIVEN)
    speed = crocoddyl.ResidualModelFrameVelocity(
        state, stance.feet[0], pinocchio.Motion.Zero(), pinocchio.LOCAL, DRIVEN
    )
    constraints = crocoddyl.ConstraintModelManager(state, DRIVEN)
    constraints.addConstraint("slow", crocoddyl.ConstraintModelResidual(state, speed))
    costs, of = stance.costs(1.0, 0.1), (state, driven, stance.contacts)
    costs.addCost("momentum", momentum(stance), 0.1)
    dynamics = Dynamics("hyq", "cpp", **FORCED)
    ours = contact_dynamics(
        state,
        stance.contacts,
        costs,
        dynamics,
        actuation=driven,
        constraints=constraints,
        damping=1e-6,
    )
    theirs = crocoddyl.DifferentialActionModelContactFwdDynamics(
        *of, costs, constraints, 1e-6, True
    )
    assert isinstance(ours, crocoddyl.DifferentialActionModelContactFwdDynamics)
    rng = np.random.default_rng(5)
    for _ in range(3):
        x = state.integrate(stance.start, rng.uniform(-0.2, 0.2, 2 * state.nv))
        u = rng.uniform(-1.0, 1.0, DRIVEN)
        for own, other in zip(of_data(ours, x, u), of_data(theirs, x, u), strict=True):
            np.testing.assert_allclose(own, other, rtol=0, atol=1e-9 * np.abs(other).max())
    check_slopes(ours, x)
    flying = stance.costs(1.0, 0.1, cones=False)
    flying.addCost("momentum", momentum(stance), 0.1)
    check_slopes(forward_dynamics(state, flying, dynamics), x, u)
    lost = Dynamics("hyq", "cpp", **{**FORCED, "external_forces": ("lf_shin",)})
    with pytest.raises(ValueError, match="no force on the link of lh_foot, which is in contact"):
        contact_dynamics(state, stance.contacts, costs, lost).createData()


def smooth(nu: int) -> Any:
    return crocoddyl.SquashingModelSmoothSat(np.full(nu, -20.0), np.full(nu, 20.0), nu)


def of_data(model: Any, x: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
    data = model.createData()
    model.calc(data, x, u)
    model.calcDiff(data, x, u)
    found = [data.cost, data.xout, data.Fx, data.Fu, data.df_dx, data.df_du]
    found += [data.Lx, data.Lu, data.Lxx, data.Luu, data.Lxu, data.h, data.Hx]
    return [np.array(own) for own in found]


def test_momentum_and_centre_of_mass() -> None:
    """Residuals that read more of Pinocchio's data than frames do, beside difference quotients; in
    flight, in contact, and of a last node."""
    stance = Stance()
    rng = np.random.default_rng(2)
    x = stance.state.integrate(stance.start, rng.uniform(-0.2, 0.2, 2 * stance.model.nv))
    u = rng.uniform(-20.0, 20.0, DRIVEN)
    costs = stance.costs(1.0, 0.1, cones=False)
    momentum = crocoddyl.ResidualModelCentroidalMomentum(
        stance.state, rng.uniform(-1, 1, 6), DRIVEN
    )
    costs.addCost("momentum", crocoddyl.CostModelResidual(stance.state, momentum), 1.0)
    golden = Dynamics("hyq", "golden", accelerator=False, **FORCED)
    flying = ForwardDynamics(stance.state, costs, golden)
    for model in (flying, ContactDynamics(stance.state, stance.contacts, costs, golden)):
        check_slopes(model, x, u)
        check_slopes(model, x)


def check_slopes(model: Any, x: np.ndarray, *u: np.ndarray) -> None:
    """Lx along a direction, beside the difference quotient."""
    state, data, step, costs = model.state, model.createData(), 1e-6, []
    model.calc(data, x, *u)
    model.calcDiff(data, x, *u)
    along = np.random.default_rng(3).uniform(-1, 1, 2 * state.nv)
    slope = data.Lx @ along
    for sign in (1, -1):
        model.calc(data, state.integrate(x, sign * step * along), *u)
        costs.append(data.cost)
    assert (costs[0] - costs[1]) / (2 * step) == pytest.approx(slope, rel=1e-6)


def momentum(stance: Stance) -> Any:
    """A cost that reads more of Pinocchio's data than those of frames do."""
    goal = np.linspace(-1, 1, 6)
    residual = crocoddyl.ResidualModelCentroidalMomentum(stance.state, goal, DRIVEN)
    return crocoddyl.CostModelResidual(stance.state, residual)


@pytest.mark.slow
def test_a_stance_takes_as_many_iterations() -> None:
    if not own_dynamics_is_right():
        pytest.skip("crocoddyl's own dynamics is wrong with this Pinocchio: pip install pin==4.0.0")
    stance = Stance()
    theirs = stance.solved(stance.theirs)
    compiled = Dynamics("hyq", "cpp", **FORCED)
    ours = stance.solved(lambda own: contact_dynamics(stance.state, stance.contacts, own, compiled))
    for name, found in (("crocoddyl's own", theirs), ("cpp", ours)):
        print(f"{name}: {len(found) - 1} iterations, cost {found[-1]:.6f}")
    assert abs(len(ours) - len(theirs)) <= 1
    np.testing.assert_allclose(ours[:5], theirs[:5], rtol=1e-7)
