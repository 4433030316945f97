"""Limbs on one link: whose a name of the graph is, its name in another limb, and its sign there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product

import numpy as np

from ...graph.evaluate import Array
from ...graph.word import indices, kind_of, parse, spell
from ...passes.limbs import LimbError
from ...robot.alike import SIGNS, invariants, poses_at_zero
from ...robot.model import JointKind, Robot
from ...robot.payload import PAYLOAD
from ...robot.topology import Limbs, limbs_of, root_joint

SAME_AXIS = 1e-9
OTHER = -1  # in place of a limb's number
ROUNDING = 1e-7  # of geometry


def groups(robot: Robot) -> list[tuple[tuple[int, ...], ...]]:
    """The joints of each of several limbs on one link that have joints of the same kinds, and of
    those among them that have the same geometry where others have not.

    Those with the most joints come first.
    """
    below: dict[int, list[int]] = {}  # joint → itself and those after it, depth first
    for i in reversed(range(len(robot.joints))):
        below[i] = [i, *(k for child in robot.children[i] for k in below[child])]
    alike: dict[object, list[tuple[int, ...]]] = {}
    for parent in (-1, *range(len(robot.joints))):
        for child in robot.children[parent]:
            joints = tuple(below[child])
            at = {k: place for place, k in enumerate(joints)}
            kinds = tuple((robot.joints[k].kind, at.get(robot.joints[k].parent)) for k in joints)
            alike.setdefault((parent, kinds), []).append(joints)
    found = [tuple(limbs) for limbs in alike.values() if len(limbs) > 1]
    if any(len(limbs) > 2 for limbs in found):
        shapes = limbs_of(robot)
        found += [some for limbs in found for some in _same(shapes, limbs) if some != limbs]
    return sorted(found, key=lambda limbs: -len(limbs) * len(limbs[0]))


def _same(shapes: Limbs, limbs: Sequence[tuple[int, ...]]) -> list[tuple[tuple[int, ...], ...]]:
    """Those of the limbs that have the same geometry, several of each."""
    found: list[tuple[list[Array], list[tuple[int, ...]]]] = []
    for joints in limbs:
        branches = zip(shapes.branches, shapes.shapes, strict=True)
        own = [x for branch, of in branches if branch.joints[0] in joints for x in invariants(of)]
        home = next((same for first, same in found if _near(first, own)), None)
        if home is None:
            found.append((own, [joints]))
        else:
            home.append(joints)
    return [tuple(same) for _, same in found if len(same) > 1]


def _near(first: Sequence[Array], own: Sequence[Array]) -> bool:
    """Whether numbers are the same but for rounding, measured by the largest of their kind."""
    return all(
        a.shape == b.shape and bool((np.abs(a - b) <= ROUNDING * np.abs(a).max()).all())
        for a, b in zip(first, own, strict=True)
    )


class Names:
    """The names of a graph: whose each is, its name in another limb, and its sign in a mirror.

    ``others``: joints of limbs of another group.
    """

    def __init__(
        self, robot: Robot, limbs: tuple[tuple[int, ...], ...], others: Collection[int] = ()
    ) -> None:
        self.robot, self.limbs = robot, limbs
        self.limb_of = {joint: k for k, joints in enumerate(limbs) for joint in joints}
        self.whose = dict.fromkeys(others, OTHER) | self.limb_of
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
        """(joint, place among its coordinates) of each index; a payload is no joint's."""
        word = parse(name)
        if word.kind == PAYLOAD:
            return []
        if word.kind in ("sin", "cos") or word.axis:
            return [(self.robot.moving[k] if word.axis else k, 0) for k in word.indices]
        of = self.of_q if word.kind == "q" else self.of_v
        return [of[k] for k in word.indices]

    def limb(self, name: str) -> frozenset[int]:
        """The limbs whose joints an input or output is of, OTHER for those of another group."""
        return frozenset(self.whose[j] for j, _ in self.joints(name) if j in self.whose)

    def other(self, name: str, limb: int) -> str:
        """The name in another limb of a name of the first limb's."""
        kind, new = kind_of(name), []
        for index, (joint, _) in zip(indices(name), self.joints(name), strict=True):
            if joint not in self.limb_of:
                new.append(index)
                continue
            there = self.limbs[limb][self.limbs[0].index(joint)]
            slices = self.robot.q_slices if kind == "q" else self.robot.v_slices
            by_joint = kind in ("sin", "cos")
            new.append(there if by_joint else index - slices[joint].start + slices[there].start)
        return spell(kind, *new)

    def choices(self, limb: int) -> list[dict[int, Array]]:
        """Joint → the signs of its coordinates in q, then in v, as each mirror gives them that
        shows the axes of the first limb, at position zero, where this one has its own; the fewest
        changes first.

        In a mirror what points along an axis is reflected, what turns about one the other way.
        """
        poses = poses_at_zero(self.robot, root_joint(self.robot))
        turned = {-1: np.eye(3)} | {i: pose.rotation for i, pose in enumerate(poses)}
        own, there = self.limbs[limb], self.limbs[0]
        pairs = [*zip(self.carriers, self.carriers, strict=True), *zip(own, there, strict=True)]
        found: dict[bytes, dict[int, Array]] = {}
        for mirror in self._mirrors(turned[own[0]], turned[there[0]]):
            signs = [self._sign(mirror, turned[here], turned[k], k) for here, k in pairs]
            if all(of.any() for of in signs):
                joints = (k for _, k in pairs)
                found[np.concatenate(signs).tobytes()] = dict(zip(joints, signs, strict=True))
        if not found:
            name, first = (self.robot.joints[joints[0]].name for joints in (own, there))
            raise LimbError(
                f"joint {name} and those after it turn about other axes than {first} and those "
                "after it, in whatever mirror of the base"
            )
        return sorted(found.values(), key=lambda of: sum(int((s < 0).sum()) for s in of.values()))

    def _mirrors(self, own: Array, there: Array) -> list[Array]:
        """(3, 3) each, of the base: along its axes; where it stands still, from hip to hip, too.

        Gravity forbids to turn what stands still round; a base that floats may be turned.
        """
        along = [np.diag(signs) for signs in SIGNS]
        if self.carriers and self.robot.joints[self.carriers[0]].kind is JointKind.FLOATING:
            return along
        hips = [own @ np.diag(signs) @ there.T for signs in product((1.0, -1.0), repeat=3)]
        gravity = self.robot.gravity
        return [m for m in (*along, *hips) if np.allclose(m @ gravity, gravity, atol=SAME_AXIS)]

    def _sign(self, mirror: Array, own: Array, there: Array, joint: int) -> Array:
        """The sign of each coordinate of a joint, q's, then v's; zeros where the axes disagree."""
        kind = self.robot.joints[joint].kind
        if kind is JointKind.FLOATING and self.robot.joints[joint].parent < 0:
            return _free_base(np.diag(mirror))
        if kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC):
            raise LimbError(f"a {kind.value} joint is in the trunk or a limb")
        seen = mirror @ there[:, 2]
        if kind is JointKind.REVOLUTE:
            seen = seen * np.linalg.det(mirror)
        along = float(seen @ own[:, 2])
        agree = abs(abs(along) - 1) < SAME_AXIS
        return np.full(2, np.sign(along) if agree else 0.0)

    def sign(self, name: str, signs: Mapping[int, Array]) -> float:
        """The sign of an input, from its joint's ``signs``."""
        kind = kind_of(name)
        if parse(name).axis:
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


def _free_base(along: Array) -> Array:
    """Position and quaternion, linear and angular rate, seen through a sign matrix of the base.

    The quaternion's are those of ``seen_quaternion``, but for the turn that it has besides.
    """
    x, y, z = along
    return np.array([*along, y * z, x, x * y * z, 1, *along, *(along * x * y * z)], float)


def seen_quaternion(quaternion: Sequence[Array], along: Array) -> list[Array]:
    """(x, y, z, w), (N,) each, of a base whose frame is seen through the sign matrix D ``along``.

    R becomes S R D with S = diag(D_x, D_y D_z, 1), which keeps what is vertical: the base feels
    gravity as seen through D. That is S R S times S D, which is 1 or half a turn about x.
    """
    x, y, z, w = (s * c for s, c in zip(_free_base(along)[3:7], quaternion, strict=True))
    return [x, y, z, w] if along[2] > 0 else [w, z, -y, -x]
