"""Every robot of example-robot-data: parsed, traced, and the float graph equals golden."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.compiler import front_end
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.graph.evaluate import evaluate
from rbdgen.robot.model import RobotError
from tests.golden.example_robots import mimic_files, urdf_files

FILES = urdf_files()
STATES = 3


CASES = [(path, "independent") for path in FILES]
CASES += [(path, "fold") for path in mimic_files()]


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


@pytest.mark.parametrize("name", ["hyq_no_sensors", "talos_reduced", "ur5_robot"])
def test_a_floating_base_has_no_hardware_yet_and_is_refused_in_one_line(name: str) -> None:
    (path,) = (path for path in FILES if path.stem == name)
    with pytest.raises(RobotError, match="hardware for --function id covers") as error:
        front_end(str(path), snap=0.0, base="floating")
    assert "\n" not in str(error.value)


def test_the_robots_are_many() -> None:
    print(f"{len(FILES)} robots, {len(CASES) - len(FILES)} of them with mimic joints as well")
    assert len(FILES) > 60
    assert len(CASES) > len(FILES) + 4
