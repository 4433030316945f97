"""The arm that a controller moves: MuJoCo's, in steps finer than the controller's, seen in noise.

MuJoCo reads the URDF by itself and shares no code with rbdgen. Contacts and limits of joints are
off; what the file has of damping, friction and armature is on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rbdgen import api
from rbdgen.design.loading import filed
from rbdgen.robot.xml_lines import read_bytes

from ..bench.ilqr import Array

SUBSTEPS = 4  # of the controller's period
RUNAWAY = 20.0  # rad/s


@dataclass(frozen=True)
class Noise:
    """Standard deviations of what is measured: rad, rad/s."""

    position: float
    velocity: float


class Arms:
    """Arms of one robot, one for each of q (B, n), at rest there.

    ``lost`` (B,): those that were faster than `RUNAWAY`, which stand still from then on, as their
    brakes would have them. ``period``: s. InputError where MuJoCo is missing.
    """

    def __init__(self, robot: str, q: Array, period: float) -> None:
        try:
            import mujoco
        except ImportError:
            raise api.InputError(
                'the arm is MuJoCo\'s, which is not installed: pip install "rbdgen[robots]"'
            ) from None
        self._mujoco = mujoco
        model = mujoco.MjModel.from_xml_string(read_bytes(filed(robot).robot).decode())
        model.opt.timestep = period / SUBSTEPS
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.model = model
        self._arms = [mujoco.MjData(model) for _ in q]
        for arm, own in zip(self._arms, q, strict=True):
            arm.qpos[:] = own
        self.lost = np.zeros(len(q), np.bool_)

    @property
    def state(self) -> Array:
        """x = (q, q̇), (B, 2n)."""
        return np.array([np.concatenate([arm.qpos, arm.qvel]) for arm in self._arms])

    def advance(self, tau: Array, push: Array) -> None:
        """A period: efforts (B, n); forces on the last link, N, in the world's frame (B, 3)."""
        for k in np.flatnonzero(~self.lost):
            arm = self._arms[k]
            arm.qfrc_applied[:] = tau[k]
            arm.xfrc_applied[-1, :3] = push[k]
            self._mujoco.mj_step(self.model, arm, SUBSTEPS)
            if np.abs(arm.qvel).max() > RUNAWAY:
                self.lost[k], arm.qvel[:] = True, 0.0


def seen(states: Array, noise: Noise, rng: np.random.Generator) -> Array:
    """States (…, 2n) as they are measured."""
    n = states.shape[-1] // 2
    return states + rng.normal(size=states.shape) * np.repeat([noise.position, noise.velocity], n)
