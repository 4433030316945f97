"""What second derivatives are counted beside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.compile.flow import front_end
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.word import indices
from rbdgen_benchmarks.bench.second_derivatives import every_tangent

SWINGER = str(Path(__file__).parents[2] / "robots" / "swinger.urdf")


@pytest.mark.parametrize(("robot", "base"), [("gantry", "fixed"), (SWINGER, "floating")])
def test_tangents_are_the_same_entries(robot: str, base: str) -> None:
    """Those that are there once only, of symmetric ones; and in no fewer products."""
    choices = {"base": base, "fit": False}
    front = front_end(robot, functions=("did", "m"), **choices)
    graph, own = every_tangent(front), front_end(robot, functions=("ddid",), **choices).graph
    q, qd, qdd = golden.random_state(front.robot, 3, np.random.default_rng(1), 3.0, 10.0)
    state = {"q": q, "qd": qd, "qdd": qdd}
    values = evaluate(graph, to_columns(front.canonical, graph.inputs, state))
    found = from_columns(values, front.robot.nv)
    expected = golden.rnea_second_derivatives(front.robot, q, qd, qdd)._asdict()
    for output in graph.outputs:
        name, at = output.partition("[")[0], (slice(None), *indices(output))
        largest = np.abs(expected[name]).max()
        np.testing.assert_allclose(found[name][at], expected[name][at], atol=1e-10 * largest)
    assert own.operations()["mul"] <= graph.operations()["mul"]
