"""Limbs on one link: whose a name of the graph is, its name in another limb, and its sign there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from ..graph.evaluate import Array
from ..passes.limbs import LimbError
from ..robot.model import JointKind, Robot

MOST_SIGNS = 9  # of mirrors, and of the joints of trunk and limb: every choice of them is tried
MIRRORS = tuple(product((1, -1), repeat=2))  # signs along x and y; gravity forbids to turn z round


def groups(robot: Robot) -> tuple[tuple[int, ...], ...]:
    """The joints of each of the most limbs on one link that have joints of the same kinds.

    Empty where no link carries two such limbs.
    """
    below: dict[int, list[int]] = {}  # joint → itself and those after it, depth first
    for i in reversed(range(len(robot.joints))):
        below[i] = [i, *(k for child in robot.children[i] for k in below[child])]
    best: tuple[tuple[int, ...], ...] = ()
    for parent in (-1, *range(len(robot.joints))):
        alike: dict[object, list[tuple[int, ...]]] = {}
        for child in robot.children[parent]:
            joints = tuple(below[child])
            at = {k: place for place, k in enumerate(joints)}
            kinds = tuple((robot.joints[k].kind, at.get(robot.joints[k].parent)) for k in joints)
            alike.setdefault(kinds, []).append(joints)
        for limbs in alike.values():
            if len(limbs) > 1 and len(limbs) * len(limbs[0]) > sum(map(len, best)):
                best = tuple(limbs)
    return best


class Names:
    """Whose a name of the graph is, what it is called in another limb, and its sign in a mirror."""

    def __init__(self, robot: Robot, limbs: tuple[tuple[int, ...], ...]) -> None:
        self.robot, self.limbs = robot, limbs
        self.limb_of = {joint: k for k, joints in enumerate(limbs) for joint in joints}
        mimicking = [robot.joints[i].mimic for i in self.limb_of]
        if any(mimic is not None for mimic in mimicking):
            raise LimbError("a joint of a limb mimics another")
        self.of_q = _owners(robot, robot.q_slices)
        self.of_v = _owners(robot, robot.v_slices)
        self.carriers: list[int] = []  # of the trunk's joints, those that carry the limbs
        at = robot.joints[limbs[0][0]].parent
        while at >= 0:
            self.carriers.insert(0, at)
            at = robot.joints[at].parent

    def joints(self, name: str) -> list[tuple[int, int]]:
        """(joint, place among its coordinates) of each index."""
        kind, indices, axis = parts_of(name)
        if kind in ("sin", "cos") or axis:
            return [(self.robot.moving[k] if axis else k, 0) for k in indices]
        of = self.of_q if kind == "q" else self.of_v
        return [of[k] for k in indices]

    def limb(self, name: str) -> frozenset[int]:
        """The limbs whose joints an input or output is of."""
        return frozenset(self.limb_of[j] for j, _ in self.joints(name) if j in self.limb_of)

    def other(self, name: str, limb: int) -> str:
        """What a name of the first limb's is called in another one."""
        kind, indices, _ = parts_of(name)
        new = []
        for index, (joint, _) in zip(indices, self.joints(name), strict=True):
            if joint not in self.limb_of:
                new.append(index)
                continue
            there = self.limbs[limb][self.limbs[0].index(joint)]
            slices = self.robot.q_slices if kind == "q" else self.robot.v_slices
            by_joint = kind in ("sin", "cos")
            new.append(there if by_joint else index - slices[joint].start + slices[there].start)
        return f"{kind}[{','.join(map(str, new))}]"

    def choices(self) -> Iterator[dict[int, Array]]:
        """Joint → the signs of its coordinates in q, then in v; the fewest changes first."""
        joints = [*self.carriers, *self.limbs[0]]
        ways: list[list[Array]] = []
        for i in joints:
            kind = self.robot.joints[i].kind
            if kind is JointKind.FLOATING:
                ways.append([_free_base(x, y) for x, y in MIRRORS])
            elif kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
                ways.append([np.array([s, s]) for s in (1.0, -1.0)])
            else:
                raise LimbError(f"a {kind.value} joint is in the trunk or a limb")
        if sum(len(way) // 2 for way in ways) > MOST_SIGNS:
            raise LimbError(f"more than {MOST_SIGNS} signs would have to be tried")
        found = list(product(*ways))
        found.sort(key=lambda choice: sum(int((signs < 0).sum()) for signs in choice))
        return (dict(zip(joints, choice, strict=True)) for choice in found)

    def sign(self, name: str, signs: Mapping[int, Array]) -> float:
        """Of an input, by its joint's."""
        kind, _, axis = parts_of(name)
        if axis:
            raise LimbError("external forces act on links")
        found = 1.0
        for joint, place in self.joints(name):
            if kind == "cos" or joint not in signs:
                continue
            size = self.robot.joints[joint].kind.nq
            found *= signs[joint][place if kind in ("q", "sin") else size + place]
        return found


def _owners(robot: Robot, slices: Mapping[int, slice]) -> dict[int, tuple[int, int]]:
    return {k: (i, k - s.start) for i, s in slices.items() for k in range(s.start, s.stop)}


def _free_base(x: int, y: int) -> Array:
    """Position and quaternion, linear and angular rate, seen in a mirror of x, of y, or of both."""
    along, about = (x, y, 1), (y, x, x * y)
    return np.array([*along, *about, 1, *along, *about], float)


def parts_of(name: str) -> tuple[str, list[int], str]:
    """``f_ext[3].nx`` → f_ext, [3], .nx."""
    kind, rest = name.split("[", 1)
    index, axis = rest.split("]", 1)
    return kind, [int(k) for k in re.findall(r"\d+", index)], axis
