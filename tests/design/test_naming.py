"""The names of designs: designs that differ have names that differ, each an identifier."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rbdgen.api.design_file import design_text
from rbdgen.api.output_paths import design_name
from rbdgen.cli.main import main
from rbdgen.design.checks import LONGEST
from rbdgen.design.design import Design, promising
from rbdgen.design.functions import WHOLE
from rbdgen.design.loading import load
from rbdgen.design.nested import JointDrivetrain, MotionLimits
from rbdgen.robot.model import RobotError

NAMES: dict[str, dict[str, Any]] = {
    "pendulum_id": {},
    "pendulum_id_m": {"functions": ("id", "m")},
    "pendulum_m_id": {"functions": ("m", "id")},
    "pendulum_floating_id": {"base": "floating"},
    "pendulum_floating_given_id": {"base": "floating", "root": "given"},
    "pendulum_floating_ecp5_25f_width20_ii2_id": {
        "base": "floating",
        "target": "ecp5-25f",
        "width": 20,
        "ii": 2,
    },
    "pendulum_no_fit_id": {"fit": False},
    "pendulum_registers_id": {"parameters": "registers"},
    "pendulum_accelerator": {"accelerator": True, "functions": WHOLE},
    "pendulum_accelerator_id_m": {"accelerator": True, "functions": ("id", "m")},
    "left_arm": {"name": "left_arm", "functions": ("id", "m"), "base": "floating"},
}
WITH_A_DIGEST: list[dict[str, Any]] = [
    {"gravity": (0, 0, -1.62)},
    {"gravity": (0, 0, -1.63)},
    {"payload": "lower_rod"},
    {"payload": "upper_rod"},
    {"external_forces": ("lower_rod",)},
    {"external_forces": ("all",)},
    {"formulation": "logarithmic"},
    {"velocity": 3},
    {"acceleration": "3,elbow=2"},
    {"limits": MotionLimits(velocity=2.0)},
    {"joint_limits": {"elbow": MotionLimits(velocity=2.0)}},
    {"joints": {"elbow": JointDrivetrain(damping=0.1)}},
    {"snap": 0},
    {"angles": "sincos"},
    {"style": "latency"},
    {"error": 1e-4},
    {"base": "floating", "payload": "lower_rod"},
]


def named(choices: dict[str, Any]) -> str:
    design, robot = load("pendulum", **choices)
    return design_name(robot.name, design)


def test_words_and_functions() -> None:
    assert [named(choices) for choices in NAMES.values()] == list(NAMES)


def test_whatever_differs_has_another_name() -> None:
    names = [named(choices) for choices in WITH_A_DIGEST]
    assert len({*names, *NAMES}) == len(names) + len(NAMES)
    assert all(re.fullmatch(r"pendulum(_[a-z]+)*_[0-9a-f]{6}_id", name) for name in names)


def test_a_function_more_leaves_the_rest_of_a_name() -> None:
    one, two = (named({"gravity": (0, 0, 1), "functions": own}) for own in (("id",), ("id", "m")))
    assert two == f"{one}_m"


def test_the_file_in_a_designs_folder_has_its_name(tmp_path: Path) -> None:
    for choices in (*NAMES.values(), {"velocity": "3,elbow=2", "gravity": (0.1, 0, 0)}):
        design, robot = load("pendulum", **choices)
        (tmp_path / "robot.urdf").write_bytes(Path(design.robot).read_bytes())
        (tmp_path / "design.yaml").write_text(design_text(design))
        again, _ = load(tmp_path / "design.yaml")
        assert design_name(robot.name, again) == design_name(robot.name, design)


def test_whatever_a_robot_is_called_its_designs_have_names_of_their_own() -> None:
    design = promising(Design("any.urdf"))
    robots = ("*/ int main", '"; rm', "日本", "робот", "9" * 80, "9" * 81, "", "int", "a__b", "Ä")
    names = [design_name(robot, design) for robot in robots]
    assert len(set(names)) == len(robots)
    for name in names:
        assert re.fullmatch(r"[a-z](_?[a-z0-9])*", name) and len(name) <= LONGEST
    assert design_name("HyQ 2", replace(design, functions=("did", "m"))) == "hyq_2_did_m"


@pytest.mark.parametrize(
    "name", ["", "Arm", "a__b", "_arm", "arm_", "1st", "é", "a b", "x" * 61, "../arm", "a;b"]
)
def test_no_identifier(name: str) -> None:
    with pytest.raises(RobotError, match=r"^name: up to 60 lower-case letters") as refused:
        Design("any.urdf", name=name)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["int", "wire", "lambda", "exp", "main", "test", "in", "k"])
def test_words_of_a_language(name: str) -> None:
    with pytest.raises(RobotError, match=f"^name: {name} means something else .* my_{name}$"):
        Design("any.urdf", name=name)


def test_the_command_line_refuses_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["generate", "pendulum", "--name", "My Arm"])
    assert capsys.readouterr().err == (
        "rbdgen: --name: up to 60 lower-case letters, digits and single underscores, a letter "
        'first, such as left_arm; not "My Arm"\n'
    )


def test_a_yaml_file_says_the_name(tmp_path: Path) -> None:
    urdf = Path(load("pendulum")[0].robot).resolve()
    (tmp_path / "own.yaml").write_text(f"robot: {urdf}\nname: left_arm\n")
    design, robot = load(tmp_path / "own.yaml")
    assert design_name(robot.name, design) == "left_arm"
    (tmp_path / "own.yaml").write_text(f"robot: {urdf}\nname: Left\n")
    with pytest.raises(RobotError, match=r"own\.yaml:2: name: up to 60"):
        load(tmp_path / "own.yaml")
