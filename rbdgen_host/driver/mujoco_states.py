"""States, accelerations and efforts of a robot in MuJoCo, in the coordinates of `Dynamics`.

They differ for a base that is free: MuJoCo has a quaternion's w first, and its linear velocity,
acceleration and force along the world's axes. `Dynamics` has w last, and the base's own frame::

    v = Rᵀ ẋ    v̇ = Rᵀ ẍ − ω × v    f = Rᵀ f_world
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rbdgen.api.folder import InputError
from rbdgen.robot.model import JointKind

from .dynamics import Dynamics
from .words import Array

try:
    import mujoco
except ModuleNotFoundError:
    raise InputError(
        'rbdgen_host.driver.mujoco_states needs mujoco: pip install "rbdgen[robots]"'
    ) from None

HINGE, SLIDE = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
FREE = mujoco.mjtJoint.mjJNT_FREE
KINDS = {
    JointKind.REVOLUTE: HINGE,
    JointKind.PRISMATIC: SLIDE,
    JointKind.FLOATING: FREE,
}
XYZW = [4, 5, 6, 3]  # of a free joint's qpos


class MujocoStates:
    """The robot of ``dynamics`` in an ``MjModel``, which may have more than that robot.

    Joints are those of the same names, without one ``joint`` and their number; that of a base that
    is free is the one which moves the tree that the others are in. InputError where there is none,
    or one of another kind.
    """

    def __init__(self, model: mujoco.MjModel, dynamics: Dynamics) -> None:
        robot, self._model = dynamics._robot, model
        joints = [robot.joints[i] for i in robot.free]
        names = {model.joint(k).name or f"joint{k}": k for k in range(model.njnt)}
        numbers = [names.get(joint.name) for joint in joints]
        self._free = next(
            (v for i, v in robot.v_slices.items() if robot.joints[i].kind is JointKind.FLOATING),
            None,
        )
        others = [k for k in numbers if k is not None and model.jnt_type[k] != FREE]
        q: list[int] = []
        v: list[int] = []
        for joint, named in zip(joints, numbers, strict=True):
            k = self._base(others) if joint.kind is JointKind.FLOATING else named
            if k is None or model.jnt_type[k] != KINDS.get(joint.kind):
                kind = joint.kind.value
                raise InputError(f"MuJoCo's model has no {kind} joint {joint.name!r}")
            at = int(model.jnt_qposadr[k])
            q += [at + i for i in ((0, 1, 2, *XYZW) if joint.kind is JointKind.FLOATING else (0,))]
            v += [int(model.jnt_dofadr[k]) + i for i in range(joint.kind.nv)]
        self._q, self._v = _places(q), _places(v)

    def state(self, data: mujoco.MjData) -> tuple[Array, Array]:
        """q (nq,) and v (nv,) of ``data.qpos`` and ``data.qvel``; views where they can be."""
        q, v = data.qpos[self._q], data.qvel[self._v]
        return (q, v) if self._free is None else (q, self._turned(q, v, -1.0))

    def acceleration(self, data: mujoco.MjData) -> Array:
        """v̇ (nv,) of ``data.qacc``."""
        q, v = self.state(data)
        a = data.qacc[self._v]
        if self._free is None:
            return a
        a = self._turned(q, a, -1.0)
        linear, angular = self._base_parts()
        a[linear] -= np.cross(v[angular], v[linear])
        return a

    def set_state(self, data: mujoco.MjData, q: Array, v: Array) -> None:
        """Write q (nq,) and v (nv,) to ``data.qpos`` and ``data.qvel``."""
        data.qpos[self._q] = q
        data.qvel[self._v] = v if self._free is None else self._turned(np.asarray(q), v, 1.0)

    def apply(self, data: mujoco.MjData, tau: Array) -> None:
        """Write τ (nv,) to ``data.qfrc_applied``."""
        q = data.qpos[self._q]
        data.qfrc_applied[self._v] = tau if self._free is None else self._turned(q, tau, 1.0)

    def _base(self, others: Sequence[int]) -> int | None:
        """The free joint of the tree that joints are in; the only one there is, of none."""
        model = self._model
        if not others:
            (free,) = np.nonzero(model.jnt_type == FREE)
            return int(free[0]) if len(free) == 1 else None
        root = model.body_rootid[model.jnt_bodyid[others[0]]]
        return int(model.body_jntadr[root]) if model.body_jntnum[root] == 1 else None

    def _base_parts(self) -> tuple[slice, slice]:
        assert self._free is not None
        first = self._free.start
        return slice(first, first + 3), slice(first + 3, first + 6)

    def _turned(self, q: Array, v: Array, sign: float) -> Array:
        """A copy of v with the base's linear part times R, or Rᵀ where ``sign`` is -1."""
        linear, _ = self._base_parts()
        *axis, w = q[3:7] / np.linalg.norm(q[3:7])  # a base is the first joint
        u, own = sign * np.array(axis), np.array(v)
        x = own[linear]
        own[linear] = x + 2 * np.cross(u, np.cross(u, x) + w * x)
        return own


def _places(indices: Sequence[int]) -> Any:
    """The same as a slice, if it is one, which makes views of arrays."""
    first, count = indices[0], len(indices)
    if list(indices) == list(range(first, first + count)):
        return slice(first, first + count)
    return np.array(indices)
