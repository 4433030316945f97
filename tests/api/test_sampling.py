"""Random states are what evaluate takes, with the same choices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.cli.main import main
from rbdgen.design.bounds import bounds
from rbdgen.design.loading import load
from rbdgen.robot.model import RobotError

SINGULAR = """<robot name="twice">
  <link name="a"/>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint><link name="b"/>
  <joint name="k" type="continuous"><parent link="b"/><child link="c"/></joint>
  <link name="c"><inertial>
    <mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>
</robot>
"""


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("pendulum", {}),
        ("gantry", {"external_forces": ("gripper_mount",), "functions": ("aba",)}),
        ("gantry", {"functions": ("difd",)}),
        ("pendulum", {"base": "floating", "functions": ("did", "m")}),
        ("pendulum", {"base": "floating", "root": "given", "functions": ("fd",)}),
    ],
)
@pytest.mark.parametrize("model", ["golden", "fixed"])
def test_evaluate_takes_them(robot: str, model: str, choices: dict[str, Any]) -> None:
    drawn = api.states(robot, 300, 1, **choices)
    found = api.evaluate(robot, drawn, model, **choices)
    assert all(len(found[name]) == 300 for name in found if not name.endswith("names"))
    if model == "fixed":
        assert not found["overflow"].any()
    assert ("f_ext" in drawn) == ("external_forces" in choices)
    assert list(drawn["joint_names"]) == list(found["joint_names"])


def test_of_all_functions_unless_some_are_named() -> None:
    assert {*api.states("pendulum", 2)} == {"q", "qd", "qdd", "tau", "Minv", "joint_names"}
    named = api.states("pendulum", 2, functions=("m",))
    assert "tau" not in named
    assert "Minv" not in named


def test_seeded_and_within_the_limits() -> None:
    first, again, other = (api.states("iiwa14", 500, seed) for seed in (1, 1, 2))
    design, robot = load("iiwa14")
    box = bounds(design, robot)
    assert (first["q"] >= box.q_lower).all()
    assert (first["q"] <= box.q_upper).all()
    assert (np.abs(first["qd"]) <= box.qd).all()
    for name, values in first.items():
        assert (values == again[name]).all()
    assert (first["q"] != other["q"]).any()


def test_what_has_no_inverse(tmp_path: Path) -> None:
    (tmp_path / "twice.urdf").write_text(SINGULAR)
    said: list[str] = []
    drawn = api.states(str(tmp_path / "twice.urdf"), 3, progress=said.append)
    assert "Minv" not in drawn
    assert said[0].startswith("note: no Minv: twice: singular mass matrix")
    with pytest.raises(RobotError, match="singular mass matrix"):
        api.states(str(tmp_path / "twice.urdf"), 3, functions=("difd",))


def test_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["states", "pendulum", "-n", "5", "--seed", "7", "-o", "new/s.npz"]) == 0
    assert capsys.readouterr().out == "new/s.npz\n"
    first = Path("new/s.npz").read_bytes()
    assert main(["states", "pendulum", "-n", "5", "--seed", "7", "--json", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["arrays"]["q"] == [5, 2]
    assert not err
    assert Path("states.npz").read_bytes() == first
    run = "evaluate pendulum --model fixed --input states.npz --output out.npz --json --quiet"
    assert main(run.split()) == 0
    assert json.loads(capsys.readouterr().out)["arrays"]["tau"] == [5, 2]
    assert main(["states", "pendulum", "-n", "1000000000000"]) == 1
    assert "are too many at a time; up to" in capsys.readouterr().err
