"""Limbs that are nearly alike, made alike: judged by textbook dynamics of the two."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.robot.canonical import merge_fixed, stages
from rbdgen.robot.frames import align_axes
from rbdgen.robot.limb_similarity import SIGNS
from rbdgen.robot.limb_unification import equal_limbs
from rbdgen.robot.model import Drivetrain, Inertia, Joint, JointKind, Robot, RobotError, Transform
from rbdgen.robot.topology import topology
from rbdgen.system.quoting import changing
from tests.support.trees import mirrored, robot_of, subtree

BLUR = 1e-3
SEEDS = range(12)


def blurred(limb: Sequence[Joint], seed: int) -> list[Joint]:
    """Each figure off by about ``BLUR`` of its size."""
    rng = np.random.default_rng(seed)

    def off(x: np.ndarray) -> np.ndarray:
        return x + BLUR * np.abs(x).max() * rng.normal(size=x.shape)

    found = []
    for joint in limb:
        axis, J = off(joint.axis), off(joint.inertia.J)
        own = Inertia(joint.inertia.mass * (1 + BLUR), off(joint.inertia.h), (J + J.T) / 2)
        place = Transform(joint.placement.rotation, off(joint.placement.translation))
        axis = axis / np.linalg.norm(axis)
        found.append(replace(joint, axis=axis, inertia=own, placement=place))
    return found


def two_limbs(seed: int, turned: bool = False) -> tuple[Robot, np.ndarray, int]:
    """A tree and its blurred mirror image, without weight; its sign matrix, the joints of one.

    Both are ``turned`` by an angle besides, about anything. No axes are parallel: blurred, these
    meet anywhere, and no limb has the same place.
    """
    own = subtree(seed, plain=0.0)
    D = np.diag(SIGNS[seed % len(SIGNS)])
    if turned:
        D = D @ Rotation.random(rng=seed).as_matrix()
    other = blurred(mirrored(own, D, "other_", len(own)), seed)
    robot = replace(robot_of([own, other]), gravity=np.zeros(3))
    return align_axes(robot), D, len(own)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_limb_becomes_the_first_one_seen_through_its_mirror(seed: int, turned: bool) -> None:
    """τ of the second, moving as the first one's image, is τ of the first, up to signs."""
    robot, D, n = two_limbs(seed, turned)
    equal = equal_limbs(robot, 0.1)
    revolute = [j.kind is JointKind.REVOLUTE for j in robot.joints[:n]]
    signs = np.where(revolute, np.linalg.det(D), 1.0)
    rng = np.random.default_rng(seed)
    q, qd, qdd = (np.concatenate([x, x * signs], axis=1) for x in rng.normal(0.0, 2.0, (3, 20, n)))
    before, after = (golden.rnea(r, q, qd, qdd) for r in (robot, equal))
    size = np.abs(before).max(axis=0)
    assert (np.abs(after[:, n:] - after[:, :n] * signs) <= 1e-9 * size[:n]).all()
    # the two differed, and the second one's effort has not changed by more than they did
    apart = np.abs(before[:, n:] - before[:, :n] * signs).max(axis=0) / size[:n]
    moved = np.abs(after - before).max(axis=0) / size
    assert apart.max() > 1e-4
    assert (moved[:n] <= 1e-12).all()
    assert moved.max() < 2 * apart.max() < 0.5


@pytest.mark.parametrize("seed", SEEDS)
def test_they_are_alike_by_their_shapes_and_the_first_one_stays(seed: int) -> None:
    robot, _, n = two_limbs(seed)
    notes: list[str] = []
    equal = equal_limbs(robot, 0.1, notes)
    branches = len(topology(robot).branches)
    assert len(topology(equal, tolerance=1e-9).alike) == branches / 2
    assert all(a is b for a, b in zip(robot.joints[:n], equal.joints[:n], strict=True))
    assert len(notes) == branches / 2
    assert all("first one's figures stand for both" in note for note in notes)
    assert equal_limbs(equal, 0.1) is equal  # nothing is left to do


def plain_limbs(seed: int) -> Robot:
    """A tree whose axes are along x, y and z, and its blurred image, turned about anything."""
    own = subtree(seed, plain=1.0)
    D = np.diag(SIGNS[seed % len(SIGNS)]) @ Rotation.random(rng=seed).as_matrix()
    return align_axes(robot_of([own, blurred(mirrored(own, D, "other_", len(own)), seed)]))


@pytest.mark.parametrize("seed", [2, 6, 29])
def test_axes_that_are_nearly_parallel_say_not_where_a_limb_stands(seed: int) -> None:
    robot = plain_limbs(seed)
    assert len(topology(equal_limbs(robot, 0.1), tolerance=1e-9).alike) > 0


@pytest.mark.parametrize("seed", [3, 9, 20, 28])
def test_a_refusal_has_a_difference_above_the_tolerance(seed: int) -> None:
    with pytest.raises(RobotError, match=r"differ by .* of their size") as refusal:
        equal_limbs(plain_limbs(seed), 0.1)
    (off,) = re.findall(r"differ by (\S+) of", str(refusal.value))
    assert float(off) > 0.1


def test_friction_becomes_the_first_ones_too() -> None:
    own = [replace(joint, drivetrain=Drivetrain(0.2, 0.1, 0.5)) for joint in subtree(3)]
    other = mirrored(own, SIGNS[2], "other_", len(own))
    other[1] = replace(other[1], drivetrain=Drivetrain(0.2, 0.1, 0.49))
    notes: list[str] = []
    equal = equal_limbs(align_axes(robot_of([own, other])), 0.03, notes)
    assert all(joint.drivetrain.friction == 0.5 for joint in equal.joints)
    (note,) = notes
    assert "differs in rotors and friction by 2.0e-02 of their size" in note


def test_what_is_handed_on_is_its_own() -> None:
    """A disc about a limb's first joint does the same work in the base: it is no difference."""
    own = [replace(joint, kind=JointKind.REVOLUTE) for joint in subtree(2, branching=0.0)]
    other = mirrored(own, SIGNS[1], "other_", len(own))
    d = other[0].axis
    disc = Inertia(2.0, 0.3 * d, 0.7 * (np.eye(3) - np.outer(d, d)))
    laden = [replace(other[0], inertia=other[0].inertia + disc), *other[1:]]
    robot = align_axes(robot_of([own, laden]))
    assert equal_limbs(robot, 1e-6) is robot


def test_a_note_says_what_differs_and_by_how_much() -> None:
    notes: list[str] = []
    _, robot = load("humanoid", base="floating")
    steps = dict(stages(robot, 1e-5, notes, alike=1e-3))
    assert list(steps)[:3] == ["merge_fixed", "align_axes", "equal_limbs"]
    (note,) = [note for note in notes if "alike" in note]
    assert note == changing(
        "right_foot is taken for left_foot (alike: 0.001), from which it differs in moments of "
        "inertia by 3.8e-04 of their size: the first one's figures stand for both"
    )


@pytest.mark.parametrize(
    ("robot", "tolerance", "says"),
    [
        (
            "humanoid",
            1e-5,
            r"humanoid: alike: left_foot and right_foot, the nearest to each other, differ by "
            r"3.8e-04 of their size \(moments of inertia\), which is more than 1e-05$",
        ),
        ("iiwa14", 0.5, "iiwa14: alike: no two limbs have joints of the same kinds$"),
    ],
)
def test_refused_beyond_the_tolerance(robot: str, tolerance: float, says: str) -> None:
    read = align_axes(merge_fixed(load(robot)[1]), 1e-5)
    with pytest.raises(RobotError, match=says):
        equal_limbs(read, tolerance)


def test_limbs_that_are_alike_stay_as_they_are() -> None:
    robot = align_axes(merge_fixed(load("hyq")[1]), 1e-5)
    notes: list[str] = []
    assert equal_limbs(robot, 1e-3, notes) is robot
    assert not notes
