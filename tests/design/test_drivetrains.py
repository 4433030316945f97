"""Rotors, damping and friction of a design: who says them, who wins, what is refused and noted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api.design_file import design_text
from rbdgen.compile.samples import sample_states
from rbdgen.design.loading import load, shipped_robots
from rbdgen.robot.model import Drivetrain, RobotError
from rbdgen.system.templates import data_folder

SAID = '<dynamics damping="0.5" friction="0.3" armature="0.02"/></joint>'
BLOCK = """robot: arm.urdf
friction_width: 0.4
joints:
  elbow: {friction: 2, friction_width: 0.05}
  shoulder: {armature: 0, damping: 7}
"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    text = (data_folder("robots") / "pendulum.urdf").read_text()
    (tmp_path / "arm.urdf").write_text(text.replace("</joint>", SAID))
    return tmp_path / "arm.urdf"


def drives(robot: Path | str, **choices: Any) -> tuple[list[Drivetrain], list[str]]:
    notes: list[str] = []
    loaded = load(robot, notes=notes, **choices)[1]
    return [joint.drivetrain for joint in loaded.joints if joint.kind.nv], notes


def test_who_wins(arm: Path) -> None:
    """A joint's block over the file; of widths, one by name, then the block's, then all joints'."""
    assert drives(arm)[0] == [Drivetrain(0.02, 0.5, 0.3, 0.1)] * 2
    design = arm.with_name("arm.yaml")
    design.write_text(BLOCK)
    own = [Drivetrain(0.0, 7.0, 0.3, 0.4), Drivetrain(0.02, 0.5, 2.0, 0.05)]
    assert drives(design)[0] == own
    assert [d.width for d in drives(design, friction_width="0.2,elbow=0.3")[0]] == [0.2, 0.3]
    block = {"elbow": {"damping": 1}}
    assert drives(arm, joints=block)[0][1] == Drivetrain(0.02, 1.0, 0.3, 0.1)


def test_a_design_comes_back_as_it_was_written(arm: Path) -> None:
    design = arm.with_name("arm.yaml")
    design.write_text(BLOCK + "friction: false\n")
    (arm.parent / "robot.urdf").write_text(arm.read_text())
    again = arm.with_name("again.yaml")
    again.write_text(design_text(load(design)[0]))
    assert drives(again) == drives(design)
    assert "friction: true" in design_text(load("pendulum")[0])


def test_no_friction_keeps_rotors(arm: Path) -> None:
    found, notes = drives(arm, friction=False)
    assert [(d.armature, d.damping, d.friction) for d in found] == [(0.02, 0.0, 0.0)] * 2
    (note,) = notes
    assert note.startswith(
        'damping and friction of 2 joints ("shoulder", "elbow"): left out (--no-'
    )
    (note,) = drives("pendulum", friction=False)[1]
    assert note.startswith("friction: False is for joints with damping or friction")


def test_widths_are_said(arm: Path) -> None:
    damped, one, other = drives(arm, friction_width="elbow=0.3")[1]
    assert damped.startswith('damping of 2 joints ("shoulder", "elbow"): in tau, where Pinocchio')
    assert one.startswith('friction of joint "shoulder": smoothed, ') and "qd / 0.1 up" in one
    assert other.startswith('friction of joint "elbow": smoothed, ') and "qd / 0.3 up" in other


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("joints:\n  elbw: {damping: 1}\n", r'arm.yaml:3: joints: no joint "elbw" moves; did you'),
        ("joints:\n  elbow: {dampng: 1}\n", r'arm.yaml:3: unknown key "dampng"; did you mean'),
        ("joints:\n  elbow: {friction: -1}\n", r"arm.yaml:3: friction: must not be below 0, is -1"),
        ("joints:\n  elbow: {friction_width: 0}\n", r"arm.yaml:3: friction_width: must be above 0"),
        ("friction_width: 1,elbw=2\n", r'arm.yaml:2: friction_width: no joint "elbw" moves'),
        ("friction: 0.3\n", r"arm.yaml:2: friction: true or false, not"),
    ],
)
def test_refused_in_one_line(arm: Path, text: str, message: str) -> None:
    design = arm.with_name("arm.yaml")
    design.write_text("robot: arm.urdf\n" + text)
    with pytest.raises(RobotError, match=message) as refused:
        load(design)
    assert "\n" not in str(refused.value)


def test_refused_of_python() -> None:
    for joints, message in (
        ({"elbow": {"dampng": 1}}, "joints: elbow: a mapping of some of armature, damping"),
        ({"elbow": {"damping": -1}}, "joints: damping: must not be below 0"),
    ):
        with pytest.raises(RobotError, match=message):
            load("pendulum", joints=joints)
    with pytest.raises(RobotError, match="is planar; armature, damping and friction are of joints"):
        load("tiago_like", joints={"drive": {"damping": 1}})


def test_some_states_are_slow(arm: Path) -> None:
    design, robot = load(arm)
    qd = sample_states(design, robot, 4000, 1, extremes=0.5)["qd"]
    for column in qd.T:
        share = np.mean(np.abs(column) < 0.15)
        assert 0.22 < share < 0.3


def test_efforts_hold_friction_too(arm: Path) -> None:
    """Within the limits, and what the states' accelerations take."""
    design, robot = load(arm, functions=("fd",), effort=9.0, velocity=10.0)
    state = sample_states(design, robot, 500, 2)
    assert np.abs(state["tau"]).max() <= 9.0 * (1 + 1e-12)
    tau = golden.rnea(robot, *(state[k] for k in ("q", "qd", "qdd", "f_ext")))
    np.testing.assert_allclose(state["tau"], tau, atol=1e-11)


def test_shipped_robots_have_none() -> None:
    """So that the designs that these pages measure are those of rigid bodies."""
    for name in shipped_robots():
        assert all(joint.drivetrain.is_zero for joint in load(name)[1].joints), name
