"""Visits compute what the graph does, over registers too; their order is that of their words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen.compile.flow import Front, front_end
from rbdgen.compile.samples import sample_states
from rbdgen.compile.visits import solving, with_visits
from rbdgen.dynamics.interface import to_columns
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.word import not_registers
from tests.support.marks import slow
from tests.support.register_designs import GEARS

SLOW = pytest.mark.slow
N = 8
CASES: list[Any] = [
    ("pendulum", ("id",), {}),
    ("pendulum", ("fd", "minv", "dfd"), {}),
    ("pendulum", ("fd", "dfd", "minv"), GEARS),
    ("pendulum", ("difd",), {}),
    ("gantry", ("did", "m"), {}),
    slow(("gantry", ("did",), {})),
    slow(("gantry", ("step",), {})),
    ("gantry", ("id",), {"payload": "tool"}),
    slow(("gantry", ("did",), {"formulation": "logarithmic"})),
    slow(("gantry", ("id",), {"formulation": "linear"})),
    slow(("iiwa14", ("did", "m"), {})),
    slow(("baxter", ("id",), {})),
    slow(("hyq", ("fd",), {"base": "floating"})),
]


@pytest.mark.parametrize(("name", "functions", "choices"), CASES, ids=str)
def test_like_the_graph(name: str, functions: tuple[str, ...], choices: dict[str, Any]) -> None:
    front = front_end(name, functions=functions, parameters="registers", code="loops", **choices)
    looped, program = with_visits(front)
    assert program is not None
    assert max(len(program.of(template)) for template in program.templates) > 1
    state = sample_states(front.design, front.canonical, N, 3)
    for robot in (0, 5, 20):
        expected, found = (results(own, state, robot) for own in (front, looped))
        for output, values in expected.items():
            size = max(1.0, float(np.abs(values).max()))
            np.testing.assert_allclose(found[output], values, rtol=0, atol=1e-12 * size)


def results(front: Front, state: dict[str, Any], robot: int) -> dict[str, Any]:
    """Of the drawn robot of that number."""
    held, names = front.parameters, not_registers(front.graph.inputs)
    assert held is not None
    columns = to_columns(front.canonical, names, state)
    words = zip(held.names, held.of_drawn(32)[robot], strict=True)
    columns |= {name: np.full(N, value) for name, value in words}
    return evaluate(front.graph, columns)


def test_what_stays_as_it_is() -> None:
    """Without loops, and without registers, the front does."""
    inline = front_end("pendulum", parameters="registers")
    assert with_visits(inline) == (inline, None)
    constants = front_end("pendulum", code="loops")
    front, program = with_visits(constants)
    assert front is constants
    assert program is not None


def test_sides_of_columns_are_in_the_order_of_their_words() -> None:
    """Written code follows it, so it is the same in every process, as the order of sets is not."""
    columns = solving(front_end("iiwa14_fast", functions=("dfd",)).graph)
    assert columns is not None and len(columns.sides) > 10
    assert [name for name in columns.before if name in columns.sides] == list(columns.sides)
