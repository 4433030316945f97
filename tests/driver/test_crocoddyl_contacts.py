"""A quadruped's stance in crocoddyl over our M, bias and gradients, beside crocoddyl's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen_host.driver import Dynamics

pinocchio = pytest.importorskip("pinocchio")
crocoddyl = pytest.importorskip("crocoddyl")
from rbdgen_host.driver.crocoddyl_model import ContactDynamics  # noqa: E402
from tests.driver.test_crocoddyl_model import own_dynamics_is_right  # noqa: E402

HYQ = Path(__file__).parents[2] / "robots" / "hyq.urdf"
LEGS = ("lf", "lh", "rf", "rh")
FORCED: dict[str, Any] = {
    "functions": ("m", "nle", "did"),
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
def test_a_stance_takes_as_many_iterations() -> None:
    if not own_dynamics_is_right():
        pytest.skip("crocoddyl's own dynamics is wrong with this Pinocchio: pip install pin==4.0.0")
    stance = Stance()
    theirs = stance.solved(stance.theirs)
    compiled = Dynamics("hyq", "cpp", **FORCED)
    ours = stance.solved(lambda own: ContactDynamics(stance.state, stance.contacts, own, compiled))
    for name, found in (("crocoddyl's own", theirs), ("cpp", ours)):
        print(f"{name}: {len(found) - 1} iterations, cost {found[-1]:.6f}")
    assert abs(len(ours) - len(theirs)) <= 1
    np.testing.assert_allclose(ours[:5], theirs[:5], rtol=1e-7)
