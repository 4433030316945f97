"""Every robot of example-robot-data: parsed, traced, and the float graph equals golden."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.compiler import front_end
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.graph.evaluate import evaluate
from rbdgen.robot.model import JointKind, RobotError
from rbdgen.robot.urdf import read_urdf
from tests.golden.example_robots import mimic_files, urdf_files

FILES = urdf_files()
ONE_AXIS = (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.FIXED)
STATES = 3


@cache
def covered(path: Path) -> bool:
    """Whether hardware covers all of the file's joints."""
    return all(joint.kind in ONE_AXIS for joint in read_urdf(path, mimic="independent").joints)


TRACED = [path for path in FILES if covered(path)]
REFUSED = [path for path in FILES if not covered(path)]
CASES = [(path, "independent") for path in TRACED]
CASES += [(path, "fold") for path in mimic_files() if covered(path)]


@pytest.mark.parametrize(("path", "mimic"), CASES, ids=[f"{p.stem}-{m}" for p, m in CASES])
def test_float_graph_is_golden(path: Path, mimic: str) -> None:
    front = front_end(str(path), snap=0.0, mimic=mimic)
    robot = front.robot
    q, qd, qdd = golden.random_state(
        robot, STATES, np.random.default_rng(1), velocity=3.0, acceleration=10.0
    )
    columns = to_columns(front.canonical, front.graph.inputs, {"q": q, "qd": qd, "qdd": qdd})
    values = evaluate(front.graph, columns)
    assert len(values) == robot.nv
    if robot.nv:
        expected = golden.rnea(robot, q, qd, qdd)
        error = np.linalg.norm(from_columns(values)["tau"] - expected, axis=1)
        assert np.all(error <= 1e-10 * np.linalg.norm(expected, axis=1))


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_joints_without_hardware_are_refused(path: Path) -> None:
    with pytest.raises(RobotError, match="hardware for --function id covers") as error:
        front_end(str(path), snap=0.0)
    assert "\n" not in str(error.value)


def test_most_robots_are_covered() -> None:
    print(f"{len(TRACED)} robots traced, {len(REFUSED)} refused: {[p.stem for p in REFUSED]}")
    assert len(TRACED) > 60
    assert len(REFUSED) <= 5
