"""Limbs on one link: whose a name of the graph is, its name in another limb, and its sign there."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...dynamics.interface import WRENCH
from ...graph.evaluate import Array
from ...graph.word import FRAMES, SHAPES, Q, V, X, kind_of, parse, spell
from ...robot.limbs import Group, Limbs
from ...robot.model import JointKind
from ...robot.variations import PAYLOAD

SAME_AXIS = 1e-9
OTHER = -1  # in place of a limb's number
OF_Q = ("q", "q_next")  # what is counted as q is


class LimbError(ValueError):
    """Limbs that cannot be time-multiplexed, and why."""


@dataclass(frozen=True, eq=False)
class Signs:
    """The signs of a joint's words in a mirror image; zero where no sign will do.

    ``q``, ``v``: of its coordinates; ``wrench`` (6,): of the force and moment on its link, in the
    link's axes; ``half``: of sine and cosine besides, whose angles differ by half a turn.
    """

    q: Array
    v: Array
    wrench: Array
    half: float


class Names:
    """The names of a graph: whose each is, its name in another limb, and its sign in a mirror.

    ``inputs``: those that the graph reads. ``others``: joints of limbs of another group.
    ``frames``: of each limb, those of the named frames that stand on it.
    """

    def __init__(
        self,
        found: Limbs,
        limbs: Group,
        inputs: Collection[str] = (),
        others: Collection[int] = (),
    ) -> None:
        robot = found.robot
        self.found, self.robot, self.limbs = found, robot, limbs
        self.limb_of = {joint: k for k, joints in enumerate(limbs) for joint in joints}
        self.whose = dict.fromkeys(others, OTHER) | self.limb_of
        self.frames: list[list[int]] = [[] for _ in limbs]
        for joints in limbs:
            for i in joints:
                if (mimic := robot.joints[i].mimic) is not None and mimic.joint not in joints:
                    raise LimbError("a joint of a limb mimics another, which is not the limb's")
        self.of_q, self.of_v = (
            {
                k: (i, k - slices[i].start)
                for i in robot.free
                for k in range(slices[i].start, slices[i].stop)
            }
            for slices in (robot.q_slices, robot.v_slices)
        )
        self.forces = {self.joints(name)[0][0] for name in inputs if parse(name).axis}
        self.sines = {self.joints(n)[0][0] for n in inputs if kind_of(n) in ("sin", "cos")}
        self.carriers: list[int] = []  # of the trunk's joints, those that carry the limbs
        at = robot.joints[limbs[0][0]].parent
        while at >= 0:
            self.carriers.insert(0, at)
            at = robot.joints[at].parent
        base = self.carriers[0] if self.carriers else -1
        self.floats = base >= 0 and robot.joints[base].kind is JointKind.FLOATING
        self.turned = [pose.rotation for pose in found.poses]

    def places(self, name: str) -> list[tuple[int, int] | None]:
        """(joint, place among its coordinates) of each index; None of one that counts no joints."""
        word = parse(name)
        if word.kind == PAYLOAD:
            return [None for _ in word.indices]
        if word.kind in ("sin", "cos") or word.axis:
            return [(self.robot.moving[k] if word.axis else k, 0) for k in word.indices]
        of, n = (self.of_q, self.robot.nq) if word.kind in OF_Q else (self.of_v, self.robot.nv)
        counted = SHAPES.get(word.kind, (V,) * len(word.indices))
        return [
            of[k % n] if what in (V, Q, X) else None
            for k, what in zip(word.indices, counted, strict=True)
        ]

    def joints(self, name: str) -> list[tuple[int, int]]:
        """The same of those indices that count joints' coordinates; a payload is no joint's."""
        return [place for place in self.places(name) if place is not None]

    def limb(self, name: str) -> frozenset[int]:
        """The limbs whose joints an input or output is of, OTHER for those of another group."""
        return frozenset(self.whose[j] for j, _ in self.joints(name) if j in self.whose)

    def other(self, name: str, limb: int) -> str:
        """The name in another limb of a name of the first limb's."""
        word, new = parse(name), list[int]()
        slices = self.robot.q_slices if word.kind in OF_Q else self.robot.v_slices
        framed = FRAMES in SHAPES.get(word.kind, ())[:1]
        for index, place in zip(word.indices, self.places(name), strict=True):
            if place is None and framed and not new and index in self.frames[0]:
                new.append(self.frames[limb][self.frames[0].index(index)])
            elif place is None or place[0] not in self.limb_of:
                new.append(index)
            else:
                joint = place[0]
                there = self.limbs[limb][self.limbs[0].index(joint)]
                if word.axis or word.kind in ("sin", "cos"):
                    new.append(self.robot.moving.index(there) if word.axis else there)
                else:
                    new.append(index - slices[joint].start + slices[there].start)
        return spell(word.kind, *new, axis=word.axis)

    def choices(self, limb: int) -> list[dict[int, Signs]]:
        """Joint → its signs, as each mirror gives them that shows the axes of the first limb, at
        position zero, where this one has its own; those first that keep what is vertical, then
        those with the fewest changes.

        In a mirror what points along an axis is reflected, what turns about one the other way.
        """
        own, there = self.limbs[limb], self.limbs[0]
        pairs = [*zip(self.carriers, self.carriers, strict=True), *zip(own, there, strict=True)]
        gravity = self.robot.gravity
        found: dict[tuple[float, ...], tuple[bool, dict[int, Signs]]] = {}
        seen = False  # the axes, in some mirror
        for mirror in self.found.mirrors(*(self.found.branch(k[0]) for k in (there, own))):
            signs = {k: self._signs(mirror, here, k) for here, k in pairs}
            if not all(of.q.any() and of.v.any() for of in signs.values()):
                continue
            seen = True
            own_signs = [x for of in signs.values() for x in (*of.q, *of.v)]
            own_signs += self._beside(signs, there)
            # of the trunk's a zero will do: what depends on it is no limb's then
            key = (*own_signs, *self._beside(signs, self.carriers))
            if 0 not in own_signs:
                upright = self.floats or np.allclose(mirror @ gravity, gravity, atol=SAME_AXIS)
                found.setdefault(key, (not upright, signs))
        if not found:
            name, first = (self.robot.joints[joints[0]].name for joints in (own, there))
            what = "turn about other axes than" if not seen else "have other frames than those of"
            raise LimbError(
                f"joint {name} and those after it {what} {first} and those after it, in whatever "
                "mirror of the base"
            )
        ranked = sorted(found.values(), key=lambda own: (own[0], _changes(own[1])))
        return [signs for _, signs in ranked]

    def _beside(self, signs: Mapping[int, Signs], joints: Sequence[int]) -> list[float]:
        """The signs of forces, and of sines, as far as the graph reads any."""
        forces = [x for joint in joints if joint in self.forces for x in signs[joint].wrench]
        return forces + [signs[joint].half for joint in joints if joint in self.sines]

    def _signs(self, mirror: Array, own: int, there: int) -> Signs:
        """The signs of joint ``there`` as joint ``own``; zeros where axes, or frames, disagree."""
        joints, turned = self.robot.joints, self.turned
        flip = float(np.linalg.det(mirror))
        links = [turned[i] @ joints[i].link_frame.rotation for i in (own, there)]
        sides = np.diag(links[0].T @ mirror @ links[1])
        sides = np.where(np.abs(np.abs(sides) - 1) < SAME_AXIS, np.sign(sides), 0.0)
        wrench = np.concatenate([sides, flip * sides])
        kind = joints[there].kind
        if kind is JointKind.FLOATING and joints[there].parent < 0:
            whole = _free_base(np.diag(mirror))
            return Signs(whole[:7], whole[7:], wrench, 1.0)
        if kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC):
            raise LimbError(f"a {kind.value} joint is in the trunk or a limb")
        along = float((mirror @ turned[there][:, 2]) @ turned[own][:, 2])
        along *= flip if kind is JointKind.REVOLUTE else 1.0
        sign = np.sign(along) if abs(abs(along) - 1) < SAME_AXIS else 0.0
        # the angle of the one is ± the other's, and as much more as their offsets leave
        turns = (joints[there].offset - sign * joints[own].offset) / math.pi
        half = (-1.0) ** round(turns) if abs(turns - round(turns)) < SAME_AXIS else 0.0
        return Signs(np.array([sign]), np.array([sign]), wrench, half)

    def sign(self, name: str, signs: Mapping[int, Signs]) -> float:
        """The sign of an input, from its joint's ``signs``."""
        word, found = parse(name), 1.0
        for joint, place in self.joints(name):
            if (of := signs.get(joint)) is None:
                continue
            if word.axis:
                found *= of.wrench[WRENCH.index(word.axis)]
            elif word.kind in ("sin", "cos"):
                found *= of.half * (of.q[0] if word.kind == "sin" else 1.0)
            else:
                found *= (of.q if word.kind in OF_Q else of.v)[place]
        return found


def _changes(signs: Mapping[int, Signs]) -> int:
    return sum(int((of.q < 0).sum() + (of.v < 0).sum()) for of in signs.values())


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
