"""Designs with registers, beside the golden model of other robots."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdgen.api.reference import golden_model
from rbdgen.compile.flow import Front
from rbdgen.compile.front import of_bodies
from rbdgen.compile.samples import sample_states
from rbdgen.design.arrays import given_coordinates
from rbdgen.design.design import canonical_of
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.word import not_registers
from rbdgen.robot.model import Robot

GEARS: dict[str, Any] = {
    "joints": {"elbow": {"armature": 0.02, "damping": 0.2, "friction": 0.5, "friction_width": 1.0}}
}


def compare(front: Front, robot: Robot) -> None:
    design, held = front.design, front.parameters
    assert held is not None
    canonical = canonical_of(design, of_bodies(design))(robot)
    words = held.of(canonical)
    state = sample_states(design, canonical, 5, 11)
    columns = to_columns(canonical, not_registers(front.graph.inputs), state)
    columns |= {name: np.full(5, value) for name, value in words.items()}
    given = given_coordinates(design, canonical)
    results = from_columns(
        evaluate(front.graph, columns), canonical.nv, given, len(design.frames), canonical.nq
    )
    expected = golden_model(design, robot, state)
    for name, values in results.items():
        size = max(float(np.abs(expected[name]).max()), 1e-9)
        np.testing.assert_allclose(values, expected[name], rtol=0, atol=1e-9 * size, err_msg=name)
