"""A robot's limbs: the branches of its tree, which are alike, and which may be time-multiplexed.

The one place where likeness is decided, for pictures, `--alike` and datapaths, by the geometry of
``alike``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .limb_similarity import (
    MIRRORS,
    LimbShape,
    differences,
    figures,
    handed_on,
    mirrors_of,
    poses_at_zero,
    shape_of,
)
from .model import Array, JointKind, Robot, Transform

NEAR = 0.1  # limbs that differ by no more are worth a line
ROUNDING = 1e-7  # of geometry
ROOT_MODULES = {JointKind.FLOATING: ("spherical", "translation"), JointKind.PLANAR: ("planar",)}
Group = tuple[tuple[int, ...], ...]  # the joints of each of several limbs


@dataclass(frozen=True)
class Branch:
    """A maximal chain of joints between branching links, from the root outwards.

    ``after``: number of the branch on whose last link it stands, None on the root. ``columns`` of
    each joint; ``work`` is their sum.
    """

    joints: tuple[int, ...]
    after: int | None
    columns: tuple[int, ...]

    @property
    def work(self) -> int:
        return sum(self.columns)


@dataclass(frozen=True, eq=False)
class Limbs:
    """A robot's limbs as they are compared: its branches, and the shape of each.

    ``robot`` has moving joints only; ``root``: the base's joint, -1 for a fixed base. ``poses`` of
    all bodies in the root's frame, joints at zero.
    """

    robot: Robot
    root: int
    branches: tuple[Branch, ...]
    poses: Sequence[Transform]
    shapes: tuple[LimbShape, ...]

    def name(self, branch: int) -> str:
        """A branch is called by its last link."""
        return self.robot.joints[self.branches[branch].joints[-1]].body

    def _below(self, a: int, b: int) -> tuple[int, int] | None:
        """The two limbs that two limbs stand on; None: on one link."""
        on = self.branches[a].after, self.branches[b].after
        return None if on[0] == on[1] or on[0] is None or on[1] is None else (on[0], on[1])

    def mirrors(self, a: int, b: int) -> Array:
        """(n, 3, 3): the orthogonal matrices through which limb b may be limb a, `MIRRORS` first.

        On a base that stands still further ones take the one's axes to where the other's are. A
        limb that stands on another is seen as that one is.
        """
        if (on := self._below(a, b)) is not None:
            return self.mirrors(*on)
        floats = self.root >= 0 and self.robot.joints[self.root].kind is JointKind.FLOATING
        return MIRRORS if floats else mirrors_of(*(self._directions(k) for k in (a, b)))

    def _directions(self, b: int) -> Array:
        """(m, 3): the axes of branch b and of all that stands on it, where these lie, the links'
        first moments, and what is vertical."""
        own = [b]
        for k, branch in enumerate(self.branches):
            own += [k] if branch.after in own else []
        shapes = [self.shapes[k] for k in own]
        places = np.concatenate([shape.anchor + shape.points for shape in shapes])
        firsts, down = (shape.firsts for shape in shapes), self.robot.gravity[None]
        return np.concatenate([*(s.axes for s in shapes), places - places[0], *firsts, down])

    def differences(self, a: int, b: int, placed: bool = True) -> Array:
        """The distance of branch b from branch a under each of their mirrors (``alike``)."""
        return differences(*self._compared(a, b), placed)

    def figures(self, a: int, b: int) -> dict[str, Array]:
        """The same for each kind of number."""
        return figures(*self._compared(a, b))

    def _compared(
        self, a: int, b: int
    ) -> tuple[LimbShape, LimbShape, Array, tuple[LimbShape, LimbShape] | None]:
        below = self._below(a, b)
        on = None if below is None else (self.shapes[below[0]], self.shapes[below[1]])
        return self.shapes[a], self.shapes[b], self.mirrors(a, b), on

    def apart(self, a: int, b: int, placed: bool = True) -> Array:
        """The same with whatever stands on b beside what is nearest to it of that on a."""
        apart = self.differences(a, b, placed)
        above = [[k for k, own in enumerate(self.branches) if own.after == x] for x in (a, b)]
        for there in above[1]:
            near = [self.apart(k, there) for k in above[0]]
            least = np.min([np.full(len(apart), np.inf), *near], axis=0)
            apart = np.maximum(apart, np.where(np.isfinite(least), least, 0.0))
        return apart

    def alike(
        self, tolerance: float
    ) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, int, float], ...]]:
        """Groups of branches that are alike, each by its first one, and pairs that nearly are."""
        groups: list[list[int]] = []
        near: list[tuple[int, int, float]] = []
        off: dict[tuple[int, int], Array] = {}  # how far through each of their mirrors
        for b, branch in enumerate(self.branches):
            for a in range(b):
                if (on := self._below(a, b)) is None:
                    if self.branches[a].after == branch.after:
                        off[a, b] = self.differences(a, b)
                elif on in off:
                    off[a, b] = np.where(off[on] <= tolerance, self.differences(a, b), np.inf)
            least = {g[0]: off[g[0], b].min() for g in groups if (g[0], b) in off}
            home = next((g for g in groups if least.get(g[0], np.inf) <= tolerance), None)
            if home is None:
                near += [(a, b, float(x)) for a, x in least.items() if x <= NEAR]
                groups.append([b])
            else:
                home.append(b)
        return tuple(map(tuple, groups)), tuple(near)

    @cached_property
    def turning(self) -> list[Group]:
        """Groups of limbs on one link that may be time-multiplexed: with joints of the same kinds,
        and of those among them that have the same geometry where others have not.

        Those with the most joints come first.
        """
        robot, alike = self.robot, dict[object, list[tuple[int, ...]]]()
        below: dict[int, list[int]] = {}  # joint → itself and those after it, depth first
        for i in reversed(range(len(robot.joints))):
            below[i] = [i, *(k for child in robot.children[i] for k in below[child])]
        for parent, children in robot.children.items():
            for child in children:
                joints = tuple(below[child])
                alike.setdefault((parent, self._kinds(joints)), []).append(joints)
        found = [tuple(limbs) for limbs in alike.values() if len(limbs) > 1]
        found += [
            some for limbs in found if len(limbs) > 2 for some in self._same(limbs) if some != limbs
        ]
        return sorted(found, key=lambda limbs: -len(limbs) * len(limbs[0]))

    def _kinds(self, joints: Sequence[int]) -> object:
        """The kinds of a limb's joints, and which of them each stands on and follows."""
        at = {k: place for place, k in enumerate(joints)}
        own = [self.robot.joints[k] for k in joints]
        return tuple((j.kind, at.get(j.parent), j.mimic and at.get(j.mimic.joint)) for j in own)

    def _same(self, limbs: Group) -> list[Group]:
        """Groups of several limbs with the same geometry, wherever they are mounted."""
        groups: list[list[tuple[int, ...]]] = []
        for own in limbs:
            b = self.branch(own[0])
            home = next(
                (g for g in groups if self.apart(self.branch(g[0][0]), b, False).min() <= ROUNDING),
                None,
            )
            if home is None:
                groups.append([own])
            else:
                home.append(own)
        return [tuple(same) for same in groups if len(same) > 1]

    def branch(self, joint: int) -> int:
        """The branch that begins with a joint."""
        return next(b for b, branch in enumerate(self.branches) if branch.joints[0] == joint)


def limbs_of(robot: Robot) -> Limbs:
    """The limbs of a robot of moving joints."""
    root = root_joint(robot)
    branches, poses = find_branches(robot, root), poses_at_zero(robot, root)
    inertias = handed_on(robot, poses)
    shapes: list[LimbShape] = []
    for branch in branches:
        on = None if branch.after is None else shapes[branch.after]
        shapes.append(shape_of(robot, poses, inertias, branch.joints, on))
    return Limbs(robot, root, branches, poses, tuple(shapes))


def root_joint(robot: Robot) -> int:
    """The floating or planar joint that alone carries the tree, else -1: the base is fixed."""
    alone = len(robot.children[-1]) == 1 and robot.joints[0].kind in ROOT_MODULES
    return 0 if alone else -1


def find_branches(robot: Robot, root: int) -> tuple[Branch, ...]:
    """The branches in the order of their first joints."""
    columns = coordinates(robot)
    for i, joint in enumerate(robot.joints):
        columns[i] |= columns[joint.parent] if joint.parent >= 0 else 0
    branches: list[Branch] = []
    of_last: dict[int, int] = {}  # last joint → branch
    for first, joint in enumerate(robot.joints):
        if first == root or (joint.parent != root and len(robot.children[joint.parent]) == 1):
            continue
        chain = [first]
        while len(below := robot.children[chain[-1]]) == 1:
            chain += below
        of_last[chain[-1]] = len(branches)
        counts = tuple(columns[i].bit_count() for i in chain)
        branches.append(Branch(tuple(chain), of_last.get(joint.parent), counts))
    return tuple(branches)


def coordinates(robot: Robot) -> list[int]:
    """Joint → its own coordinates (a mimic joint: its master's), bit k for entry k of qd."""
    slices = [robot.v_slices[i] for i in range(len(robot.joints))]
    return [(1 << s.stop) - (1 << s.start) for s in slices]
