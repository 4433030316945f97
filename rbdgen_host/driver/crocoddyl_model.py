"""Crocoddyl's action models over `Dynamics`: any back end computes what its solvers ask for.

`forward_dynamics` and `contact_dynamics` make the models, in C++ where the functions are;
`ForwardDynamics` and `ContactDynamics` are in Python. mim_solvers takes crocoddyl's problems, and
so these models.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
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

    def compiled(native: Any, driven: Any) -> Any:
        return native.forward(state, driven, costs, constraints, dynamics, progress)

    chosen = {"actuation": actuation, "constraints": constraints}
    return _model(ForwardDynamics(state, costs, dynamics), compiled, chosen)


def contact_dynamics(
    state: Any,
    contacts: Any,
    costs: Any,
    dynamics: Dynamics,
    *,
    actuation: Any = None,
    constraints: Any = None,
    damping: float = 0.0,
    enable_force: bool = True,
    progress: Progress = lambda _: None,
) -> Any:
    """The action model of v̇ and the forces of ``contacts`` that hold, over ``dynamics``.

    As `forward_dynamics`: a ``crocoddyl.DifferentialActionModelContactFwdDynamics`` in C++, or a
    `ContactDynamics` in Python. ``damping``: what is added to the diagonal of J M⁻¹ Jᵀ;
    ``enable_force``: whether costs read gradients of the forces. ``dynamics`` has external forces
    on the links in contact.
    """

    def compiled(native: Any, driven: Any) -> Any:
        of = contacts, costs, constraints, damping, enable_force
        return native.contact(state, driven, *of, dynamics, progress)

    chosen = {"actuation": actuation, "constraints": constraints, "damping": damping}
    return _model(ContactDynamics(state, contacts, costs, dynamics), compiled, chosen)


def _model(model: Any, compiled: Callable[[Any, Any], Any], chosen: dict[str, Any]) -> Any:
    """The compiled model where there is one, else ``model``, which is in Python.

    ``compiled``: makes it of the module and the actuation, or raises. ``chosen``: what a model in
    Python has not; InputError where any of that was asked for.
    """
    if model.dynamics.backend == DEFAULT:
        from . import crocoddyl_native as native

        own = crocoddyl.ActuationModelFloatingBase if model.free else crocoddyl.ActuationModelFull
        try:
            return compiled(native, chosen["actuation"] or own(model.state))
        except (native.NotNative, NoCompiler, CompilerError) as error:
            slower = f"crocoddyl calls Python for each state: {error}"
            warnings.warn(slower, DynamicsWarning, stacklevel=3)
    if asked := [name for name, value in chosen.items() if value]:
        raise InputError(f"{', '.join(asked)}: of models in C++; this one is in Python")
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
        still = np.zeros(self.state.nv)
        pinocchio.computeAllTerms(self.state.pinocchio, data.pinocchio, q, v)
        pinocchio.computeCentroidalMomentum(self.state.pinocchio, data.pinocchio)
        pinocchio.forwardKinematics(self.state.pinocchio, data.pinocchio, q, v, still)
        pinocchio.updateFramePlacements(self.state.pinocchio, data.pinocchio)
        if u is None:
            self.costs.calc(data.costs, x)
        else:
            data.xout = self._accelerations(data, x, self._efforts(u))
            self.costs.calc(data.costs, x, u)
        data.cost = data.costs.cost

    def calcDiff(self, data: Any, x: Array, u: Array | None = None) -> None:
        """``data.Fx`` = (∂v̇/∂q, ∂v̇/∂v), ``data.Fu`` = ∂v̇/∂u, and the cost's derivatives."""
        model, q, v = self.state.pinocchio, x[: self.state.nq], x[self.state.nq :]
        at = np.zeros(model.nv) if u is None else data.xout
        pinocchio.computeRNEADerivatives(model, data.pinocchio, q, v, at)
        pinocchio.updateFramePlacements(model, data.pinocchio)
        if u is None:
            self.costs.calcDiff(data.costs, x)
            return
        data.Fx, by_tau = self._gradients(data, x, self._efforts(u))
        data.Fu = by_tau[:, self.free :]
        self.costs.calcDiff(data.costs, x, u)

    def _accelerations(self, data: Any, x: Array, tau: Array) -> Array:
        """v̇ (nv,) of efforts τ (nv,)."""
        self._count()
        return self.dynamics.aba(self._angles(x[: self.state.nq]), x[self.state.nq :], tau)

    def _gradients(self, data: Any, x: Array, tau: Array, f_ext: Any = None) -> tuple[Array, Array]:
        """∂v̇/∂x (nv, 2 nv) and ∂v̇/∂τ (nv, nv)."""
        q, v = self._angles(x[: self.state.nq]), x[self.state.nq :]
        by_q, by_v, by_tau = self.dynamics.computeABADerivatives(q, v, tau, f_ext)
        assert by_tau is not None  # the functions have minv
        self._count()
        return np.hstack([by_q, by_v]), by_tau

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

    v̇ without contacts, M⁻¹ and, at the forces, the gradients come from ``dynamics``, which has
    external forces on the links in contact. J, a₀ and its gradient are those of ``contacts``, a
    ContactModelMultiple whose nu is that of the joints. J has full rank. The forces of several
    contacts of one link add up. The rest is as for `ForwardDynamics`; `calls` counts twice where
    two tasks are asked for.
    """

    def __init__(self, state: Any, contacts: Any, costs: Any, dynamics: Dynamics) -> None:
        super().__init__(state, costs, dynamics)
        self.contacts = contacts

    def createData(self) -> Any:
        return _ContactData(self)

    def _accelerations(self, data: Any, x: Array, tau: Array) -> Array:
        """v̇ = v̇₀ + M⁻¹ Jᵀ λ of v̇₀ without contacts; λ = −(J M⁻¹ Jᵀ)⁻¹ (J v̇₀ + a₀)."""
        contact_data, nc = data.multibody.contacts, self.contacts.nc
        self.contacts.calc(contact_data, x)
        free = super()._accelerations(data, x, tau)
        inverse = self.dynamics.computeMinverse(self._angles(x[: self.state.nq]))
        self._count()
        J = contact_data.Jc[:nc]
        data.JMinv = J @ inverse
        data.forces_by = -np.linalg.inv(data.JMinv @ J.T)
        forces = data.forces_by @ (J @ free + contact_data.a0[:nc])
        found = free + data.JMinv.T @ forces
        self.contacts.updateAcceleration(contact_data, found)
        self.contacts.updateForce(contact_data, forces)
        return found

    def _gradients(self, data: Any, x: Array, tau: Array, f_ext: Any = None) -> tuple[Array, Array]:
        """∂v̇ = ∂v̇₀ + M⁻¹ Jᵀ ∂λ of v̇₀ at forces that stay; ∂λ = −(J M⁻¹ Jᵀ)⁻¹ (J ∂v̇₀ + ∂a₀)."""
        contact_data, nc, nv = data.multibody.contacts, self.contacts.nc, self.state.nv
        self.contacts.calcDiff(contact_data, x)
        by_x, by_tau = super()._gradients(data, x, tau, self._forces(contact_data))
        # forces along the world's axes turn against their link
        data.pinocchio.dtau_dq = np.zeros((nv, nv))
        self.contacts.updateRneaDiff(contact_data, data.pinocchio)
        by_x[:, :nv] -= by_tau @ data.pinocchio.dtau_dq
        J = contact_data.Jc[:nc]
        forces_by_x = data.forces_by @ (J @ by_x + contact_data.da0_dx[:nc])
        forces_by_tau = data.forces_by @ J @ by_tau
        by_x, by_tau = by_x + data.JMinv.T @ forces_by_x, by_tau + data.JMinv.T @ forces_by_tau
        self.contacts.updateAccelerationDiff(contact_data, by_x)
        self.contacts.updateForceDiff(contact_data, forces_by_x, forces_by_tau[:, self.free :])
        return by_x, by_tau

    def _forces(self, contact_data: Any) -> Array:
        """The contacts' wrench (6,) on each link of the robot, in the link's frame."""
        names, own = self.state.pinocchio.names, self.dynamics.joint_names
        forces = np.zeros((len(own), 6))
        for contact in contact_data.contacts.todict().values():
            joint = self.state.pinocchio.frames[contact.frame].parentJoint
            forces[joint - len(names)] += contact.fext.vector
        return forces


class _ContactData(crocoddyl.DifferentialActionDataAbstract):
    def __init__(self, model: ContactDynamics) -> None:
        super().__init__(model)
        self.pinocchio = model.state.pinocchio.createData()
        contacts = model.contacts.createData(self.pinocchio)
        self.multibody = crocoddyl.DataCollectorMultibodyInContact(self.pinocchio, contacts)
        self.costs = model.costs.createData(self.multibody)
        self.costs.shareMemory(self)
        self.JMinv = self.forces_by = np.zeros((0, 0))
