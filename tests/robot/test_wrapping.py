"""Angles that mean the same some turns on: which they are, and bringing them near zero."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.design.bounds import bounds
from rbdgen.design.design import Design
from rbdgen.design.nested import MotionLimits
from rbdgen.robot.angles import periods, wrapped
from rbdgen.robot.model import Robot
from rbdgen.robot.urdf import parse_urdf

BODY = (
    '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>'
    '<inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0.02" izz="0.15"/></inertial>'
)


def follower(multiplier: float, kind: str = "revolute", limit: float = 6.0) -> Robot:
    """A slide that carries a joint ``j``, which another one follows."""
    bounded = f'<limit lower="-{limit}" upper="{limit}" velocity="3" effort="9"/>'
    joints = [
        ("slide", "prismatic", "a", "b", ""),
        ("j", "revolute", "b", "c", ""),
        ("k", kind, "c", "d", f'<mimic joint="j" multiplier="{multiplier}" offset="0.3"/>'),
    ]
    text = "".join(f'<link name="{name}">{BODY}</link>' for name in "abcd")
    for name, own, parent, child, extra in joints:
        text += (
            f'<joint name="{name}" type="{own}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="0 0 1" rpy="0.3 0 0"/><axis xyz="0 1 0.5"/>{bounded}{extra}</joint>'
        )
    return parse_urdf(f'<robot name="r">{text}</robot>')


@pytest.mark.parametrize(
    ("multiplier", "turns"),
    [(1.0, 1), (-1.0, 1), (3.0, 1), (0.5, 2), (-1.5, 2), (0.25, 4), (1 / 3, 3), (0.0, 1),
     (0.1, 10), (0.01, None), (math.pi, None), (1.000001, None)],
)  # fmt: skip
def test_a_follower_says_when_all_is_as_before(multiplier: float, turns: int | None) -> None:
    robot = follower(multiplier)
    assert periods(robot) == ({1: turns} if turns else {})
    q = np.array([[0.2, 0.7]])
    there = golden.crba(robot, q)
    for n in range(1, 11):
        same = np.allclose(
            golden.crba(robot, q + np.array([0, 2 * np.pi * n])), there, rtol=0, atol=1e-9
        )
        assert same == (turns is not None and n % turns == 0)


def test_a_rack_on_a_pinion_never_comes_round() -> None:
    assert periods(follower(0.1, "prismatic")) == {}
    assert periods(follower(1.0, "prismatic")) == {}


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_wrapped_angles_are_the_same_and_near(turns: int) -> None:
    period = 2 * math.pi * turns
    angles = np.concatenate([np.linspace(-40, 40, 4001), [1e6, -1e6]])
    found = wrapped(angles, 4.0, turns)
    inside = np.abs(angles) <= 4.0
    np.testing.assert_array_equal(found[inside], angles[inside])
    assert np.abs(found[~inside]).max() <= period / 2
    off = np.remainder(found - angles + period / 2, period) - period / 2
    assert np.abs(off).max() < 1e-9
    np.testing.assert_array_equal(wrapped(angles, 4.0, None), angles)


def test_angles_of_any_size() -> None:
    angles = np.array([1e15, -1e22, 1e300])
    np.testing.assert_allclose(np.sin(wrapped(angles, 4.0, 1)), np.sin(angles), atol=1e-15)


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ((-6.3, 6.3), (-math.pi, math.pi)),  # more than a turn
        ((-2000.0, 2000.0), (-math.pi, math.pi)),
        ((0.0, 6.0), (0.0, 6.0)),
        (None, (-math.pi, math.pi)),
    ],
)
def test_no_word_is_made_for_more_than_a_turn(
    position: tuple[float, float] | None, expected: tuple[float, float]
) -> None:
    design = Design("r", joint_limits={"j": MotionLimits(position=position)})
    box = bounds(design, follower(1.0))
    assert (box.q_lower[1], box.q_upper[1]) == expected


def test_where_turns_matter_the_word_holds_the_files_limits() -> None:
    box = bounds(Design("r"), follower(math.pi, limit=6.0))
    assert (box.q_lower[1], box.q_upper[1]) == (-6.0, 6.0)
    for limit in (2.0, 1e9):  # at least a turn; and what means none is not taken for one
        box = bounds(Design("r"), follower(math.pi, limit=limit))
        assert (box.q_lower[1], box.q_upper[1]) == (-math.pi, math.pi)
