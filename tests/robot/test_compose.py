"""URDFs made of others: an arm on a trunk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen import api, golden
from rbdgen.design.loading import load
from rbdgen.robot.compose import mounted
from rbdgen.robot.model import RobotError
from rbdgen.robot.urdf import parse_urdf
from tests.support.urdf_files import read_urdf
from tests.support.urdf_transmissions import arm, transmission

PLACE = {"xyz": (0.2, 0.0, 0.1), "rpy": (0.0, 0.3, 0.0)}


def test_arm_on_a_quadruped(tmp_path: Path) -> None:
    """On a trunk that does not move, legs and arm know nothing of each other."""
    file = api.mount("hyq", "iiwa14", "trunk", tmp_path / "both.urdf", **PLACE)
    whole = read_urdf(file)
    legs, arm = load("hyq")[1], load("iiwa14")[1]
    assert whole.joint_names == [*legs.joint_names, *(f"arm_{n}" for n in arm.joint_names)]
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (3, 5, whole.nv))
    still = (
        read_urdf(file, gravity=(0, 0, 0)),
        *(read_urdf(load(name)[0].robot, gravity=(0, 0, 0)) for name in ("hyq", "iiwa14")),
    )
    tau = golden.rnea(still[0], q, qd, qdd)
    apart = [
        golden.rnea(robot, *(x[:, own] for x in (q, qd, qdd)))
        for robot, own in zip(still[1:], (slice(12), slice(12, None)), strict=True)
    ]
    np.testing.assert_allclose(tau, np.concatenate(apart, axis=1), atol=1e-12)


def test_placement_counts(tmp_path: Path) -> None:
    """On a thigh the arm's mass is felt at the hip."""
    file = api.mount("hyq", "pendulum", "lf_thigh", tmp_path / "both.urdf", **PLACE)
    whole, legs = read_urdf(file), load("hyq")[1]
    q, still = np.full((1, whole.nv), 0.3), np.zeros((1, whole.nv))
    carried = golden.rnea(whole, q, still, still)[0]
    free = golden.rnea(legs, q[:, :12], still[:, :12], still[:, :12])[0]
    felt = [
        name
        for name, a in zip(legs.joint_names, free, strict=True)
        if not np.isclose(a, carried[whole.joint_names.index(name)])
    ]
    assert felt == ["lf_hip_abduction", "lf_hip_flexion"]


def test_an_arms_rotors_stay() -> None:
    """Whatever tags said them; transmissions themselves are left behind."""
    base = arm("").replace("arm", "base").encode()
    rotor = "<rotorInertia>2e-5</rotorInertia><mechanicalReduction>100</mechanicalReduction>"
    own = arm('<dynamics damping="0.5"/>', "", extra=transmission("j0", rotor)).encode()
    whole = parse_urdf(mounted(base, own, "l1"))
    found = {joint.name: joint.drivetrain for joint in whole.joints}
    assert (found["arm_j0"].armature, found["arm_j0"].damping) == (pytest.approx(0.2), 0.5)
    assert found["arm_j1"].is_zero and found["j0"].is_zero


def test_refused(tmp_path: Path) -> None:
    with pytest.raises(
        RobotError, match=r'no link "trnk" to mount .*iiwa14\.urdf on; did you mean'
    ):
        api.mount("hyq", "iiwa14", "trnk", tmp_path / "x.urdf")
    with pytest.raises(RobotError, match=r'link "trunk" is one of .*hyq\.urdf, too; give another'):
        api.mount("hyq", "hyq", "trunk", tmp_path / "x.urdf", prefix="")
    assert not (tmp_path / "x.urdf").exists()
