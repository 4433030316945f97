"""Limbs that are nearly alike, made alike: the first one's figures stand for all.

A file often has two measurements of what is meant to be one limb. Within a tolerance that the user
gives, a limb becomes the first one of its kind, seen through the sign matrix D of ``alike``: where
it stands, its axes, where they lie, and what is left of each link's inertia when it has handed to
its parent what does the same work there. What it hands on is its own. Link frames stay, but for as
little as an axis moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

import numpy as np

from ..system.quoting import changing
from .limb_similarity import MIRRORS, about, handed_by, moved_at_zero, sense
from .limbs import Limbs, limbs_of
from .model import Array, Inertia, Joint, JointKind, Robot, RobotError, Transform, skew

EQUAL = 1e-9  # limbs that differ by less stay as they are
SAID = 0.1  # of the largest difference: what is smaller is not worth a word


@dataclass(frozen=True, eq=False)
class Pair:
    """Two branches by number, the first one, seen through ``through`` (3, 3), standing for both."""

    first: int
    limb: int
    through: Array
    apart: Mapping[str, float]  # by kind of figure, of its size


def equal_limbs(robot: Robot, tolerance: float, notes: list[str] | None = None) -> Robot:
    """The robot, each limb as the first one that it is like within ``tolerance``; axes on z.

    What changed is appended to ``notes``: which limbs, which figures, by how much of their size.
    Raises RobotError where no two limbs are that near.
    """
    found = limbs_of(robot)
    pairs = pairs_of(found, tolerance)
    if not pairs:
        raise RobotError(f"{robot.name}: alike: {nearest(found, tolerance)}")
    pairs = [pair for pair in pairs if max(pair.apart.values()) > EQUAL]
    if notes is not None:
        notes += [_note(found, pair, tolerance) for pair in pairs]
    return _Equal(found, pairs).robot() if pairs else robot


def pairs_of(found: Limbs, tolerance: float) -> list[Pair]:
    """Each limb with the first one that it is like; limbs on limbs seen as those are."""
    groups, _ = found.alike(tolerance)
    first = {b: group[0] for group in groups for b in group}
    through: dict[int, Array] = {group[0]: np.eye(3) for group in groups}
    pairs = []
    for b, a in first.items():
        if a == b:
            continue
        apart, mirrors = found.apart(a, b), found.mirrors(a, b)
        k = int(np.argmin(np.round(apart[: len(MIRRORS)], 12)))
        if apart[k] > tolerance:
            k = int(np.argmin(np.round(apart, 12)))
        on = found.branches[a].after, found.branches[b].after
        if on[0] is not None and on[1] is not None and on[0] != on[1]:
            if not through.keys() >= {*on}:
                continue
            seen = through[on[1]] @ through[on[0]].T  # as the limbs that the two stand on
            k = int(np.argmin(np.abs(mirrors - seen).max(axis=(1, 2))))
        if apart[k] <= tolerance:
            through[b] = mirrors[k]
            of = found.figures(a, b)
            pairs.append(Pair(a, b, mirrors[k], {name: float(x[k]) for name, x in of.items()}))
    return pairs


def nearest(found: Limbs, tolerance: float) -> str:
    """Which two limbs are nearest to being alike, and by how much they differ."""
    off = {
        (a, b): found.apart(a, b)  # with what stands on them
        for b in range(len(found.branches))
        for a in range(b)
        if found.branches[a].after == found.branches[b].after
    }
    least = {pair: float(x.min()) for pair, x in off.items() if np.isfinite(x.min())}
    if not least:
        return "no two limbs have joints of the same kinds"
    a, b = min(least, key=least.__getitem__)
    own = found.figures(a, b)
    k = int(off[a, b].argmin())
    what = max(own, key=lambda name: own[name][k])
    if own[what][k] < off[a, b][k]:
        what = "of what stands on them"
    return (
        f"{found.name(a)} and {found.name(b)}, the nearest to each other, differ by "
        f"{least[a, b]:.1e} of their size ({what}), which is more than {tolerance:g}"
    )


def cure(robot: Robot) -> str:
    """The tolerance that makes the two limbs that are nearest alike; empty where none are near."""
    found = limbs_of(robot)
    _, near = found.alike(EQUAL)
    if not near:
        return ""
    a, b, off = min(near, key=lambda pair: pair[2])
    return f"; --alike {rounded_up(off):g} takes {found.name(b)} for {found.name(a)}"


def rounded_up(x: float, digits: int = 2) -> float:
    """The number rounded up to so many digits."""
    exact = Decimal(x)
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return float(exact.quantize(step, rounding=ROUND_CEILING))


def _note(found: Limbs, pair: Pair, tolerance: float) -> str:
    most = max(pair.apart.values())
    said = sorted((-x, name) for name, x in pair.apart.items() if x > SAID * most)
    by = ", ".join(f"{name} by {-x:.1e}" for x, name in said)
    return changing(
        f"{found.name(pair.limb)} is taken for {found.name(pair.first)} (alike: {tolerance:g}), "
        f"from which it differs in {by} of their size: the first one's figures stand for both"
    )


class _Equal:
    """The robot in the making, in the root's frame with joints at zero."""

    def __init__(self, found: Limbs, pairs: Sequence[Pair]) -> None:
        self.found = found
        self.pair = {pair.limb: pair for pair in pairs}
        self.poses = list(found.poses)
        self.anchor = [shape.anchor for shape in found.shapes]
        for pair in sorted(
            pairs, key=lambda pair: pair.limb
        ):  # a limb before those that stand on it
            self.anchor[pair.limb] = self._anchor(pair)
            self._move(pair)
        joints = found.robot.joints
        self.own = [j.inertia.seen_from(at) for j, at in zip(joints, found.poses, strict=True)]
        self.whole = list(self.own)
        self.kept = list(self.own)
        depth: list[int] = []
        for branch in found.branches:
            depth.append(0 if branch.after is None else depth[branch.after] + 1)
        for b in sorted(range(len(depth)), key=lambda b: (-depth[b], b)):
            self._hand_on(b)

    def _points(self, pair: Pair) -> tuple[Array, Array]:
        """Corresponding points of the two, (n, 3) each: both from their own anchors."""
        first = self.found.shapes[pair.first]
        return (
            first.anchor + first.points,
            self.anchor[pair.limb] + first.points @ pair.through.T,
        )

    def _anchor(self, pair: Pair) -> Array:
        """Where the limb stands: as the first one, up to signs, or on a limb that is like its."""
        branches = self.found.branches
        first, limb = (self.found.shapes[k].anchor for k in (pair.first, pair.limb))
        on = branches[pair.first].after, branches[pair.limb].after
        if on[0] is not None and on[1] is not None and on[0] != on[1]:
            return self.anchor[on[1]] + pair.through @ (first - self.found.shapes[on[0]].anchor)
        by_signs = (pair.through == MIRRORS).all(axis=(1, 2)).any()
        mirrors = MIRRORS if by_signs else self.found.mirrors(pair.first, pair.limb)
        return min((D @ first for D in mirrors), key=lambda at: float(np.abs(limb - at).max()))

    def _move(self, pair: Pair) -> None:
        """Move the axes to where the first one's are."""
        first, limb = (self.found.shapes[k] for k in (pair.first, pair.limb))
        axes = sense(first, limb, pair.through)[:, None] * (first.axes @ pair.through.T)
        places = self._points(pair)[1]
        for k, i in enumerate(self.found.branches[pair.limb].joints):
            old, axis = self.poses[i], axes[k] / np.linalg.norm(axes[k])
            at = old.translation
            if self.found.robot.joints[i].kind is JointKind.REVOLUTE:
                at = places[k] + axis * (axis @ (at - places[k]))
            self.poses[i] = Transform(_turn(limb.axes[k], axis) @ old.rotation, at)

    def _hand_on(self, b: int) -> None:
        """The inertias of a branch's links, from its end to where it stands."""
        joints, pair = self.found.robot.joints, self.pair.get(b)
        branch = self.found.branches[b].joints
        for k, i in reversed(list(enumerate(branch))):
            handed = handed_by(joints[i], self.poses[i], self.whole[i])
            self.kept[i] = self.whole[i] + -handed
            if pair is not None:
                there, here = (points[k] for points in self._points(pair))
                like = about(self.kept[self.found.branches[pair.first].joints[k]], there)
                D = pair.through
                seen = Inertia(like.mass, D @ like.h, D @ like.J @ D.T)
                wanted = about(seen, -here)
                self.own[i] += wanted + -self.kept[i]
                self.kept[i] = wanted
            if joints[i].parent >= 0:
                self.whole[joints[i].parent] += handed

    def robot(self) -> Robot:
        """The joints with the placements and inertias that this makes."""
        robot, joints = self.found.robot, list[Joint]()
        moved = [a is not b for a, b in zip(self.poses, self.found.poses, strict=True)]
        branches = self.found.branches
        first = {  # joint of a limb → the one that it becomes
            i: j
            for b, pair in self.pair.items()
            for i, j in zip(branches[b].joints, branches[pair.first].joints, strict=True)
        }
        for i, joint in enumerate(robot.joints):
            parent = joint.parent
            if moved[i] or (parent >= 0 and moved[parent]):
                above = self.poses[parent] if parent >= 0 else Transform()
                placement = above.inverse() @ self.poses[i] @ moved_at_zero(joint).inverse()
                joint = replace(joint, placement=placement)
            if i in first:
                inertia = self.own[i].seen_from(self.poses[i].inverse())
                drivetrain = robot.joints[first[i]].drivetrain
                joint = replace(joint, inertia=inertia, drivetrain=drivetrain)
            joints.append(joint)
        return robot.with_joints(joints)


def _turn(old: Array, new: Array) -> Array:
    """The smallest rotation that takes one direction to another, which is near."""
    u = skew(np.cross(old, new))
    return np.eye(3) + u + u @ u / (1 + old @ new)
