"""Branches, arrays, limbs that are alike, the best root; and the shapes of Dadu-RBD's figure 11."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from rbdgen.design.loading import load
from rbdgen.robot.canonical import canonicalize, merge_fixed
from rbdgen.robot.compose import reroot
from rbdgen.robot.frames import align_axes, move_frame
from rbdgen.robot.limb_similarity import SIGNS, handed_on, poses_at_zero, shape_of
from rbdgen.robot.limbs import limbs_of
from rbdgen.robot.model import (
    ALIKE,
    Drivetrain,
    Inertia,
    Joint,
    JointKind,
    Robot,
    RobotError,
    Transform,
)
from rbdgen.robot.topology import Topology, topology
from rbdgen.robot.urdf import parse_urdf
from tests.support.limbs import urdf_of_carousel
from tests.support.trees import (
    any_tree,
    floating_tree,
    legs,
    legs_and_tail,
    mirrored,
    robot_of,
    subtree,
)

SEEDS = range(16)


def names(found: Topology, branches: Sequence[int]) -> set[str]:
    """The last links of the branches."""
    return {found.robot.joints[found.branches[b].joints[-1]].body for b in branches}


def groups(found: Topology) -> set[frozenset[str]]:
    return {frozenset(names(found, group)) for group in found.alike}


def sizes(found: Topology) -> list[tuple[int, int, int]]:
    """Size, limbs and work of every array."""
    return [(a.size, len(a.limbs), a.work) for a in found.arrays]


@pytest.mark.parametrize("seed", SEEDS)
def test_branches_are_the_maximal_chains(seed: int) -> None:
    found = topology(any_tree(seed))
    robot = found.robot
    everything = sorted(i for branch in found.branches for i in branch.joints)
    assert everything == [i for i in robot.moving if i != found.root]
    for branch in found.branches:
        first, *others = branch.joints
        assert [robot.joints[i].parent for i in others] == list(branch.joints[:-1])
        assert len(robot.children[branch.joints[-1]]) != 1
        above = robot.joints[first].parent
        assert above == found.root or len(robot.children[above]) > 1
        if above == found.root:
            assert branch.after is None
        else:
            assert found.branches[branch.after].joints[-1] == above


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_are_the_coordinates_between_base_and_body(seed: int) -> None:
    found = topology(any_tree(seed))
    robot = found.robot
    for branch in found.branches:
        for joint, columns in zip(branch.joints, branch.columns, strict=True):
            moved_by, body = set(), joint
            while body >= 0:
                moved_by |= set(range(robot.nv)[robot.v_slices[body]])
                body = robot.joints[body].parent
            assert columns == len(moved_by)
        assert branch.work == sum(branch.columns)
    assert found.present.columns == sum(branch.work for branch in found.branches)
    assert found.present.depth == robot.depth


@pytest.mark.parametrize("turns", [None, 1, 2])
@pytest.mark.parametrize("seed", SEEDS[::4])
def test_arrays_serve_each_branch_once_at_the_pace(seed: int, turns: int | None) -> None:
    found = topology(legs_and_tail(seed), turns=turns)
    assert sorted(b for a in found.arrays for b in a.limbs) == list(range(len(found.branches)))
    array_of = {b: k for k, array in enumerate(found.arrays) for b in array.limbs}
    longest = max(branch.work for branch in found.branches)
    group_of = {b: group for group in found.alike for b in group}
    for array in found.arrays:
        limbs = [found.branches[b] for b in array.limbs]
        assert {len(limb.joints) for limb in limbs} == {array.size}
        assert len({group_of[b] for b in array.limbs}) == 1
        after = {limb.after for limb in limbs}
        assert {None if a is None else array_of[a] for a in after} == {array.after}
        assert array.work == sum(limb.work for limb in limbs)
        assert array.work <= found.pace
        if turns and limbs[0].work == longest:
            assert len(limbs) <= turns
    if turns == 1:
        assert found.pace == longest
    assert found.built == len(found.root_modules) + sum(a.size for a in found.arrays)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_root_is_the_best_of_all(seed: int) -> None:
    robot = merge_fixed(floating_tree(seed))
    found = topology(robot)
    seen = [topology(reroot(robot, joint.body)).present for joint in robot.joints]
    least = min((r.depth, r.columns) for r in seen)
    assert (found.best.depth, found.best.columns) == least
    assert found.best in seen
    assert topology(reroot(robot, found.best.link)).present == found.best


def test_no_joint_of_several_axes_is_turned_round() -> None:
    robot = floating_tree(3, 4)
    second = replace(robot.joints[1], kind=JointKind.PLANAR, parent=0)
    chain = [robot.joints[0], second, *(replace(robot.joints[k], parent=k - 1) for k in (2, 3))]
    chained = robot.with_joints([replace(j, mimic=None) for j in chain])
    found = topology(chained)
    assert found.best == found.present
    assert found.best.link == robot.joints[0].body


def test_only_a_floating_base_moves() -> None:
    assert topology(load("iiwa14")[1]).best is None
    assert topology(load("tiago_like")[1]).best is None


# --- limbs that are alike


@pytest.mark.parametrize("seed", SEEDS)
def test_mirror_images_are_alike_branch_by_branch(seed: int) -> None:
    own = subtree(seed)
    found = topology(legs_and_tail(seed))
    tips = [j.body for k, j in enumerate(own) if sum(c.parent == k for c in own) != 1]
    expected = {frozenset(f"leg{p}_{tip}" for p in range(3)) for tip in tips}
    assert expected <= groups(found)
    assert all(name.startswith("other_") for group in groups(found) - expected for name in group)


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_alike_does_not_depend_on_frames(seed: int) -> None:
    robot = legs_and_tail(seed)
    rng = np.random.default_rng(seed)
    moved = robot
    for i, joint in enumerate(robot.joints):
        moved = move_frame(moved, i, Transform(translation=rng.normal() * joint.axis))
    for other in (canonicalize(robot), moved):
        assert groups(topology(other)) == groups(topology(robot))
        assert sizes(topology(other)) == sizes(topology(robot))


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_alike_does_not_depend_on_the_order_of_joints(seed: int) -> None:
    found = topology(legs_and_tail(seed))
    parts = legs(seed)
    shuffled, start = [], 0
    for p in np.random.default_rng(seed).permutation(4):
        first = sum(len(part) for part in parts[:p])
        shuffled.append([_shifted(joint, start - first) for joint in parts[p]])
        start += len(parts[p])
    other = topology(robot_of(shuffled))
    assert groups(other) == groups(found)
    assert Counter(sizes(other)) == Counter(sizes(found))
    assert {frozenset(names(other, a.limbs)) for a in other.arrays} == {
        frozenset(names(found, a.limbs)) for a in found.arrays
    }


def _shifted(joint: Joint, by: int) -> Joint:
    return replace(joint, parent=joint.parent + by if joint.parent >= 0 else -1)


def test_a_limb_may_stand_where_other_signs_take_it() -> None:
    """The mirror image of a leg, hung where half a turn would take the leg."""
    own = subtree(5, branching=0.0)
    other = mirrored(own, SIGNS[1], "other_", len(own))
    robot = robot_of([own, other])
    poses = poses_at_zero(robot, -1)
    inertias = handed_on(robot, poses)
    first, second = (
        shape_of(robot, poses, inertias, range(k, k + len(own)), None).anchor for k in (0, len(own))
    )
    place = other[0].placement
    moved = Transform(place.rotation, place.translation + SIGNS[3] * first - second)
    there = [replace(other[0], placement=moved), *other[1:]]
    assert len(topology(robot_of([own, there])).alike) == 1
    further = Transform(moved.rotation, moved.translation + 0.1)
    elsewhere = [replace(other[0], placement=further), *other[1:]]
    assert len(topology(robot_of([own, elsewhere])).alike) == 2


@pytest.mark.parametrize("arms", [3, 5])
def test_limbs_round_a_table_are_alike(arms: int) -> None:
    """Turned by any angle, where the base stands still; these are the limbs that are
    time-multiplexed."""
    robot = align_axes(merge_fixed(parse_urdf(urdf_of_carousel(arms).encode())))
    found, limbs = topology(robot), limbs_of(robot)
    assert sizes(found) == [(1, 1, 1), (2, arms, 5 * arms)]
    assert limbs.turning == [tuple(found.branches[b].joints for b in found.alike[1])]
    turned = limbs.mirrors(1, 2)
    assert limbs.differences(1, 2).min() < 1e-9 < limbs.differences(1, 2)[: len(SIGNS)].min()
    np.testing.assert_allclose(turned @ turned.transpose(0, 2, 1), [np.eye(3)] * 16, atol=1e-12)


def _heavier(joint: Joint, by: float) -> Joint:
    own = joint.inertia
    return replace(joint, inertia=Inertia(own.mass * (1 + by), own.h, own.J))


def _displaced(joint: Joint, by: float) -> Joint:
    place = joint.placement
    reach = np.abs(place.translation).max()
    return replace(joint, placement=Transform(place.rotation, place.translation + by * reach))


def _tilted(joint: Joint, by: float) -> Joint:
    axis = joint.axis + by * np.roll(joint.axis, 1)
    return replace(joint, axis=axis / np.linalg.norm(axis))


def _of_another_kind(joint: Joint, by: float) -> Joint:
    other = {JointKind.REVOLUTE: JointKind.PRISMATIC, JointKind.PRISMATIC: JointKind.REVOLUTE}
    return replace(joint, kind=other[joint.kind])


def _with_friction(joint: Joint, by: float) -> Joint:
    return replace(joint, drivetrain=Drivetrain(friction=by))


@pytest.mark.parametrize("change", [_displaced, _tilted, _of_another_kind, _with_friction])
@pytest.mark.parametrize("seed", SEEDS[::4])
def test_a_changed_limb_is_not_alike(seed: int, change: Callable[[Joint, float], Joint]) -> None:
    own = subtree(seed, branching=0.0)
    other = mirrored(own, SIGNS[2], "other_", len(own))
    assert len(topology(robot_of([own, other])).alike) == 1
    changed = topology(robot_of([own, [*other[:2], change(other[2], 0.01), *other[3:]]]))
    assert len(changed.alike) == 2
    if change not in (_of_another_kind, _with_friction):
        ((a, b, off),) = changed.near
        assert (a, b) == (0, 1)
        assert ALIKE < off < 0.1
        assert len(topology(changed.robot, tolerance=1.001 * off).alike) == 1
        assert len(topology(changed.robot, tolerance=0.999 * off).alike) == 2


def test_limbs_in_one_point_differ_by_their_bodies() -> None:
    """All of their joints are where the base's frame is: there is no length to measure by."""
    x = np.array([1.0, 0.0, 0.0])
    still = Transform()

    def limb(tag: str, off: float) -> list[Joint]:
        body = Inertia(1.0, np.array([0.0, 0.0, 0.1 + off]), np.diag([0.2, 0.3, 0.1]))
        return [Joint(tag, JointKind.REVOLUTE, -1, still, f"{tag}_link", body, axis=x)]

    assert len(topology(robot_of([limb("a", 0.0), limb("b", 0.0)])).alike) == 1
    assert len(topology(robot_of([limb("a", 0.0), limb("b", 0.01)])).alike) == 2


def test_a_heavier_link_beyond_a_slide_is_not_alike() -> None:
    own = [replace(joint, kind=JointKind.PRISMATIC) for joint in subtree(1, branching=0.0)]
    other = mirrored(own, SIGNS[1], "other_", len(own))
    assert len(topology(robot_of([own, other])).alike) == 1
    heavier = [*other[:-1], _heavier(other[-1], 0.01)]
    assert len(topology(robot_of([own, heavier])).alike) == 2


def test_what_a_parent_may_carry_is_not_compared() -> None:
    """A disc about the first joint's axis does the same work in the base."""
    own = [replace(joint, kind=JointKind.REVOLUTE) for joint in subtree(2, branching=0.0)]
    other = mirrored(own, SIGNS[1], "other_", len(own))
    d = other[0].axis
    disc = Inertia(2.0, 0.3 * d, 0.7 * (np.eye(3) - np.outer(d, d)))
    laden = [replace(other[0], inertia=other[0].inertia + disc), *other[1:]]
    assert len(topology(robot_of([own, laden])).alike) == 1


# --- the shapes of Dadu-RBD's figure 11


def test_a_mobile_arm_is_a_root_and_a_branch() -> None:
    found = topology(load("tiago_like")[1])
    assert found.root_modules == ("planar",)
    assert sizes(found) == [(7, 1, 49)]
    assert found.present.depth == 8
    assert found.built == found.needed == 8


def test_a_quadruped_with_an_arm_is_a_root_and_three_branches() -> None:
    found = topology(load("spot_arm_like", base="floating")[1])
    assert found.root_modules == ("spherical", "translation")
    assert sizes(found) == [(3, 2, 48), (3, 2, 48), (6, 1, 57)]
    assert (found.built, found.needed) == (14, 20)
    assert [names(found, a.limbs) for a in found.arrays] == [
        {"front_left_foot", "front_right_foot"},
        {"hind_left_foot", "hind_right_foot"},
        {"hand"},
    ]


def test_a_humanoid_is_rooted_in_its_middle_torso() -> None:
    """The arms differ by 0.75 %, the legs by 0.04 %: slips of the file, which says so."""
    robot = load("humanoid", base="floating")[1]
    found = topology(robot, tolerance=0.01)
    assert (found.present.depth, found.best.depth) == (11, 9)
    assert found.best.link == "middle_torso"
    assert Counter(sizes(found)) == Counter([(3, 1, 24), (7, 2, 182), (1, 1, 10), (6, 2, 114)])
    middle = topology(reroot(robot, found.best.link), tolerance=0.01)
    assert middle.present == middle.best == found.best
    assert Counter(size for size, _, _ in sizes(middle)) == Counter([2, 6, 1, 7, 1])
    assert (middle.built, middle.needed) == (19, 32)
    assert len(topology(robot).near) == 2


def test_the_legs_of_hyq_take_turns() -> None:
    assert sizes(topology(load("hyq")[1])) == [(3, 4, 24)]
    assert len(topology(load("hyq")[1], turns=2).arrays) == 2


@pytest.mark.parametrize("base", [JointKind.FLOATING, None])
def test_nothing_to_organise(base: JointKind | None) -> None:
    robot = floating_tree(0, 1) if base else Robot("still", ())
    with pytest.raises(RobotError, match="no joint moves a link"):
        topology(robot)
