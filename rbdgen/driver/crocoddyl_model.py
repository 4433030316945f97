"""Crocoddyl's action models over `Dynamics`: any back end computes what its solvers ask for.

mim_solvers takes crocoddyl's problems, and so these models.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.folder import InputError
from .dynamics import Dynamics
from .words import Array

try:
    import crocoddyl
    import pinocchio
except ModuleNotFoundError:
    raise InputError(
        "rbdgen.driver.crocoddyl_model needs crocoddyl, which is not installed: "
        'pip install "rbdgen[solvers]"'
    ) from None

FREE = 7  # coordinates of a joint that leaves a base free
TURNING = (2, 1)  # coordinates and velocities of one that turns without end


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

    def __init__(self, state: Any, costs: Any, dynamics: Dynamics) -> None:
        model = state.pinocchio
        names, own = list(model.names)[1:], dynamics.joint_names
        self._joints = [(j.idx_q, j.nq, j.nv) for j in list(model.joints)[1:]]
        self.free = sum(nv for _, nq, nv in self._joints if nq == FREE)
        if names[len(names) - len(own) :] != own or model.nv != dynamics.nv:
            raise InputError(
                f"the model's joints, {', '.join(names)}, are not the robot's: {', '.join(own)}"
            )
        if missing := [f for f in ("fd", "dfd", "minv") if f not in dynamics.functions]:
            raise InputError(
                f'dynamics lacks {", ".join(missing)}: functions=("fd", "dfd", "minv")'
            )
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
        q, v = x[: self.state.nq], x[self.state.nq :]
        pinocchio.computeJointJacobians(self.state.pinocchio, data.pinocchio, q)
        pinocchio.updateFramePlacements(self.state.pinocchio, data.pinocchio)
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

    def _count(self) -> None:
        self.calls += 1
        self.cycles += self.dynamics.cycles or 0


class _Data(crocoddyl.DifferentialActionDataAbstract):
    def __init__(self, model: ForwardDynamics) -> None:
        super().__init__(model)
        self.pinocchio = model.state.pinocchio.createData()
        self.multibody = crocoddyl.DataCollectorMultibody(self.pinocchio)
        self.costs = model.costs.createData(self.multibody)
        self.costs.shareMemory(self)
