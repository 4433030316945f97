"""A robot in MuJoCo that a controller drives; its masses are those of its URDF."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from ..robot.model import Array, Robot
from ..robot.xml_lines import one_line
from .folder import InputError

STEP = 50e-6  # s: the longest step of the plant


@dataclass(frozen=True)
class Disturbance:
    """Disturbances that the controller does not know.

    A ``load`` [kg] at the last link; a ``push`` [N] on it along y of the world, at ``pushed``
    (from, to) [s]; ``noise``: standard deviations of the q and q̇ that it reads, of a ``seed``.
    """

    load: float = 0.0
    push: float = 0.0
    pushed: tuple[float, float] = (0.0, 0.0)
    noise: tuple[float, float] = (0.0, 0.0)
    seed: int = 0


class Plant:
    """A fixed-base robot without contacts and without stops of its joints.

    ``period`` [s]: between two ticks, in equal steps of `STEP` at most. q and q̇ (nv,) are in the
    order of ``robot``.
    """

    def __init__(self, urdf: bytes, robot: Robot, period: float, unknown: Disturbance) -> None:
        try:
            import mujoco
        except ImportError:
            raise InputError(
                'the arm is MuJoCo\'s, which is not installed: pip install "rbdgen[robots]"'
            ) from None
        self._mujoco, self._unknown = mujoco, unknown
        model = self._model = _compiled(mujoco, urdf, robot)
        self._steps = max(1, math.ceil(period / STEP - 1e-9))
        model.opt.timestep = period / self._steps
        model.opt.gravity[:] = robot.gravity
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        model.body_mass[-1] += unknown.load
        self.last = model.body(model.nbody - 1).name
        self._at = _places(model, robot)
        self._data = mujoco.MjData(model)
        self._random = np.random.default_rng(unknown.seed)

    def start(self, q: Array, qd: Array) -> None:
        """Put the robot there (nv,), (nv,)."""
        self._data.qpos[self._at], self._data.qvel[self._at] = q, qd

    @property
    def q(self) -> Array:
        """Where it is (nv,)."""
        return np.asarray(self._data.qpos[self._at])

    def read(self) -> tuple[Array, Array]:
        """q and q̇ (nv,) as the controller reads them."""
        spread = self._unknown.noise
        q, qd = self.q, np.asarray(self._data.qvel[self._at])
        noise = self._random.standard_normal((2, len(q)))
        return q + spread[0] * noise[0], qd + spread[1] * noise[1]

    def drive(self, tau: Array, now: float) -> None:
        """Apply the efforts (nv,) for a period from ``now`` [s] on."""
        first, last = self._unknown.pushed
        self._data.qfrc_applied[self._at] = tau
        self._data.xfrc_applied[-1, 1] = self._unknown.push if first <= now < last else 0.0
        self._mujoco.mj_step(self._model, self._data, self._steps)


def _compiled(mujoco: Any, urdf: bytes, robot: Robot) -> Any:
    """MuJoCo's model; what a robot looks like and collides with is left out."""
    root = ET.fromstring(urdf)
    for link in root.iter("link"):
        for kind in ("visual", "collision"):
            for own in link.findall(kind):
                link.remove(own)
    try:
        return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    except ValueError as error:
        said = one_line(" ".join(str(error).split()), 300)
        raise InputError(f"{robot.name}: MuJoCo refuses the robot's file: {said}") from None


def _places(model: Any, robot: Robot) -> Array:
    """The index in MuJoCo's q and q̇ of each coordinate of ``robot``."""
    if any(joint.mimic for joint in robot.joints):
        raise InputError(f"{robot.name}: MuJoCo's reader of URDF does not couple mimic joints")
    ours = {joint.name for joint in robot.joints if joint.kind.nv}
    theirs = [model.joint(k).name for k in range(model.njnt)]
    if ours != set(theirs) or model.nq != model.nv or model.nv != robot.nv:
        missing = ", ".join(sorted(ours.symmetric_difference(theirs))[:3])
        raise InputError(f"{robot.name}: MuJoCo's model has other joints: {missing}")
    return np.array([model.joint(name).dofadr[0] for name in robot.joint_names], int)
