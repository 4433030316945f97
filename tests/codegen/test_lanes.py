"""One state alone, whose limbs and columns are lanes of a register."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.program_folder import interface_of
from rbdgen.codegen.cpp import cpp
from rbdgen.compile.floats import COLUMN, FACTORS, alike
from rbdgen.compile.flow import front_end
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.visits import inlined
from tests.codegen.test_cpp import WALKER, compare

SEED = 5
ABOUT = {"robot": "a robot", "functions": "functions"}


CASES = {
    "columns": ("pendulum", {"functions": ("dfd",)}, {FACTORS, COLUMN}),
    "several": ("pendulum", {"functions": ("dfd", "did", "minv")}, {FACTORS, COLUMN}),
    "limbs": (WALKER, {"functions": ("did",), "base": "floating"}, {"trunk", "limb", "rest"}),
}
FEW = ("columns", "limbs")


@pytest.mark.parametrize(("robot", "choices", "templates"), CASES.values(), ids=CASES)
def test_programs_compute_what_the_graph_does(
    robot: str, choices: dict[str, Any], templates: set[str]
) -> None:
    front = front_end(robot, **choices)
    rng = np.random.default_rng(SEED)
    inputs = {name: rng.uniform(-1, 1, 4) for name in front.graph.inputs}
    if "base" in choices:
        quaternion = [f"q[{k}]" for k in range(3, 7)]
        length = np.sqrt(sum(inputs[name] ** 2 for name in quaternion))
        inputs |= {name: inputs[name] / length for name in quaternion}
    expected = evaluate(front.graph, inputs)
    (own,) = [own for own in alike(front) if set(own.templates) == templates]
    made = evaluate(inlined(own, front.graph.inputs), inputs)
    for name, values in expected.items():
        np.testing.assert_allclose(made[name], values, rtol=0, atol=1e-9 * np.abs(values).max())


@pytest.mark.parametrize(("robot", "choices", "templates"), [CASES[c] for c in FEW], ids=FEW)
def test_one_state_is_that_of_a_batch(
    robot: str,
    choices: dict[str, Any],
    templates: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rbdgen.codegen.lanes.SAVES", 2.0)  # of small robots they save nothing
    made = compare(tmp_path, robot, **choices)
    assert set(made.facts["alone"]["stages"]) == templates
    assert max(made.facts["alone"]["visits"]) > 1


def test_nothing_is_alike_where_it_saves_too_little() -> None:
    front = front_end("pendulum", functions=("dfd",))
    _, facts = cpp(front.graph, interface_of(front), "made", ABOUT, alone=alike(front))
    assert alike(front) and "alone" not in facts
