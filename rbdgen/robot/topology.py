"""How a pipeline with a module for each joint is organised after the robot's tree.

After Dadu-RBD (Yang, Chen and Han, MICRO 2023, §V-C): a root, branches that are arrays of modules
("submodules") of their own, limbs that are alike taking turns in one array, and the root moved to
where the tree is least deep.

Columns of a joint: the coordinates that its body's motion depends on, the base's included; its
module handles as many columns of ∂τ/∂q, M and M⁻¹. Work of a branch: the columns of its joints,
summed. Work of an array: that of all limbs that it serves for one task. The pace is the work of
the array that serves the limbs of most work; no other array may have more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from ..system.records import Record
from .alike import Shape, differences, handed_on, poses_at_zero, shape_of
from .fixed_links import merge_fixed
from .model import Array, JointKind, Robot, RobotError, Transform

TOLERANCE = 1e-4  # the error of 18-bit words, and what rounded figures of a URDF leave
NEAR = 0.1  # limbs that differ by no more are worth a line
ROOT_MODULES = {JointKind.FLOATING: ("spherical", "translation"), JointKind.PLANAR: ("planar",)}


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
    shapes: tuple[Shape, ...]

    def name(self, branch: int) -> str:
        """A branch is called by its last link."""
        return self.robot.joints[self.branches[branch].joints[-1]].body

    def on(self, a: int, b: int) -> tuple[Shape, Shape] | None:
        """The shapes of the limbs that two limbs stand on; None: on one link."""
        above = self.branches[a].after, self.branches[b].after
        if above[0] == above[1] or above[0] is None or above[1] is None:
            return None
        return self.shapes[above[0]], self.shapes[above[1]]


@dataclass(frozen=True)
class BranchArray:
    """A row of modules, one for each joint of any of its ``limbs`` (numbers of branches), which
    take turns. ``after``: number of the array that it follows, None after the root."""

    limbs: tuple[int, ...]
    after: int | None
    size: int
    work: int


@dataclass(frozen=True)
class Rooting(Record):
    """The tree as seen from ``link``: ``depth``, moving joints on the longest path, the base's
    included; ``columns``, summed over all joints but the base's."""

    link: str
    depth: int
    columns: int


@dataclass(frozen=True, eq=False)
class Topology:
    """``root``: the base's joint, -1 for a fixed base. ``robot`` has moving joints only.

    ``alike``: groups of branches, each branch in one. ``near``: pairs of branches of the same
    kinds of joints that are not alike, and by how much they differ (``alike.differences``).
    ``best``: where the tree is least deep, then with fewest columns; None if the root cannot move.
    """

    robot: Robot
    root: int
    branches: tuple[Branch, ...]
    alike: tuple[tuple[int, ...], ...]
    near: tuple[tuple[int, int, float], ...]
    arrays: tuple[BranchArray, ...]
    present: Rooting
    best: Rooting | None

    @property
    def root_modules(self) -> tuple[str, ...]:
        """A floating base's joint is two: three axes each."""
        return ROOT_MODULES[self.robot.joints[self.root].kind] if self.root >= 0 else ()

    @property
    def needed(self) -> int:
        """Modules, if every joint had its own."""
        return len(self.root_modules) + sum(len(branch.joints) for branch in self.branches)

    @property
    def built(self) -> int:
        return len(self.root_modules) + sum(array.size for array in self.arrays)

    @property
    def pace(self) -> int:
        return max(array.work for array in self.arrays)


def topology(robot: Robot, tolerance: float = TOLERANCE, turns: int | None = None) -> Topology:
    """The organisation of the robot's tree; the robot may be as read or rewritten.

    ``tolerance``: limbs that differ by no more are alike (``alike.differences``). ``turns``: how
    many limbs of most work take turns in one array, all that are alike by default; 1 keeps the
    pace of the longest limb alone. Raises RobotError where no joint moves.
    """
    robot = merge_fixed(robot)
    limbs = limbs_of(robot)
    root, branches, shapes = limbs.root, limbs.branches, limbs.shapes
    if not branches:
        raise RobotError(f"{robot.name}: no joint moves a link, so there is nothing to organise")
    alike, near = find_alike(branches, shapes, tolerance)
    rootings = find_rootings(robot, root)
    return Topology(
        robot,
        root,
        branches,
        alike,
        near,
        share(branches, alike, shapes, turns),
        rootings[0],
        min(rootings, key=lambda r: (r.depth, r.columns)) if can_move(robot, root) else None,
    )


def limbs_of(robot: Robot) -> Limbs:
    """The limbs of a robot of moving joints."""
    root = root_joint(robot)
    branches, poses = find_branches(robot, root), poses_at_zero(robot, root)
    inertias = handed_on(robot, poses)
    shapes: list[Shape] = []
    for branch in branches:
        on = None if branch.after is None else shapes[branch.after]
        shapes.append(shape_of(robot, poses, inertias, branch.joints, on))
    return Limbs(robot, root, branches, poses, tuple(shapes))


def root_joint(robot: Robot) -> int:
    """The floating or planar joint that alone carries the tree, else -1: the base is fixed."""
    alone = len(robot.children[-1]) == 1 and robot.joints[0].kind in ROOT_MODULES
    return 0 if alone else -1


def can_move(robot: Robot, root: int) -> bool:
    """Any link of a floating robot may be its base; a planar joint holds the link that it holds."""
    return root >= 0 and robot.joints[root].kind is JointKind.FLOATING


def find_branches(robot: Robot, root: int) -> tuple[Branch, ...]:
    """The branches in the order of their first joints."""
    columns = _coordinates(robot)
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


def _coordinates(robot: Robot) -> list[int]:
    """Joint → its own coordinates (a mimic joint: its master's), bit k for entry k of qd."""
    slices = [robot.v_slices[i] for i in range(len(robot.joints))]
    return [(1 << s.stop) - (1 << s.start) for s in slices]


def find_alike(
    branches: Sequence[Branch], shapes: Sequence[Shape], tolerance: float
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, int, float], ...]]:
    """Groups of branches that are alike, each by its first one, and pairs that nearly are."""
    groups: list[list[int]] = []
    near: list[tuple[int, int, float]] = []
    off: dict[tuple[int, int], Array] = {}  # how far through each of SIGNS, (8,)
    for b, branch in enumerate(branches):
        for a in range(b):
            above = branches[a].after, branch.after
            if above[0] == above[1]:
                off[a, b] = differences(shapes[a], shapes[b], None)
            elif above[0] is not None and above[1] is not None and above in off:
                on = shapes[above[0]], shapes[above[1]]
                apart = differences(shapes[a], shapes[b], on)
                off[a, b] = np.where(off[above] <= tolerance, apart, np.inf)
        least = {g[0]: off[g[0], b].min() for g in groups if (g[0], b) in off}
        home = next((g for g in groups if least.get(g[0], np.inf) <= tolerance), None)
        if home is None:
            near += [(a, b, float(x)) for a, x in least.items() if x <= NEAR]
            groups.append([b])
        else:
            home.append(b)
    return tuple(map(tuple, groups)), tuple(near)


def share(
    branches: Sequence[Branch],
    alike: Sequence[Sequence[int]],
    shapes: Sequence[Shape],
    turns: int | None,
) -> tuple[BranchArray, ...]:
    """The fewest arrays that keep the pace; limbs that take turns follow the same array.

    Limbs of a group are spread evenly, neighbours along x, then y, then z, together: a front pair
    of legs and a hind pair.
    """
    longest = max(branch.work for branch in branches)
    group_of = {b: group for group in alike for b in group}
    most = [group for group in alike if branches[group[0]].work == longest]
    # n limbs in as many arrays as it takes, spread evenly
    pace = longest * max(ceil(n / ceil(n / (turns or n))) for n in map(len, most))
    arrays: list[BranchArray] = []
    array_of: dict[int, int] = {}
    for first, branch in enumerate(branches):
        if first in array_of:
            continue
        after = None if branch.after is None else array_of[branch.after]
        limbs = [
            b
            for b in group_of[first]
            if b not in array_of
            and (None if (on := branches[b].after) is None else array_of[on]) == after
        ]
        limbs.sort(key=lambda b: (*np.round(-shapes[b].anchor, 6), b))
        rows = ceil(len(limbs) / (pace // branch.work))
        for row in np.array_split(limbs, rows):
            members = tuple(int(b) for b in row)
            array_of |= dict.fromkeys(members, len(arrays))
            work = sum(branches[b].work for b in members)
            arrays.append(BranchArray(members, after, len(branch.joints), work))
    return tuple(arrays)


def find_rootings(robot: Robot, root: int) -> list[Rooting]:
    """The tree as seen from every link that can be its root, the present one first, then outwards.

    A joint of several axes has no way back, so that links beyond one cannot be the root.
    """
    bits = _coordinates(robot)
    edges: dict[int, list[tuple[int, int]]] = {i: [] for i in range(-1, len(robot.joints))}
    for i, joint in enumerate(robot.joints):
        if i != root:
            edges[joint.parent].append((i, i))
            edges[i].append((joint.parent, i))

    def seen_from(link: int) -> Rooting:
        start = (1, bits[root]) if root >= 0 else (0, 0)
        depth, columns = start[0], 0
        pending = [(link, link, *start)]
        while pending:
            body, source, level, above = pending.pop()
            for other, joint in edges[body]:
                if other != source:
                    mask = above | bits[joint]
                    depth, columns = max(depth, level + 1), columns + mask.bit_count()
                    pending.append((other, body, level + 1, mask))
        name = robot.joints[link].body if link >= 0 else robot.base_body
        return Rooting(name, depth, columns)

    links = [root]
    for link in links if can_move(robot, root) else ():
        links += [i for i in robot.children[link] if robot.joints[i].kind not in ROOT_MODULES]
    return [seen_from(link) for link in links]
