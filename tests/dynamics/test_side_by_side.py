"""Gradients in one frame, as visits that are lanes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.compile.flow import front_end
from rbdgen.dynamics.interface import random_inputs
from rbdgen.dynamics.side_by_side import COLUMN, side_by_side
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.visit_order import grouped
from rbdgen.graph.visits import inlined
from rbdgen.robot.limbs import limbs_of

SEED = 7
WALKER = str(Path(__file__).parents[1] / "robots" / "walker.urdf")
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "inverse": ("pendulum", {"functions": ("did",)}),
    "forward": ("pendulum", {"functions": ("dfd",)}),
    "with M": ("gantry", {"functions": ("did", "m")}),
    "floating, inverse": (WALKER, {"functions": ("did",), "base": "floating"}),
    "floating, forward": (WALKER, {"functions": ("dfd",), "base": "floating"}),
}


@pytest.mark.parametrize(("robot", "choices"), CASES.values(), ids=CASES)
def test_visits_compute_what_the_graph_does(robot: str, choices: dict[str, Any]) -> None:
    front = front_end(robot, **choices)
    inputs = random_inputs(front.canonical, front.graph.inputs, 4, SEED)
    expected = evaluate(front.graph, inputs)
    largest = max(np.abs(values).max() for values in expected.values())
    program = side_by_side(front.canonical, front.graph, front.design.rotation)
    assert program
    for own in (program, grouped(program)):
        made = evaluate(inlined(own, front.graph.inputs), inputs)
        for name, values in expected.items():
            np.testing.assert_allclose(made[name], values, rtol=0, atol=1e-11 * largest)


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "no gradients": ("pendulum", {"functions": ("id",)}),
    "another function": ("pendulum", {"functions": ("did", "minv")}),
    "external forces": ("pendulum", {"functions": ("did",), "external_forces": ("lower_rod",)}),
}


@pytest.mark.parametrize(("robot", "choices"), REFUSED.values(), ids=REFUSED)
def test_what_there_are_no_visits_of(robot: str, choices: dict[str, Any]) -> None:
    front = front_end(robot, **choices)
    assert side_by_side(front.canonical, front.graph, front.design.rotation) is None


def test_joints_and_columns_stand_side_by_side() -> None:
    front = front_end("iiwa14", functions=("dfd",))
    assert not limbs_of(front.canonical).turning
    program = side_by_side(front.canonical, front.graph, front.design.rotation)
    assert program
    made = grouped(program)
    sizes = {name: len(made.of(name)) for name in made.templates}
    assert sizes["body"] == 7 and sizes["back"] == 6 and sizes[COLUMN] == 13
    assert [name for name in sizes if name.startswith("pair_1")] == ["pair_1"]
    assert sizes["pair_1"] == 5
    assert all(size == 1 for name, size in sizes.items() if name.startswith("between"))
    order = [visit.template for visit in made.reads]
    runs = [name for name, before in zip(order, ["", *order], strict=False) if name != before]
    assert len(runs) == len(set(runs))
