"""Every robot of example-robot-data: parsed, traced, and the float graph equals golden."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api.reference import golden_model
from rbdgen.compile.flow import front_end
from rbdgen.compile.samples import sample_states
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.graph.evaluate import evaluate
from tests.support.example_robots import mimic_files, urdf_files
from tests.support.marks import fast_at

FILES = urdf_files()
STATES = 3


CASES = [(path, "independent") for path in FILES]
CASES += [(path, "fold") for path in mimic_files()]


@pytest.mark.parametrize(
    ("path", "mimic"),
    fast_at(range(0, len(CASES), 5), CASES),
    ids=[f"{p.stem}-{m}" for p, m in CASES],
)
def test_float_graph_is_golden(path: Path, mimic: str) -> None:
    front = front_end(str(path), snap=0.0, mimic=mimic)
    robot = front.robot
    q, qd, qdd = golden.random_state(
        robot, STATES, np.random.default_rng(1), velocity=3.0, acceleration=10.0
    )
    columns = to_columns(front.canonical, front.graph.inputs, {"q": q, "qd": qd, "qdd": qdd})
    values = evaluate(front.graph, columns)
    if robot.nv:
        expected = golden.rnea(robot, q, qd, qdd)
        error = np.linalg.norm(from_columns(values, robot.nv)["tau"] - expected, axis=1)
        assert np.all(error <= 1e-10 * np.linalg.norm(expected, axis=1))


@pytest.mark.parametrize(
    "name",
    ["hyq_no_sensors", pytest.param("talos_reduced", marks=pytest.mark.slow), "ur5_robot"],
)
@pytest.mark.parametrize("function", ["did,m", "fd,minv"])
def test_floating_bases(name: str, function: str) -> None:
    """Gradients and mass matrix, forward dynamics and inverse, of the same robots set free."""
    (path,) = (path for path in FILES if path.stem == name)
    functions = tuple(function.split(","))
    front = front_end(str(path), snap=0.0, base="floating", functions=functions)
    state = sample_states(front.design, front.robot, STATES, seed=1)
    columns = to_columns(front.canonical, front.graph.inputs, state)
    found = from_columns(evaluate(front.graph, columns), front.robot.nv)
    expected = golden_model(front.design, front.robot, state)
    for array, values in found.items():
        error = np.linalg.norm(values - expected[array]) / np.linalg.norm(expected[array])
        assert error <= (1e-10 if "did" in functions else 1e-7), (array, error)


def test_the_robots_are_many() -> None:
    print(f"{len(FILES)} robots, {len(CASES) - len(FILES)} of them with mimic joints as well")
    assert len(FILES) > 60
    assert len(CASES) > len(FILES) + 4
