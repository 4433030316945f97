"""States and results of an accelerator whose base is another link, as those of the file's base.

    τ = Aᵀ τ'    M = Aᵀ M' A    q̈' = A q̈ + b    and so on, with A and b of `golden.rerooting`

Exact but for rounding: joints keep their coordinates, and the base's are those of a rigid motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rbdgen.golden import rerooted, rerooted_forces, rerooted_slopes
from rbdgen.golden.tree import transform_vector, transpose_times
from rbdgen.graph.word import FAR
from rbdgen.robot.model import Array, Robot

SAME = {
    "p",
    "R",
    "twist",
    "com",
    "kinetic",
    "potential",
    "hg",
    "lambda_c",
    "Lambda",
}  # whatever is the base
Arrays = Mapping[str, Array]


@dataclass(frozen=True)
class BaseLink:
    """The way between ``filed``, the robot on its file's base, and ``moved``, on its other base."""

    filed: Robot
    moved: Robot

    def state(self, given: Arrays) -> dict[str, Array]:
        """Arrays (N, …) that a call takes, of the other base."""
        q, qd, qdd = self._motion(given)
        at = rerooted(self.filed, self.moved, q, qd, qdd)
        found: dict[str, Array] = {**given, "q": at.q}
        if "qd" in given:
            found["qd"] = at.qd
        if "qdd" in given:
            found["qdd"] = at.qdd
        if "tau" in given:
            found["tau"] = _solve(at.A.swapaxes(1, 2), given["tau"])
        if "Minv" in given:
            found["Minv"] = at.A @ given["Minv"] @ at.A.swapaxes(1, 2)
        bodies = [self.filed.joints[i].body for i in self.filed.moving]
        order = [bodies.index(self.moved.joints[i].body) for i in self.moved.moving]
        found["f_ext"] = given["f_ext"][:, order]
        return found

    def results(self, found: Arrays, given: Arrays) -> dict[str, Array]:
        """The results for ``given``, whose arrays refer to the file's base, in its coordinates."""
        q, qd, qdd = self._motion(given)
        at = rerooted(self.filed, self.moved, q, qd, qdd)
        A: Array = at.A
        B: Array = np.linalg.inv(A).astype(np.float64)
        AT, BT = A.swapaxes(1, 2), B.swapaxes(1, 2)
        own: dict[str, Array] = {name: found[name] for name in (FAR,) if name in found}
        if "tau" in found:
            own["tau"] = transpose_times(A, found["tau"])
        if "g" in found:
            own["g"] = transpose_times(A, found["g"])
        if "nle" in found:  # of the motion without accelerations of this base's coordinates
            still = rerooted(self.filed, self.moved, q, qd, np.zeros_like(qdd)).qdd
            own["nle"] = transpose_times(A, found["nle"] + transform_vector(found["M"], still))
        own |= {name: found[name] for name in SAME & found.keys()}
        for name in {"J", "Jcom", "Ag"} & found.keys():
            own[name] = found[name] @ (A[:, None] if name == "J" else A)
        if "drift" in found:
            still = rerooted(self.filed, self.moved, q, qd, np.zeros_like(qdd)).qdd
            own["drift"] = found["drift"] + np.einsum("nfij,nj->nfi", found["J"], still)
        if "M" in found:
            own["M"] = AT @ found["M"] @ A
        if "Minv" in found:
            own["Minv"] = B @ found["Minv"] @ BT
        without = at.qdd - transform_vector(A, qdd)
        if "qdd_c" in found:
            own["qdd_c"] = transform_vector(B, found["qdd_c"] - without)
        if "qdd" in found:
            own["qdd"] = qdd = transform_vector(B, found["qdd"] - without)
        if not {"dtau_dq", "dqdd_dq"} & found.keys():
            return own
        slopes = rerooted_slopes(self.filed, self.moved, q, qd, qdd)
        tau = found["tau"] if "tau" in found else self.state(given)["tau"]
        turned = rerooted_forces(self.filed, self.moved, q, tau)
        if "dtau_dq" in found:
            by_q, by_v, M = (found[name] for name in ("dtau_dq", "dtau_dqd", "M"))
            own["dtau_dq"] = AT @ (by_q @ A + by_v @ slopes.qd_dq + M @ slopes.qdd_dq) + turned
            own["dtau_dqd"] = AT @ (by_v @ A + M @ slopes.qdd_dqd)
        if "dqdd_dq" in found:
            by_q, by_v = found["dqdd_dq"], found["dqdd_dqd"]
            Minv = own["Minv"] if "Minv" in own else given["Minv"]
            own["dqdd_dq"] = B @ (by_q @ A + by_v @ slopes.qd_dq - slopes.qdd_dq) - Minv @ turned
            own["dqdd_dqd"] = B @ (by_v @ A - slopes.qdd_dqd)
        return own

    def _motion(self, given: Arrays) -> tuple[Array, Array, Array]:
        still = np.zeros((len(given["q"]), self.filed.nv))
        return given["q"], given.get("qd", still), given.get("qdd", still)


def _solve(A: Array, x: Array) -> Array:
    """A⁻¹ x (N, n) for A (N, n, n), x (N, n)."""
    return np.asarray(np.linalg.solve(A, x[..., None])[..., 0])
