"""Regressors, traced, against the golden model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.design.functions import REGRESSING
from rbdgen.design.loading import load
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.word import BASE_PARAMETERS, PARAMETERS
from rbdgen.robot.base_parameters import base_parameters
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import BASE, Array, Robot
from rbdgen.robot.variations import ENTRIES
from tests.support.random_robots import ALL_KINDS, SINGLE
from tests.support.traced import simplified, some_robot

TOLERANCE = 1e-11


def check(robot: Robot, seed: int, functions: tuple[str, ...] = REGRESSING, **choices: Any) -> None:
    canonical, first = canonicalize(robot), BASE if choices.get("root") == "given" else 0
    graph = simplified(trace(canonical, functions, **choices), canonical)
    q, qd, qdd = golden.random_state(robot, 3, np.random.default_rng(seed), 3.0)
    values = evaluate(graph, to_columns(canonical, graph.inputs, {"q": q, "qd": qd, "qdd": qdd}))
    base = base_parameters(canonical, first)
    counts = {PARAMETERS: base.of.shape[1], BASE_PARAMETERS: len(base.columns)}
    found = from_columns(values, robot.nv, first, counts=counts)
    Y = golden.joint_torque_regressor(robot, q, qd, qdd)[:, first:]
    for array in (found["Y"], found["Yb"] @ base.of):
        np.testing.assert_allclose(array, Y, rtol=0, atol=TOLERANCE * np.abs(Y).max())


@pytest.mark.parametrize("seed", range(6))
def test_any_joints(seed: int) -> None:
    kinds = ALL_KINDS if seed % 2 else SINGLE
    check(some_robot(seed, kinds=kinds, fixed=0.2, mimic=0.2 * (seed % 3)), seed)


def test_beside_inverse_dynamics_of_a_given_base() -> None:
    robot = load("hyq", base="floating")[1]
    check(robot, 3, (*REGRESSING, "id"), root="given", sincos_inputs=True)


def parameters(robot: Robot) -> Array:
    """π of the bodies that joints move, those fixed to them included."""
    return np.concatenate(
        [
            [own.mass, *own.h, *(own.J[entry] for entry in ENTRIES)]
            for own in (robot.joints[i].inertia for i in robot.moving)
        ]
    )


@pytest.mark.parametrize("seed", range(3))
def test_times_parameters_it_is_inverse_dynamics(seed: int) -> None:
    robot = some_robot(seed, kinds=ALL_KINDS, mimic=0.3)
    q, qd, qdd = golden.random_state(robot, 3, np.random.default_rng(seed), 3.0)
    tau = golden.rnea(robot, q, qd, qdd)
    found = golden.joint_torque_regressor(robot, q, qd, qdd) @ parameters(robot)
    np.testing.assert_allclose(found, tau, rtol=0, atol=TOLERANCE * np.abs(tau).max())
