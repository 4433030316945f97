"""Controllers as folders: what each is called, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.api.controllers import compiled
from rbdgen.api.output_paths import design_name
from rbdgen.design.loading import load
from rbdgen.robot.model import RobotError
from tests.support.zoo import urdf


def test_a_name_has_the_controller() -> None:
    design, robot = load("pendulum", programs=True, controller="ilqr", knots=20)
    assert design_name(robot.name, design) == "pendulum_ilqr_knots20"


@pytest.mark.parametrize(
    ("choices", "line"),
    [
        ({"to": "cuda"}, "controller: ilqr is for cpp and c, not for cuda; --to cpp"),
        ({"to": "cpp", "functions": ("fd",)}, "functions: fd: controller ilqr computes id, did"),
        ({"to": "cpp", "base": "floating"}, "base: floating: not with controller ilqr, which"),
        (
            {"to": "cpp", "payload": "lower_rod"},
            "payload: lower_rod: not with controller ilqr, whose",
        ),
        ({"to": "cpp", "knots": 0}, "knots: a whole number of steps from 1 to 1000, not 0"),
    ],
)
def test_what_it_has_not_is_refused(choices: dict[str, Any], line: str, tmp_path: Path) -> None:
    with pytest.raises((api.UsageError, RobotError), match=line):
        api.generate("pendulum", tmp_path / "made", **{"controller": "ilqr", **choices})
    assert not (tmp_path / "made").exists()


def test_joints_of_several_coordinates_are_refused(tmp_path: Path) -> None:
    (tmp_path / "zoo.urdf").write_text(urdf())
    with pytest.raises(
        RobotError, match=r"is of joints of one coordinate each, and (drone|crab) is"
    ):
        api.generate(str(tmp_path / "zoo.urdf"), tmp_path / "made", to="cpp", controller="ilqr")


@pytest.mark.parametrize(
    ("choices", "functions"),
    [
        ({"controller": "impedance"}, ("impedance",)),
        ({"controller": "computed-torque"}, ("computed_torque",)),
        ({"controller": "gravity", "functions": "id"}, ("id", "gravity")),
        ({"controller": "gravity", "functions": ("m", "gravity")}, ("m", "gravity")),
        ({"controller": "none"}, ("id",)),
    ],
)
def test_a_law_is_one_of_the_functions(choices: dict[str, Any], functions: tuple[str, ...]) -> None:
    design, _ = load("pendulum", **choices)
    assert (design.functions, design.controller) == (functions, "none")


def test_a_file_names_its_controller(tmp_path: Path) -> None:
    """As any other option: what the command line says takes its place."""
    file, robot = tmp_path / "arm.yaml", Path("robots/pendulum.urdf").resolve()
    file.write_text(f"robot: {robot}\ncontroller: impedance\nkp: 30\n")
    assert load(file)[0].functions == ("impedance",)
    assert load(file, controller="computed-torque")[0].functions == ("computed_torque",)
    with pytest.raises(RobotError, match=r"kp: 30.* is for controllers"):
        load(file, controller="none")
    assert load(file, functions="m")[0].functions == ("m", "impedance")
    file.write_text(f"robot: {robot}\ncontroller: pid\n")
    with pytest.raises(RobotError, match=r'arm.yaml:2: .*"pid" is unknown; one of none, computed_'):
        load(file)


def test_a_program_computes_no_function(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    file.write_text(f"robot: {Path('robots/pendulum.urdf').resolve()}\ncontroller: ilqr\n")
    line = "controller: ilqr is a program, of rbdgen generate --to cpp or c alone"
    states = {"q": [[0.0, 0.0]], "qd": [[0.0, 0.0]], "qdd": [[0.0, 0.0]]}
    for command in (
        lambda: api.info("pendulum", controller="ilqr", ii=8),
        lambda: api.info(str(file)),
        lambda: api.evaluate(str(file), states),
        lambda: api.evaluate("pendulum", states, controller="ilqr"),
    ):
        with pytest.raises(RobotError, match=line):
            command()


def test_a_compiled_one_is_refused_the_same() -> None:
    with pytest.raises(RobotError, match="base: floating"):
        compiled("pendulum", base="floating")
