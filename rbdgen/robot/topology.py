"""The organisation of a pipeline with a module for each joint after the robot's tree.

After Dadu-RBD (Yang, Chen and Han, MICRO 2023, §V-C): a root, branches that are arrays of modules
("submodules") of their own, limbs that are alike time-multiplexed in one array, and the root moved
to where the tree is least deep.

Columns of a joint: the coordinates that its body's motion depends on, the base's included; its
module handles as many columns of ∂τ/∂q, M and M⁻¹. Work of a branch: the columns of its joints,
summed. Work of an array: that of all limbs that it serves for one task. The pace is the work of
the array that serves the limbs of most work; no other array may have more.

How the modules of a pipeline are organised after a robot's tree: its links and joints by name.

``after``: an index into the list in which it stands, None on the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from ..system.records import Record
from .canonical import merge_fixed
from .limbs import ROOT_MODULES, Branch, Limbs, coordinates, limbs_of
from .model import ALIKE, JointKind, Robot, RobotError


@dataclass(frozen=True)
class BranchArray:
    """A row of modules, one for each joint of any of its ``limbs`` (numbers of branches), which
    are time-multiplexed. ``after``: number of the array that it follows, None after the root."""

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


def topology(robot: Robot, tolerance: float = ALIKE, turns: int | None = None) -> Topology:
    """The organisation of the robot's tree; the robot may be as read or rewritten.

    ``tolerance``: limbs that differ by no more are alike (``alike.differences``). ``turns``: how
    many limbs of most work are time-multiplexed in one array, all that are alike by default; 1
    keeps the pace of the longest limb alone. Raises RobotError where no joint moves.
    """
    robot = merge_fixed(robot)
    limbs = limbs_of(robot)
    root, branches = limbs.root, limbs.branches
    if not branches:
        raise RobotError(f"{robot.name}: no joint moves a link, so there is nothing to organise")
    alike, near = limbs.alike(tolerance)
    rootings = find_rootings(robot, root)
    return Topology(
        robot,
        root,
        branches,
        alike,
        near,
        share(limbs, alike, turns),
        rootings[0],
        min(rootings, key=lambda r: (r.depth, r.columns)) if can_move(robot, root) else None,
    )


def can_move(robot: Robot, root: int) -> bool:
    """Any link of a floating robot may be its base; a planar joint holds the link that it holds."""
    return root >= 0 and robot.joints[root].kind is JointKind.FLOATING


def share(
    found: Limbs, alike: Sequence[Sequence[int]], turns: int | None
) -> tuple[BranchArray, ...]:
    """The fewest arrays that keep the pace; limbs that are time-multiplexed follow the same array.

    Limbs of a group are spread evenly, neighbours along x, then y, then z, together: a front pair
    of legs and a hind pair.
    """
    branches, shapes = found.branches, found.shapes
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
    bits = coordinates(robot)
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


@dataclass(frozen=True)
class NamedBranch(Record):
    """A branch, called by its last link; ``columns``: of each joint, from the root outwards."""

    name: str
    joints: tuple[str, ...]
    after: int | None
    columns: tuple[int, ...]
    work: int


@dataclass(frozen=True)
class BranchDifference(Record):
    """Two branches that are not alike, and by how much they differ."""

    branches: tuple[str, ...]
    difference: float


@dataclass(frozen=True)
class NamedArray(Record):
    """``size`` modules in a row, in which ``branches`` are time-multiplexed; ``work``: their
    columns."""

    size: int
    branches: tuple[str, ...]
    after: int | None
    work: int


@dataclass(frozen=True)
class ModuleCount(Record):
    """The numbers of modules: those built, and those with a separate one for each joint."""

    built: int
    needed: int


@dataclass(frozen=True)
class Organisation(Record):
    """A robot's tree, and the arrays of modules that it makes.

    ``best_root``: where the tree is least deep, None if the root cannot move; ``file_root``: as the
    file roots it.
    """

    file: str
    tolerance: float
    turns: int | None
    robot: str
    base: str
    root: str
    root_modules: tuple[str, ...]
    depth: int
    columns: int
    joints: tuple[str, ...]
    branches: tuple[NamedBranch, ...]
    alike: tuple[tuple[str, ...], ...]
    near: tuple[BranchDifference, ...]
    arrays: tuple[NamedArray, ...]
    pace: int
    modules: ModuleCount
    best_root: Rooting | None
    file_root: Rooting
    root_note: str
