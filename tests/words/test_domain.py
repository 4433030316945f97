"""What follows from a state, as a graph over its coordinates, is what the golden model says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen.compile.flow import front_end
from rbdgen.compile.samples import domain_of, sample_states
from rbdgen.compile.words import sample_inputs
from rbdgen.dynamics.interface import to_columns


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("iiwa14", {"functions": ("did", "fd")}),
        ("iiwa14", {"functions": ("did",), "angles": "sincos"}),
        ("gantry", {"functions": ("difd", "fd"), "external_forces": ("all",)}),
        ("hyq", {"functions": ("dfd",), "base": "floating"}),
        ("hyq", {"functions": ("fd", "difd"), "base": "floating", "root": "given"}),
        ("pendulum", {"functions": ("id", "fd", "m"), "accelerator": True, "ii": 4}),
    ],
)
def test_inputs_that_follow_from_a_state(robot: str, choices: dict[str, Any]) -> None:
    front = front_end(robot, **choices)
    canonical, names = front.canonical, front.graph.inputs
    state = sample_states(front.design, canonical, 200, 4, extremes=0.5)
    domain = domain_of(front.design, canonical, names, state)
    expected = to_columns(canonical, names, state)
    found = domain.columns(domain.samples, names)
    assert found.keys() == expected.keys()
    for name, column in expected.items():
        size = np.abs(column).max()
        np.testing.assert_allclose(found[name], column, atol=1e-9 * max(size, 1), err_msg=name)


def test_vectors_are_whole_and_angles_turn() -> None:
    front = front_end("hyq", functions=("id",), base="floating")
    domain = sample_inputs(front).domain
    assert domain is not None
    assert domain.vectors == (("q[3]", "q[4]", "q[5]", "q[6]"),)
    assert domain.turns == {f"q[{k}]" for k in range(7, 19)}
    whole, copies = domain.over(front.graph)
    angles = domain.angles_read(whole)
    knees = {f"tau[{k}]": angles[copies[front.graph.outputs[f"tau[{k}]"]]] for k in (0, 8)}
    assert knees == {"tau[0]": 16, "tau[8]": 7}


def test_states_beyond_an_effort_are_left_out() -> None:
    front = front_end("iiwa14", functions=("fd",), effort=60.0)
    given = sample_inputs(front)
    assert given.domain is not None
    searched, _ = given.searched(front.graph)
    assert searched.extremes
    for states in (given.extremes, searched.extremes):
        for name, values in states.items():
            if name.startswith("tau"):
                assert np.abs(values).max(initial=0) <= 60
