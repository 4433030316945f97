"""A robot's states in MuJoCo's coordinates and in ours, and dynamics in MuJoCo's loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api import InputError
from rbdgen_host.driver import Dynamics

mujoco = pytest.importorskip("mujoco")
from rbdgen_host.driver.mujoco_states import MujocoStates  # noqa: E402

ROBOTS = Path(__file__).parents[2] / "robots"
WALKER = """<mujoco model="walker"><worldbody>{before}
  <body name="trunk" pos="0 0 1"><freejoint{name}/><geom size="0.1 0.2 0.3" type="ellipsoid"/>
    <body name="right" pos="0 -0.2 0"><joint name="hip_r" axis="0 1 0"/>
      <geom size="0.05 0.1" pos="0 0 -0.1" type="capsule"/>
      <body name="foot" pos="0 0 -0.2"><joint name="reach" type="slide" axis="0 0 1"/>
        <geom size="0.05" mass="0.3"/></body></body>
    <body name="left" pos="0 0.2 0"><joint name="hip_l" axis="1 1 0"/>
      <geom size="0.05 0.1" pos="0 0.1 -0.1" type="capsule"/></body>
  </body></worldbody></mujoco>"""
BALL = '<body name="ball" pos="3 0 0"><freejoint name="rolls"/><geom size="0.1"/></body>'


def simulated(text: str, seed: int) -> tuple[Any, Any]:
    """A model without contacts, and its data in a seeded state."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data, rng = mujoco.MjData(model), np.random.default_rng(seed)
    data.qpos[:] = rng.uniform(-1, 1, model.nq)
    mujoco.mj_normalizeQuat(model, data.qpos)
    data.qvel[:], data.qacc[:] = rng.uniform(-1, 1, (2, model.nv))
    return model, data


@pytest.mark.parametrize("name", ["", ' name="floats"'])
@pytest.mark.parametrize("before", ["", BALL])
def test_a_base_that_is_free(name: str, before: str, tmp_path: Path) -> None:
    """τ is MuJoCo's, whose model has more than the robot; there it gives the acceleration that it
    is of, and a state comes back as it was."""
    file = tmp_path / "walker.xml"
    file.write_text(WALKER.format(before="", name=name))
    model, data = simulated(WALKER.format(before=before, name=name), 1)
    dynamics = Dynamics(file, "golden", functions=("id", "fd"), accelerator=False)
    states = MujocoStates(model, dynamics)
    first = model.nv - dynamics.nv
    mujoco.mj_inverse(model, data)
    q, v = states.state(data)
    a = states.acceleration(data)
    tau = dynamics.rnea(q, v, a)
    states.apply(data, tau)
    np.testing.assert_allclose(data.qfrc_applied[first:], data.qfrc_inverse[first:], atol=1e-12)
    wanted = data.qacc.copy()
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.qacc[first:], wanted[first:], atol=1e-9)
    np.testing.assert_allclose(dynamics.aba(q, v, tau), states.acceleration(data), atol=1e-9)
    other = mujoco.MjData(model)
    states.set_state(other, q, v)
    np.testing.assert_allclose(other.qpos[-len(q) :], data.qpos[-len(q) :], atol=1e-15)
    np.testing.assert_allclose(other.qvel[first:], data.qvel[first:], atol=1e-15)


def test_an_arm_is_read_where_it_lies() -> None:
    file = str(ROBOTS / "gantry.urdf")
    model = mujoco.MjModel.from_xml_path(file)
    data = mujoco.MjData(model)
    dynamics = Dynamics(file, "golden", functions=("id",), accelerator=False)
    q, v = MujocoStates(model, dynamics).state(data)
    assert np.shares_memory(q, data.qpos) and np.shares_memory(v, data.qvel)
    data.qpos[:], data.qvel[:], data.qacc[:] = np.random.default_rng(2).uniform(-1, 1, (3, len(q)))
    mujoco.mj_inverse(model, data)
    np.testing.assert_allclose(dynamics.rnea(q, v, data.qacc), data.qfrc_inverse, rtol=1e-9)


def test_joints_that_the_model_has_none_of() -> None:
    model, _ = simulated(WALKER.format(before="", name=""), 1)
    arm = Dynamics("pendulum", "golden", functions=("id",), accelerator=False)
    with pytest.raises(InputError, match="MuJoCo's model has no revolute joint 'shoulder'"):
        MujocoStates(model, arm)
