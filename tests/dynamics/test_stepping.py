"""A step, traced, against the golden model: any joints, bases, formulations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.compile.flow import front_end
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import RobotError
from tests.support.random_robots import ALL_KINDS, SINGLE
from tests.support.traced import drawn, simplified, some_robot

H = 0.02
TOLERANCE = 1e-10


def check(seed: int, choices: dict[str, Any], **of_robot: Any) -> None:
    robot = some_robot(seed, **of_robot)
    canonical = canonicalize(robot)
    choices = {"external_forces": canonical.moving, "step": H} | choices
    graph = simplified(trace(canonical, ("step", "fd"), **choices), canonical)
    state = drawn(robot, seed)
    given = (state[name] for name in ("q", "qd", "tau"))
    rule = {"euler": golden.euler_sensitivity, "rk4": golden.rk4_sensitivity}
    expected = rule[choices.get("integrator", "euler")](robot, *given, H, state["f_ext"])
    values = evaluate(graph, to_columns(canonical, graph.inputs, state))
    found = from_columns(values, robot.nv, nq=robot.nq)
    wanted = expected._asdict() | {"qdd": state["qdd"]}
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        scale = max(np.abs(array).max(), 1.0)
        np.testing.assert_allclose(found[name], array, rtol=0, atol=TOLERANCE * scale)


@pytest.mark.parametrize("seed", range(8))
def test_any_joints(seed: int) -> None:
    """Floating and planar ones turn by up to a tenth of a radian."""
    check(seed, {}, kinds=ALL_KINDS if seed % 2 else SINGLE, fixed=0.2)


@pytest.mark.parametrize(
    "choices",
    [{"formulation": "logarithmic"}, {"formulation": "recursive"}, {"factorisation": "mminvgen"}],
    ids=["logarithmic", "recursive", "mminvgen"],
)
def test_every_formulation(choices: dict[str, Any]) -> None:
    check(0, choices, floating_base=True)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_four_points(seed: int) -> None:
    check(seed, {"integrator": "rk4"}, kinds=ALL_KINDS if seed % 2 else SINGLE)


@pytest.mark.parametrize(
    "choices",
    [{"formulation": "logarithmic"}, {"formulation": "recursive"}, {"factorisation": "mminvgen"}],
    ids=["logarithmic", "recursive", "mminvgen"],
)
def test_four_points_in_every_formulation(choices: dict[str, Any]) -> None:
    check(0, choices | {"integrator": "rk4"}, floating_base=True)


def test_mimic_joints() -> None:
    check(5, {}, mimic=0.4)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"functions": ("fd",), "step": 0.01}, "step: 0.01 s is for the function step"),
        ({"step": 0.2}, "seconds above 0 and up to 0.1, not 0.2"),
        (
            {"base": "floating", "root": "given"},
            "root: given: step integrates the motion of the file's base",
        ),
        (
            {"base": "floating", "base_link": "tool"},
            "base_link: tool: step integrates the motion of the file's base",
        ),
        (
            {"functions": ("fd",), "integrator": "rk4"},
            "integrator: rk4 is for the function step",
        ),
        ({"angles": "sincos"}, "angles: sincos: step integrates angles, whose sines alone"),
        (
            {"integrator": "rk4", "inverse": "near", "formulation": "logarithmic"},
            "inverse: near: integrator rk4 would have M⁻¹ of the first point",
        ),
        ({"accelerator": True}, "step is no task of an accelerator"),
    ],
)
def test_what_is_refused(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(RobotError, match=said):
        front_end("gantry", **{"functions": ("step",), **choices})
