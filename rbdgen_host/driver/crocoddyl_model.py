"""Crocoddyl's action models over `Dynamics`: any back end computes what its solvers ask for.

`forward_dynamics` makes the model, in C++ where the functions are; `ForwardDynamics` and
`ContactDynamics` are in Python. mim_solvers takes crocoddyl's problems, and so these models.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from rbdgen.api.folder import InputError
from rbdgen.system.compiler import CompilerError, NoCompiler
from rbdgen.system.quoting import Progress

from .defaults import DEFAULT, DynamicsWarning
from .dynamics import Dynamics
from .futures import CALLS
from .words import Array

try:
    import crocoddyl
    import pinocchio
except ModuleNotFoundError:
    raise InputError(
        "rbdgen_host.driver.crocoddyl_model needs crocoddyl, which is not installed: "
        'pip install "rbdgen[solvers]"'
    ) from None

FREE = 7  # coordinates of a joint that leaves a base free
TURNING = (2, 1)  # coordinates and velocities of one that turns without end


def forward_dynamics(
    state: Any,
    costs: Any,
    dynamics: Dynamics,
    *,
    actuation: Any = None,
    constraints: Any = None,
    progress: Progress = lambda _: None,
) -> Any:
    """The action model of v̇ = FD(q, v, τ) over ``dynamics``.

    Of the back end cpp it is in C++, a ``crocoddyl.DifferentialActionModelFreeFwdDynamics``, which
    is compiled the first time, once for all robots; ``actuation``, unless every joint is driven,
    and ``constraints`` are crocoddyl's. Of other back ends, and with a DynamicsWarning where it
    cannot be compiled, it is a `ForwardDynamics`, which has all joints driven and no constraints.
    InputError as for that.
    """
    model = ForwardDynamics(state, costs, dynamics)
    if dynamics.backend == DEFAULT:
        from . import crocoddyl_native as native

        own = crocoddyl.ActuationModelFloatingBase if model.free else crocoddyl.ActuationModelFull
        try:
            driven = actuation or own(state)
            return native.forward(state, driven, costs, constraints, dynamics, progress)
        except (native.NotNative, NoCompiler, CompilerError) as error:
            slower = f"crocoddyl calls Python for each state: {error}"
            warnings.warn(slower, DynamicsWarning, stacklevel=2)
    if actuation or constraints:
        raise InputError("actuation, constraints: of models in C++; this one is in Python")
    return model


class ForwardDynamics(crocoddyl.DifferentialActionModelAbstract):
    """v̇ = FD(q, v, τ) of a state and its gradients from ``dynamics``, costs from crocoddyl.

    As ``crocoddyl.DifferentialActionModelFreeFwdDynamics`` with every joint driven: u = τ (nv,), of
    a floating base u = τ without the base's six. ``state``: a StateMultibody whose Pinocchio model
    has the robot's joints in the same order; those that turn without end may be (cos, sin) there.
    ``costs``: a CostModelSum, of which residuals of
    frames read that model's kinematics. ``dynamics`` has the functions fd, dfd and minv.

    ``calls`` counts states that were computed, ``cycles`` what they took the hardware (rtl).
    InputError for joints or functions that do not agree.
    """

    functions: tuple[str, ...] = ("fd", *CALLS["computeABADerivatives"].functions)

    def __init__(self, state: Any, costs: Any, dynamics: Dynamics) -> None:
        model = state.pinocchio
        names, own = list(model.names)[1:], dynamics.joint_names
        self._joints = [(j.idx_q, j.nq, j.nv) for j in list(model.joints)[1:]]
        self.free = sum(nv for _, nq, nv in self._joints if nq == FREE)
        if names[len(names) - len(own) :] != own or model.nv != dynamics.nv:
            raise InputError(
                f"the model's joints, {', '.join(names)}, are not the robot's: {', '.join(own)}"
            )
        if missing := [f for f in self.functions if f not in dynamics.functions]:
            raise InputError(f"dynamics lacks {', '.join(missing)}: functions={self.functions}")
        super().__init__(state, state.nv - self.free, costs.nr)
        self.costs, self.dynamics = costs, dynamics
        self.calls = self.cycles = 0

    def createData(self) -> Any:
        return _Data(self)

    def calc(self, data: Any, x: Array, u: Array | None = None) -> None:
        """``data.xout`` = v̇ and the cost; without u, of a last node, the cost alone."""
        q, v = x[: self.state.nq], x[self.state.nq :]
        pinocchio.forwardKinematics(self.state.pinocchio, data.pinocchio, q, v)
        pinocchio.updateFramePlacements(self.state.pinocchio, data.pinocchio)
        if u is None:
            self.costs.calc(data.costs, x)
        else:
            data.xout = self.dynamics.aba(self._angles(q), v, self._efforts(u))
            self._count()
            self.costs.calc(data.costs, x, u)
        data.cost = data.costs.cost

    def calcDiff(self, data: Any, x: Array, u: Array | None = None) -> None:
        """``data.Fx`` = (∂v̇/∂q, ∂v̇/∂v), ``data.Fu`` = ∂v̇/∂u, and the cost's derivatives."""
        model, q, v = self.state.pinocchio, x[: self.state.nq], x[self.state.nq :]
        # what residuals of frames read, of velocities too
        at = np.zeros(model.nv) if u is None else data.xout
        pinocchio.computeForwardKinematicsDerivatives(model, data.pinocchio, q, v, at)
        pinocchio.updateFramePlacements(model, data.pinocchio)
        if u is None:
            self.costs.calcDiff(data.costs, x)
            return
        tau = self._efforts(u)
        by_q, by_v, by_tau = self.dynamics.computeABADerivatives(self._angles(q), v, tau)
        assert by_tau is not None  # the functions have minv
        self._count()
        data.Fx = np.hstack([by_q, by_v])
        data.Fu = by_tau[:, self.free :]
        self.costs.calcDiff(data.costs, x, u)

    def _angles(self, q: Array) -> Array:
        """q as `Dynamics` has it: an angle where Pinocchio has its cosine and sine."""
        parts = [
            [np.arctan2(q[at + 1], q[at])] if (nq, nv) == TURNING else q[at : at + nq]
            for at, nq, nv in self._joints
        ]
        return np.concatenate(parts)

    def _efforts(self, u: Array) -> Array:
        return np.concatenate([np.zeros(self.free), u])

    def _count(self, calls: int = 1) -> None:
        self.calls += calls
        self.cycles += self.dynamics.cycles or 0


class _Data(crocoddyl.DifferentialActionDataAbstract):
    def __init__(self, model: ForwardDynamics) -> None:
        super().__init__(model)
        self.pinocchio = model.state.pinocchio.createData()
        self.multibody = crocoddyl.DataCollectorMultibody(self.pinocchio)
        self.costs = model.costs.createData(self.multibody)
        self.costs.shareMemory(self)


class ContactDynamics(ForwardDynamics):
    """v̇ and the forces λ of contacts that hold, with their gradients.

    As ``crocoddyl.DifferentialActionModelContactFwdDynamics`` with every joint driven::

        [ M  Jᵀ ] [  v̇ ]   [ τ − nle ]
        [ J  0  ] [ −λ ] = [   −a₀   ]

    M, nle and, at v̇ and λ, the gradients of τ come from ``dynamics``, of the functions m, nle and
    did, with external forces on the links that are held. J, a₀ and its gradient are those of
    ``contacts``, a ContactModelMultiple whose nu is that of the joints. J has full rank. The rest
    is as for `ForwardDynamics`; `calls` counts twice where two tasks are asked for.
    """

    functions = ("m", "nle", "did")

    def __init__(self, state: Any, contacts: Any, costs: Any, dynamics: Dynamics) -> None:
        super().__init__(state, costs, dynamics)
        self.contacts = contacts
        # of the model's joints the robot's are the last, each of which moves a body
        self._first = len(state.pinocchio.names) - len(dynamics.joint_names)

    def createData(self) -> Any:
        return _ContactData(self)

    def calc(self, data: Any, x: Array, u: Array | None = None) -> None:
        """``data.xout`` = v̇, the contacts' forces and the cost; without u the cost alone."""
        model, q, v = self.state.pinocchio, x[: self.state.nq], x[self.state.nq :]
        pinocchio.forwardKinematics(model, data.pinocchio, q, v, 0.0 * v)
        pinocchio.computeJointJacobians(model, data.pinocchio, q)
        pinocchio.updateFramePlacements(model, data.pinocchio)
        pinocchio.centerOfMass(model, data.pinocchio, q, v)
        if u is None:
            self.costs.calc(data.costs, x)
        else:
            held = data.multibody.contacts
            self.contacts.calc(held, x)
            M, nle = self.dynamics.crba(self._angles(q)), self.dynamics.nle(self._angles(q), v)
            self._count(2)
            nc, nv = self.contacts.nc, self.state.nv
            J, a0 = held.Jc[:nc], held.a0[:nc]
            data.inverse = np.linalg.inv(np.block([[M, J.T], [J, np.zeros((nc, nc))]]))
            found = data.inverse @ np.concatenate([self._efforts(u) - nle, -a0])
            data.xout = found[:nv]
            self.contacts.updateAcceleration(held, data.xout)
            self.contacts.updateForce(held, -found[nv:])
            self.costs.calc(data.costs, x, u)
        data.cost = data.costs.cost

    def calcDiff(self, data: Any, x: Array, u: Array | None = None) -> None:
        """``data.Fx``, ``data.Fu``, the gradients of the forces, and the cost's derivatives."""
        model, q, v = self.state.pinocchio, x[: self.state.nq], x[self.state.nq :]
        if u is None:
            pinocchio.jacobianCenterOfMass(model, data.pinocchio, q)
            self.costs.calcDiff(data.costs, x)
            return
        held, nc, nv = data.multibody.contacts, self.contacts.nc, self.state.nv
        pinocchio.computeForwardKinematicsDerivatives(model, data.pinocchio, q, v, data.xout)
        pinocchio.updateFramePlacements(model, data.pinocchio)
        pinocchio.jacobianCenterOfMass(model, data.pinocchio, q)
        by_q, by_v, _ = self.dynamics.computeRNEADerivatives(
            self._angles(q), v, data.xout, self._forces(held)
        )
        self._count()
        # forces along the world's axes turn against their link
        data.pinocchio.dtau_dq = by_q
        self.contacts.updateRneaDiff(held, data.pinocchio)
        self.contacts.calcDiff(held, x)
        rest = np.vstack([np.hstack([data.pinocchio.dtau_dq, by_v]), held.da0_dx[:nc]])
        by_x, by_u = -data.inverse @ rest, data.inverse[:, self.free : nv]
        data.Fx, data.Fu = by_x[:nv], by_u[:nv]
        self.contacts.updateAccelerationDiff(held, data.Fx)
        self.contacts.updateForceDiff(held, -by_x[nv:], -by_u[nv:])
        self.costs.calcDiff(data.costs, x, u)

    def _forces(self, held: Any) -> Array:
        """The contact wrench (6,) on each body of the robot, in the body's frame."""
        return np.array([force.vector for force in held.fext[self._first :]])


class _ContactData(crocoddyl.DifferentialActionDataAbstract):
    def __init__(self, model: ContactDynamics) -> None:
        super().__init__(model)
        self.pinocchio = model.state.pinocchio.createData()
        contacts = model.contacts.createData(self.pinocchio)
        self.multibody = crocoddyl.DataCollectorMultibodyInContact(self.pinocchio, contacts)
        self.costs = model.costs.createData(self.multibody)
        self.costs.shareMemory(self)
        self.inverse = np.zeros((0, 0))
