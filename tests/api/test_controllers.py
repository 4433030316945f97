"""Controllers as folders: what each is called, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.api.controllers import compiled
from rbdgen.design.loading import load
from rbdgen.design.naming import design_name
from rbdgen.robot.model import RobotError
from tests.support.zoo import urdf


def test_a_name_has_the_controller() -> None:
    design, robot = load("pendulum", controller="ilqr", knots=20)
    assert design_name(robot.name, design) == "pendulum_ilqr_knots20"


@pytest.mark.parametrize(
    ("choices", "line"),
    [
        ({"to": "c"}, "controller: ilqr is for cpp, not for c; --to cpp"),
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


def test_a_compiled_one_is_refused_the_same() -> None:
    with pytest.raises(RobotError, match="base: floating"):
        compiled("pendulum", base="floating")
