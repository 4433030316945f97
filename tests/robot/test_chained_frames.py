"""Frames in chains: the same torques, and placements that turn about x only wherever they can."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.compile.flow import front_end
from rbdgen.robot.angles import rot_x, rot_z
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.denavit_hartenberg import chained_frames
from rbdgen.robot.model import Joint, JointKind, Robot, Transform
from tests.support.random_robots import ALL_KINDS, random_robot

TOLERANCE = 1e-12  # of a state's torques


def canonical(name: str) -> Robot:
    return front_end(name).canonical


def chain(seed: int) -> Robot:
    """One to six revolute joints about any axes."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 1 + seed % 6, [JointKind.REVOLUTE], branching=0.0)
    return canonicalize(robot)


def same_torques(changed: Robot, robot: Robot) -> None:
    rng = np.random.default_rng(3)
    state = golden.random_state(robot, 8, rng, velocity=3.0, acceleration=10.0)
    expected = golden.rnea(robot, *state)
    error = np.linalg.norm(golden.rnea(changed, *state) - expected, axis=1)
    assert np.all(error <= TOLERANCE * np.linalg.norm(expected, axis=1)), error.max()


def about_x(robot: Robot) -> None:
    """Rx(α) to the last bit but for rounding noise; of joints on the base, Rz(γ) Rx(α)."""
    for joint in robot.joints:
        R = joint.placement.rotation
        assert R[2, 0] == 0.0  # Rz(γ) Rx(α) has no other zero in its last row
        if joint.parent >= 0:
            np.testing.assert_allclose(R, rot_x(np.arctan2(R[2, 1], R[2, 2])), rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["pendulum", "iiwa14", "hyq", "baxter", "spot_arm_like"])
def test_shipped_robots_keep_their_torques(name: str) -> None:
    robot = canonical(name)
    changed = chained_frames(robot)
    about_x(changed)
    same_torques(changed, robot)
    assert [j.name for j in changed.joints] == [j.name for j in robot.joints]


def test_there_is_something_to_change() -> None:
    """Of the canonical robots some have placements that also turn about z."""
    with pytest.raises(AssertionError):
        about_x(canonical("hyq"))


@pytest.mark.parametrize("seed", range(12))
def test_any_chain_keeps_its_torques(seed: int) -> None:
    robot = chain(seed)
    changed = chained_frames(robot)
    about_x(changed)
    same_torques(changed, robot)


@pytest.mark.parametrize("alpha", [0.0, np.pi])
def test_turns_about_parallel_axes_are_offsets(alpha: float) -> None:
    """Where z stays on ±z, γ and β are one angle."""
    robot = chain(2)
    joints = [
        replace(j, placement=Transform(rot_z(0.3 + i) @ rot_x(alpha), j.placement.translation))
        for i, j in enumerate(robot.joints)
    ]
    robot = robot.with_joints(joints)
    changed = chained_frames(robot)
    about_x(changed)
    same_torques(changed, robot)
    for joint in changed.joints[1:]:
        assert np.array_equal(joint.placement.rotation, rot_x(alpha))


def test_joints_on_the_base_keep_their_own_turn() -> None:
    """Nobody above takes γ up; the base's frame is the robot's."""
    robot = chain(0)
    first = replace(robot.joints[0], placement=Transform(rot_z(0.7) @ rot_x(0.4)))
    changed = chained_frames(robot.with_joints([first]))
    np.testing.assert_allclose(
        changed.joints[0].placement.rotation, rot_z(0.7) @ rot_x(0.4), atol=1e-15
    )


def test_twice_is_once() -> None:
    once = chained_frames(canonical("iiwa14"))
    twice = chained_frames(once)
    for a, b in zip(once.joints, twice.joints, strict=True):
        np.testing.assert_allclose(a.placement.rotation, b.placement.rotation, atol=1e-12)
        np.testing.assert_allclose(a.placement.translation, b.placement.translation, atol=1e-12)
        assert abs(a.offset - b.offset) < 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_any_tree_keeps_its_torques(seed: int) -> None:
    """Joints of every kind, some of which mimic others, on bodies that carry several."""
    rng = np.random.default_rng(100 + seed)
    robot = canonicalize(random_robot(rng, 7, ALL_KINDS, branching=0.6, mimic=0.5))
    changed = chained_frames(robot)
    same_torques(changed, robot)
    turning = (JointKind.REVOLUTE, JointKind.PRISMATIC)
    for i, joint in enumerate(changed.joints):
        R = joint.placement.rotation
        if joint.kind in turning:
            assert R[2, 0] == 0.0  # Rz(γ) Rx(α)
        own = [robot.joints[c].kind in turning for c in changed.children[i]]
        if joint.kind is JointKind.REVOLUTE and all(own) and own:
            angles = [straight(changed.joints[c]) for c in changed.children[i]]
            assert any(angles), joint.name


def straight(joint: Joint) -> bool:
    """Whether a placement is a turn about x, or one after half a turn about z."""
    return abs(joint.placement.rotation[1, 0]) < 1e-12


def test_a_body_takes_up_the_turn_that_most_of_its_joints_have() -> None:
    """Two of three joints on one body stand alike, one of them half a turn further."""
    robot = chain(5)
    (root, *_), turns = robot.joints, (0.4, 1.1, 1.1 + np.pi)
    placed = [Transform(rot_z(turn) @ rot_x(0.3), [0.1, 0.2, k]) for k, turn in enumerate(turns)]
    carried = [
        replace(root, name=f"joint{k}", parent=0, placement=placement)
        for k, placement in enumerate(placed)
    ]
    robot = robot.with_joints([root, *carried])
    changed = chained_frames(robot)
    same_torques(changed, robot)
    first, *others = changed.joints[1:]
    np.testing.assert_allclose(first.placement.rotation, rot_z(0.4 - 1.1) @ rot_x(0.3), atol=1e-14)
    for joint, alpha in zip(others, (0.3, -0.3), strict=True):
        np.testing.assert_allclose(joint.placement.rotation, rot_x(alpha), atol=1e-14)
