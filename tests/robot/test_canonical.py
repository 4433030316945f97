"""The exact rewrites: the same dynamics before and after, and never more arithmetic."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from rbdgen.design.loading import load, shipped_robots
from rbdgen.dynamics.motion import RobotState
from rbdgen.dynamics.rnea import rnea
from rbdgen.dynamics.scalars import FloatScalars
from rbdgen.dynamics.trace import trace
from rbdgen.golden.tree import plane_frame
from rbdgen.robot.angles import rot_x, rot_z
from rbdgen.robot.canonical import Rewrite, canonicalize, merge_fixed, rewrites, stages
from rbdgen.robot.denavit_hartenberg import modified_dh
from rbdgen.robot.frames import (
    ONE_AXIS,
    align_axes,
    inertia_cost,
    levels,
    placement_cost,
    regroup_inertia,
)
from rbdgen.robot.model import JointKind, Robot, Transform
from tests.support.comparison import Answers, Question, golden_answers, norm, random_question
from tests.support.random_robots import ALL_KINDS, SINGLE, random_robot

ROBOTS = sorted(shipped_robots())
STEPS = dict(rewrites())
TOLERANCE = 1e-10


def tree(seed: int) -> Robot:
    """Any tree: oblique axes, fixed and mimicking joints; every third on a floating base."""
    rng = np.random.default_rng(seed)
    kinds = ALL_KINDS if seed % 2 else SINGLE
    return random_robot(rng, 9, kinds, mimic=0.2, fixed=0.2, floating_base=seed % 3 == 0)


def shipped(name: str, snap: float = 0.0) -> Robot:
    return load(str(shipped_robots()[name]), snap=snap)[1]


def same(question: Question, actual: Answers, expected: Answers) -> None:
    for name in ("rnea", "crba", "dtau_dq", "dtau_dqd"):
        a, b = getattr(actual, name), getattr(expected, name)
        assert np.all(norm(a - b) <= TOLERANCE * (norm(b) + norm(expected.crba))), name


def keeps_dynamics(rewrite: Rewrite, robot: Robot) -> Robot:
    question = random_question(robot, 4, seed=5)
    changed = rewrite(robot)
    same(
        question,
        golden_answers(changed, question, forward=False),
        golden_answers(robot, question, forward=False),
    )
    return changed


@pytest.mark.parametrize("seed", range(12))
def test_each_rewrite_keeps_the_dynamics_of_any_tree(seed: int) -> None:
    robot = tree(seed)
    for rewrite in STEPS.values():
        robot = keeps_dynamics(rewrite, robot)
    assert all(j.kind is not JointKind.FIXED for j in robot.joints)


@pytest.mark.parametrize("name", ROBOTS)
def test_each_rewrite_keeps_the_dynamics_of_shipped_robots(name: str) -> None:
    robot = shipped(name)
    for rewrite in STEPS.values():
        robot = keeps_dynamics(rewrite, robot)


@pytest.mark.parametrize("seed", range(6))
def test_frames_of_joints_with_several_axes_stay(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = merge_fixed(random_robot(rng, 9, ALL_KINDS, floating_base=True))
    changed = canonicalize(robot)
    for before, after in zip(robot.joints, changed.joints, strict=True):
        if before.kind in ONE_AXIS:
            assert np.array_equal(after.axis, [0, 0, 1])
            continue
        turned = np.eye(3)
        if before.kind is JointKind.PLANAR:  # its normal is +z now, its x and y as they were
            assert np.array_equal(after.axis, [0, 0, 1])
            turned = plane_frame(before.axis)
        np.testing.assert_allclose(after.link_frame.rotation, turned.T, atol=1e-12)
        assert not after.link_frame.translation.any()


@pytest.mark.parametrize("seed", range(6))
def test_the_traced_algorithm_agrees_on_canonical_robots(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 9, SINGLE, mimic=0.2, fixed=0.2)
    canonical = canonicalize(robot)
    q, qd, qdd, _, f_ext = random_question(robot, 4, seed)
    wrenches = {i: list(f_ext[:, k].T) for k, i in enumerate(canonical.moving)}
    tau = rnea(FloatScalars(), canonical, RobotState(list(q.T), list(qd.T), list(qdd.T), wrenches))
    expected = golden_answers(robot, random_question(robot, 4, seed), forward=False).rnea
    actual = np.stack(tau, axis=1)
    assert np.all(norm(actual - expected) <= TOLERANCE * norm(expected))


@pytest.mark.parametrize("name", ROBOTS)
def test_arithmetic_shrinks(name: str) -> None:
    """Slides, turns and new origins pay in constants; grouping in everything."""
    counts = [
        trace(robot, ["id"]).operations()
        for step, robot in stages(shipped(name, snap=1e-5), 1e-5)
        if step != "merge_fixed"
    ]
    for before, after in pairwise(counts):
        assert after["mulc"] <= before["mulc"]
        assert after["add"] <= before["add"]
    assert counts[-1]["mul"] <= counts[0]["mul"] + 0.01 * counts[0]["mul"]


@pytest.mark.parametrize(
    ("name", "mul", "mulc"),
    [("iiwa14", 124, 85), ("hyq", 156, 176), ("baxter", 302, 303), ("humanoid", 700, 598)],
)
def test_counts(name: str, mul: int, mulc: int) -> None:
    count = trace(canonicalize(shipped(name, snap=1e-5), 1e-5), ["id"]).operations()
    assert count["mul"] <= mul
    assert count["mulc"] <= mulc


def local_cost(robot: Robot) -> float:
    lean, level = regroup_inertia(robot), levels(robot)
    return sum(
        placement_cost(j.placement, j.kind, level[i]) + inertia_cost(j.inertia, level[i], 1.0)
        for i, j in enumerate(lean.joints)
    )


@pytest.mark.parametrize("name", ROBOTS)
def test_canonical_robots_have_nothing_left_to_gain(name: str) -> None:
    once = canonicalize(shipped(name))
    twice = canonicalize(once)
    assert local_cost(twice) <= local_cost(once) + 1e-9
    count = [trace(robot, ["id"]).operations() for robot in (once, twice)]
    assert count[1]["mulc"] <= count[0]["mulc"]


def test_frames_never_cost_more() -> None:
    for seed in range(8):
        aligned = align_axes(merge_fixed(tree(seed)))
        assert local_cost(modified_dh(aligned)) <= local_cost(aligned) + 1e-9


def skewed(angle: float) -> Robot:
    """Two revolute joints about z, the second turned about x by almost 90°."""
    robot = random_robot(np.random.default_rng(1), 2, [JointKind.REVOLUTE], branching=0.0)
    first, second = (replace(j, axis=np.array([0.0, 0.0, 1.0])) for j in robot.joints)
    placement = Transform(rot_z(0.3) @ rot_x(angle), second.placement.translation)
    return robot.with_joints(
        [replace(first, placement=Transform()), replace(second, placement=placement)]
    )


def test_snap_takes_near_right_angles_for_right_and_says_so() -> None:
    robot = skewed(1.5708)  # 3.7e-6 from 90°
    notes: list[str] = []
    snapped = align_axes(robot, snap=1e-5, notes=notes)
    assert snapped.joints[1].placement.rotation[2, 2] == 0.0
    (note,) = notes
    assert '"joint001"' in note
    assert "3.7e-06 rad" in note
    assert "--snap 0" in note


@pytest.mark.parametrize(("angle", "snap"), [(1.5708, 0.0), (1.571, 1e-5)])
def test_what_is_not_near_stays_without_a_word(angle: float, snap: float) -> None:
    robot, notes = skewed(angle), []
    kept = align_axes(robot, snap, notes)
    assert np.array_equal(kept.joints[1].placement.rotation, robot.joints[1].placement.rotation)
    assert not notes
