"""The reader against Pinocchio, on every URDF of example-robot-data and every shipped robot."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from importlib.metadata import distribution
from pathlib import Path

import pinocchio as pin
import pytest

from rbdgen.robot.model import RobotError
from rbdgen.system.templates import data_folder
from rbdgen_benchmarks.bench.same_robot import assert_same_robot
from tests.support.urdf_files import read_urdf

EXAMPLES = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data"))
)
URDFS = sorted(EXAMPLES.glob("**/*.urdf")) + sorted(data_folder("robots").glob("*.urdf"))
UNUSABLE = {"ur3.urdf"}  # <robot> without a name or a link; Pinocchio refuses it too


def test_the_examples_are_there() -> None:
    assert len(URDFS) > 60


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("path", URDFS, ids=lambda p: p.stem)
def test_same_robot_as_pinocchio(path: Path, base: str) -> None:
    if path.name in UNUSABLE:
        with pytest.raises(RobotError, match="has no name"):
            read_urdf(path)
        return
    robot = read_urdf(path, base=base, mimic="independent")  # type: ignore[arg-type]
    if base == "fixed":
        model = pin.buildModelFromUrdf(str(path))
    else:
        model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    assert_same_robot(robot, model)


@pytest.mark.parametrize("path", URDFS, ids=lambda p: p.stem)
def test_every_link_once_and_children_in_file_order(path: Path) -> None:
    if path.name in UNUSABLE:
        return
    document = ElementTree.parse(path).getroot()
    robot = read_urdf(path, mimic="independent")
    bodies = [joint.body for joint in robot.joints]
    written = [element.get("name") for element in document.findall("link")]
    assert sorted([robot.base_body, *bodies]) == sorted(written)
    rank = {element.get("name"): i for i, element in enumerate(document.findall("joint"))}
    for siblings in robot.children.values():
        ranks = [rank[robot.joints[i].name] for i in siblings]
        assert ranks == sorted(ranks)
