"""The regressor against Pinocchio's, of shipped robots and others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from rbdgen import golden
from rbdgen.design.loading import load
from tests.support.pinocchio_models import peer_from_urdf

ROBOTS = Path(__file__).parents[1] / "robots"
HOLD_OUT = str(ROBOTS / "walker.urdf")


@pytest.mark.parametrize(
    ("name", "base"), [("iiwa14", "fixed"), ("hyq", "floating"), (HOLD_OUT, "floating")]
)
def test_against_pinocchio(name: str, base: str) -> None:
    design, robot = load(name, base=base)
    peer = peer_from_urdf(Path(design.robot), robot)
    data = peer.model.createData()
    q, qd, qdd = golden.random_state(robot, 4, np.random.default_rng(3), 3.0)
    found = golden.joint_torque_regressor(robot, q, qd, qdd)
    columns = [10 * (peer.ids[i] - 1) + k for i in robot.moving for k in range(10)]
    for n in range(len(q)):
        state = peer.position(q[n]), peer.velocity(qd[n]), peer.velocity(qdd[n])
        theirs = pin.computeJointTorqueRegressor(peer.model, data, *state)
        theirs = theirs[np.ix_(peer.order, columns)]
        np.testing.assert_allclose(found[n], theirs, rtol=0, atol=1e-11 * np.abs(theirs).max())
