"""Graphs over registers: what the golden model gives of every robot of the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.front import of_bodies
from rbdgen.compile.words import RANGE_SAMPLES, sample_inputs
from rbdgen.design.design import canonical_of
from rbdgen.design.functions import OF_FRAMES, OF_MASSES
from rbdgen.design.loading import load
from rbdgen.graph.fixed import parameter_words
from rbdgen.robot.canonical import merge_fixed
from rbdgen.robot.frames import align_axes
from rbdgen.robot.model import RobotError
from rbdgen.robot.variations import count, varied
from rbdgen_benchmarks.compare.integer_errors import integer_errors
from tests.support.another_robot import any_of_model
from tests.support.coordinates import worst_of
from tests.support.marks import fast_at
from tests.support.register_designs import GEARS, compare

SLOW = pytest.mark.slow
SUMS: dict[str, Any] = {"formulation": "logarithmic"}
FLOATING: dict[str, Any] = {"base": "floating"}
CASES: list[Any] = [
    ("pendulum", ("id",), {}),
    ("pendulum", ("did", "m"), {}),
    ("pendulum", ("fd", "dfd", "minv"), {}),
    ("pendulum", ("fd", "dfd", "minv"), GEARS),
    ("pendulum", ("difd",), {}),
    ("pendulum", ("step",), {}),
    ("pendulum", ("g", "nle"), {}),
    ("pendulum", (*OF_MASSES, "osim"), {"frames": "all", "contact_damping": 0.1}),
    ("pendulum", ("id",), {"external_forces": ("lower_rod",)}),
    ("pendulum", ("did",), {"formulation": "recursive"}),
    ("gantry", ("id",), {"payload": "tool"}),
    ("gantry", OF_FRAMES, {"frames": ("tool",)}),
    ("gantry", ("cfd",), {"frames": ("tool",), "contact_damping": 0.1}),
    ("gantry", ("did",), SUMS),
    ("gantry", ("id",), {"formulation": "linear"}),
    ("gantry", ("id",), {"angles": "sincos"}),
    ("gantry", ("minv",), {"factorisation": "blocks"}),
    pytest.param("iiwa14", ("id",), {}, marks=SLOW),
    pytest.param("iiwa14", ("dfd",), {}, marks=SLOW),
    pytest.param("baxter", ("id",), {}, marks=SLOW),
    pytest.param("hyq", ("id",), FLOATING, marks=SLOW),
    pytest.param("spot_arm_like", ("fd",), {**FLOATING, "root": "given"}, marks=SLOW),
]


@pytest.mark.parametrize(
    ("name", "functions", "choices"), fast_at(range(0, len(CASES), 2), CASES), ids=str
)
def test_like_golden(name: str, functions: tuple[str, ...], choices: dict[str, Any]) -> None:
    front = front_end(name, functions=functions, parameters="registers", **choices)
    rng = np.random.default_rng(3)
    others = [any_of_model(front.robot, front.design.tolerance, rng) for _ in range(2)]
    for robot in (front.robot, *others):
        compare(front, robot)


def test_ranges_are_of_robots_of_the_model() -> None:
    front = front_end("pendulum", parameters="registers", tolerance=0.1)
    given, held = sample_inputs(front), front.parameters
    assert held is not None
    for name, (lower, upper) in held.limits.items():
        seen = given.samples[name]
        assert len(seen) <= RANGE_SAMPLES
        assert lower <= seen.min() < held.nominal[name] < seen.max() <= upper


@pytest.mark.parametrize(
    ("name", "function"),
    [("pendulum", "dfd"), ("gantry", "fd"), pytest.param("iiwa14", "id", marks=SLOW)],
)
def test_no_robot_of_the_model_overflows(name: str, function: str) -> None:
    """With every parameter at an end of its tolerance, and errors are those of the robot itself."""
    front = front_end(name, functions=(function,), parameters="registers", fit=False)
    core, held = compile_front(front), front.parameters
    assert held is not None
    rigid, rng = align_axes(merge_fixed(front.robot)), np.random.default_rng(8)
    own = integer_errors(core, 500)
    for _ in range(3):
        off = np.sign(rng.uniform(-1.0, 1.0, count(rigid))) * front.design.tolerance
        robot = varied(rigid, off)
        canonical = canonical_of(front.design, of_bodies(front.design))(robot)
        words = parameter_words(core.graphs, held.of(canonical))
        other = replace(core, held=words, front=replace(front, robot=robot, canonical=canonical))
        found = integer_errors(other, 500)
        assert found.overflows == 0
        errors = worst_of(own.coordinates)
        for array, error in worst_of(found.coordinates).items():
            assert error < 2 * errors[array]


def test_a_larger_tolerance_has_wider_limits() -> None:
    narrow, wide = (
        front_end("pendulum", parameters="registers", tolerance=tolerance).parameters
        for tolerance in (0.02, 0.2)
    )
    assert narrow is not None
    assert wide is not None
    for name, (lower, upper) in narrow.limits.items():
        assert wide.limits[name][0] < lower < upper < wide.limits[name][1]


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        ({"tolerance": 0.1}, "tolerance: 0.1 is for parameters in registers"),
        ({"parameters": "registers", "fold": "joints", "ii": 8}, "fold: joints: not with"),
        ({"parameters": "registers", "alike": 0.01}, "alike: 0.01: not with"),
        ({"parameters": "registers", "formulation": "lathrop-log"}, "formulation: lathrop-log"),
        ({"parameters": "registers", "tolerance": 0.9}, "tolerance: a part of what parameters"),
    ],
)
def test_what_registers_have_not(choices: dict[str, Any], why: str) -> None:
    with pytest.raises(RobotError, match=why) as error:
        front_end("pendulum", **choices)
    assert "\n" not in str(error.value)


def test_functions_of_no_parameter() -> None:
    """J̇ q̇ of a slide is zero, of whatever robot: there is nothing to hold, nor to draw."""
    _, robot = load("gantry")
    frames = (robot.joints[robot.free[0]].body,)
    choices: dict[str, Any] = {"functions": ("drift",), "frames": frames}
    front = front_end("gantry", parameters="registers", fit=False, **choices)
    assert front.parameters is not None and front.parameters.of_drawn(3).shape == (3, 0)
