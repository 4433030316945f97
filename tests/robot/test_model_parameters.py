"""What robots of one model share, and what each has to itself."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.robot.canonical import merge_fixed, stages
from rbdgen.robot.frames import align_axes
from rbdgen.robot.model import Robot, RobotError, Transform
from rbdgen.robot.model_parameters import ModelParameters, numbers_of
from rbdgen.robot.variations import count, varied
from tests.support.another_robot import any_of_model
from tests.support.marks import slow

TOLERANCE = 0.05


def canonical(robot: Robot) -> Robot:
    *_, (_, last) = stages(robot, 1e-5, geometry=True)
    return last


def model(name: str, **choices: str) -> tuple[Robot, ModelParameters]:
    _, robot = load(name, **choices)
    return robot, numbers_of(robot, canonical, TOLERANCE, frames=False)


@pytest.mark.parametrize("name", ["pendulum", "gantry", slow("iiwa14"), slow("spot_arm_like")])
def test_numbers_are_all_of_a_robot(name: str) -> None:
    """Others of the model have their own dynamics by their numbers alone, all within the box."""
    robot, numbers = model(name)
    rng = np.random.default_rng(7)
    lower, upper = numbers.box
    rigid = align_axes(merge_fixed(robot))
    corners = np.sign(rng.uniform(-TOLERANCE, TOLERANCE, (5, count(rigid)))) * TOLERANCE
    others = [any_of_model(robot, TOLERANCE, rng) for _ in range(3)]
    for other in (*others, *(varied(rigid, corner) for corner in corners)):
        values = numbers.of(canonical(other))
        assert (lower <= values).all()
        assert (values <= upper).all()
        state = golden.random_state(other, 4, rng)
        same = numbers.with_values(values)
        one, two = (golden.rnea(own, state.q, state.qd, state.qdd) for own in (other, same))
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9 * np.abs(one).max())


def test_zeros_and_right_angles_are_structure() -> None:
    _, numbers = model("pendulum")
    names = [(number.joint, number.what) for number in numbers.table]
    assert names == [
        ("shoulder", "first moment y"),
        ("shoulder", "inertia xx"),
        ("shoulder", "inertia yy"),
        ("elbow", "first moment y"),
        ("elbow", "inertia xx"),
        ("elbow", "inertia yy"),
        ("elbow", "place y"),
    ]


def test_other_robots_are_refused() -> None:
    robot, numbers = model("pendulum")
    refused(numbers, canonical(load("gantry")[1]), "5 joints; the design's robot has 2")
    elbow = robot.joints[1]
    aside = np.add(elbow.placement.translation, [0.0, 0.01, 0.0])
    moved = replace(elbow, placement=Transform(elbow.placement.rotation, aside))
    refused(
        numbers,
        canonical(robot.with_joints([robot.joints[0], moved])),
        'joint "elbow": place z is 0.01, and 0 in every robot of the design',
    )
    renamed = replace(elbow, name="knee")
    other = robot.with_joints([robot.joints[0], renamed])
    refused(numbers, canonical(other), 'joint "knee" is called knee, and elbow in the design')


def test_whole_turns_of_an_angle_are_no_other_robot() -> None:
    """An offset of π is -π in a robot that a rounding tells apart, and either is structure."""
    robot, numbers = model("pendulum")
    own = canonical(robot)
    turned = [replace(joint, offset=joint.offset - 2 * np.pi) for joint in own.joints]
    np.testing.assert_array_equal(numbers.of(own.with_joints(turned)), numbers.of(own))
    half = [replace(joint, offset=joint.offset - np.pi) for joint in own.joints]
    refused(numbers, own.with_joints(half), "offset is 0, and 3.14159 in")


def test_a_number_out_of_tolerance_is_refused() -> None:
    robot, numbers = model("pendulum")
    other = any_of_model(robot, 0.3, np.random.default_rng(1))
    refused(numbers, canonical(other), "which the words are made for; generate with a larger")


def refused(numbers: ModelParameters, other: Robot, why: str) -> None:
    with pytest.raises(RobotError, match=why.replace("(", re.escape("("))) as error:
        numbers.of(other)
    assert "\n" not in str(error.value)
