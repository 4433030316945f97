"""Named frames in the world: where they are, J, J q̇ and J̇ q̇, linear part first.

The latter three are in one of Pinocchio's frames of reference. Places are counted from where a
floating or planar base is, on which nothing depends but the frame's own place, and what is about
the world's origin.

Outputs in the world's frame: functions of named frames, and of all bodies' masses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..graph.word import spell
from ..robot.frames import ALIGNED, LOCAL, WORLD
from ..robot.model import JointKind, Robot, RobotError, Transform, frozen
from ..robot.rotors import drivetrains
from ..robot.xml_lines import quoted
from .bodies import Payload
from .centroidal import SUMS, Centroidal, reciprocal, subtrees
from .drivetrains import armature
from .interface import GraphPorts
from .motion import RobotState, multiplier
from .outward import move
from .scalars import Arithmetic, Scalar, Vector
from .spatial import ZERO, ConstantRotation, Tensor, Twist, add, cross, dot, matvec, scale, sub
from .steps import Inline
from .units import Units

ONE: Tensor = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
Columns = dict[int, Vector]  # coordinate → (6,), linear then angular


@dataclass(frozen=True)
class Placed:
    """A body's frame in the world: ``R`` by rows; ``p`` from where its tree's base is, and ``step``
    from where its parent's frame is; ``base``: where that is."""

    R: Tensor
    p: Vector
    step: Vector
    base: Vector


class Kinematics:
    """The bodies of a canonical robot in one state: joint i's in the regions ("place", i) and
    ("rate", i), ``regions`` being appended. ``moving``: with their velocities. ``reference``: of
    `REFERENCES`, that of frames' motions."""

    def __init__(
        self,
        builder: Arithmetic,
        robot: Robot,
        state: RobotState,
        multiplications: int,
        regions: str,
        moving: bool,
        reference: str = ALIGNED,
    ) -> None:
        self.builder, self.robot, self.reference = builder, robot, reference
        weightless = replace(robot, gravity=frozen(ZERO))
        still = RobotState(state.q, state.qd, [0.0] * robot.nv, turns=state.turns)
        self.moved = move(Inline(builder, regions), weightless, still, Units(), multiplications)
        self.placed: dict[int, Placed] = {-1: Placed(ONE, ZERO, ZERO, ZERO)}
        self.rates: dict[int, Twist] = {-1: (ZERO, ZERO)}
        for i in range(len(robot.joints)):
            with builder.region(f"place{regions}", i):
                self.placed[i] = self._place(i)
            if moving:
                with builder.region(f"rate{regions}", i):
                    self.rates[i] = self._rate(i)

    def pose(self, i: int, frame: Transform) -> tuple[Vector, Tensor]:
        """p (3,) and R (3, 3) of a frame on body ``i``."""
        here, turned = self.placed[i], ConstantRotation(frame.rotation)
        return add(self._at(i, frame), here.base), [turned.back(row) for row in here.R]

    def jacobian(self, i: int, frame: Transform) -> Columns:
        """The columns of J of a frame on body ``i``; the others are zero."""
        if self.reference == LOCAL:
            seen = self._from_frame(i, frame)
        else:
            base = self.placed[i].base
            at = self._at(i, frame) if self.reference == ALIGNED else sub(ZERO, base)
            seen = ((j, self.placed[j].R, sub(at, self.placed[j].p)) for j in self.path(i))
        found = Columns()
        for j, R, arm in seen:
            factor = multiplier(self.robot.joints[j])
            for n, (w, v) in enumerate(axes(self.robot.joints[j].kind)):
                turning = matvec(R, w)
                linear = add(matvec(R, v), cross(turning, arm))
                k = self.robot.v_slices[j].start + n
                column = scale(factor, [*linear, *turning])
                found[k] = add(found[k], column) if k in found else column
        return found

    def twist(self, i: int, frame: Transform) -> Vector:
        """Velocity of a frame on body ``i``, and its angular velocity."""
        w, v = self.rates[i]
        return self._referred(i, frame, add(v, cross(w, self._arm(i, frame))), w)

    def drift(self, i: int, frame: Transform) -> Vector:
        """How those change without q̈."""
        motion, R = self.moved[i].motion, self._along(i)
        a = matvec(R, motion.of_point(frame.translation.tolist()))
        if self.reference != ALIGNED:  # a point's acceleration, less ω × v, is the spatial one
            w, v = self.rates[i]
            a = sub(a, cross(w, add(v, cross(w, self._arm(i, frame)))))
        return self._referred(i, frame, a, matvec(R, motion.alpha))

    def _referred(self, i: int, frame: Transform, linear: Vector, angular: Vector) -> Vector:
        """A motion of the frame's origin, along the axes of body ``i`` or the world's, in the frame
        of reference."""
        if self.reference == LOCAL:
            turned = ConstantRotation(frame.rotation)
            return [*turned.back(linear), *turned.back(angular)]
        if self.reference == WORLD:
            linear = add(linear, cross(add(self._at(i, frame), self.placed[i].base), angular))
        return [*linear, *angular]

    def _from_frame(self, i: int, frame: Transform) -> Iterator[tuple[int, Tensor, Vector]]:
        """The joints from a frame on body ``i`` to the base, seen from the frame: the rotation of
        each one's body, by rows, and the frame's origin from the body's, along the frame's axes."""
        turned = ConstantRotation(frame.rotation)
        R = [turned.forward(e) for e in ONE]
        arm = turned.back(frame.translation.tolist())
        for j in self.path(i):
            yield j, R, arm
            joint, moved = self.robot.joints[j], self.moved[j]
            if moved.rotation is not None:
                R = [moved.rotation.forward(row) for row in R]
            arm = add(arm, matvec(R, moved.shift))
            turned = ConstantRotation(joint.placement.rotation)
            R = [turned.forward(row) for row in R]
            arm = add(arm, matvec(R, joint.placement.translation.tolist()))

    def _place(self, i: int) -> Placed:
        joint, moved = self.robot.joints[i], self.moved[i]
        above, turned = self.placed[joint.parent], ConstantRotation(joint.placement.rotation)
        R = [turned.back(row) for row in above.R]
        step = add(matvec(above.R, joint.placement.translation.tolist()), matvec(R, moved.shift))
        if moved.rotation is not None:
            R = [moved.rotation.back(row) for row in R]
        if joint.parent < 0 and joint.kind in (JointKind.FLOATING, JointKind.PLANAR):
            return Placed(R, ZERO, ZERO, step)
        return Placed(R, add(above.p, step), step, above.base)

    def _rate(self, i: int) -> Twist:
        """ω of body ``i``, and the velocity of its frame's origin, along its own axes or the
        world's."""
        moved, joint = self.moved[i], self.robot.joints[i]
        (w, v), (turning, sliding) = self.rates[joint.parent], moved.rates
        if self.reference == LOCAL:
            turned = ConstantRotation(joint.placement.rotation)
            step = add(joint.placement.translation.tolist(), turned.forward(moved.shift))
            v = turned.back(add(v, cross(w, step)))
            v = moved.rotation.back(v) if moved.rotation is not None else v
            return moved.motion.w, add(v, sliding)
        here = self.placed[i]
        v = add(add(v, cross(w, here.step)), matvec(here.R, sliding))
        return add(w, matvec(here.R, turning)), v

    def _along(self, i: int) -> Tensor:
        """The rotation of body ``i`` to the axes along which its motion is."""
        return ONE if self.reference == LOCAL else self.placed[i].R

    def _arm(self, i: int, frame: Transform) -> Vector:
        """A frame's origin, from that of body ``i``, along these axes."""
        return matvec(self._along(i), frame.translation.tolist())

    def _at(self, i: int, frame: Transform) -> Vector:
        """A frame's origin, from where the base is."""
        here = self.placed[i]
        return add(here.p, matvec(here.R, frame.translation.tolist()))

    def path(self, i: int) -> Iterable[int]:
        """The joints from a body to the base."""
        while i >= 0:
            yield i
            i = self.robot.joints[i].parent


def axes(kind: JointKind) -> list[Twist]:
    """The twist (angular; linear) of each coordinate of a joint, in its body's frame."""
    x, y, z = ONE
    match kind:
        case JointKind.REVOLUTE:
            return [(z, ZERO)]
        case JointKind.PRISMATIC:
            return [(ZERO, z)]
        case JointKind.PLANAR:
            return [(ZERO, x), (ZERO, y), (z, ZERO)]
        case JointKind.FLOATING:
            return [*((ZERO, e) for e in ONE), *((e, ZERO) for e in ONE)]
        case JointKind.FIXED:
            return []


Frames = Sequence[tuple[int, Transform]]  # the body's joint, the pose in the body's frame


def gives_frames(
    face: GraphPorts,
    functions: frozenset[str],
    kinematics: Kinematics,
    frames: Frames,
    order: Collection[int],
) -> None:
    """pose (p, R), twist, jac (J) and drift of ``frames``, each in a region of its body; J has
    columns of the coordinates in ``order``."""
    for f, on in enumerate(frames):
        with face.builder.region("frame", on[0]):
            if "pose" in functions:
                p, R = kinematics.pose(*on)
                _gives(face, "p", {(f, k): x for k, x in enumerate(p)})
                turned = {(f, i, j): x for i, row in enumerate(R) for j, x in enumerate(row)}
                _gives(face, "R", turned)
            if "twist" in functions:
                _gives(face, "twist", {(f, k): x for k, x in enumerate(kinematics.twist(*on))})
            if "jac" in functions:
                found = kinematics.jacobian(*on)
                columns = {k: column for k, column in found.items() if k in order}
                own = {(f, r, k): x for k, column in columns.items() for r, x in enumerate(column)}
                _gives(face, "J", own)
            if "drift" in functions:
                _gives(face, "drift", {(f, k): x for k, x in enumerate(kinematics.drift(*on))})


def gives_subtrees(
    face: GraphPorts, kinematics: Kinematics, frames: Frames, payload: Mapping[int, Payload]
) -> None:
    """subcom: the centres of mass of what the joints carry that move ``frames``.

    RobotError where that weighs nothing.
    """
    one, robot = face.builder, kinematics.robot
    found = subtrees(one, robot, kinematics.moved, payload)
    for f, (i, _) in enumerate(frames):
        here, own = kinematics.placed[i], found[i]
        if own.mass == 0:
            raise RobotError(
                f"{robot.name}: subcom: {quoted(robot.joints[i].body)} and what it carries weigh "
                "nothing, so they have no centre of mass; leave them out of frames"
            )
        with one.region("frame", i):
            center = matvec(here.R, scale(reciprocal(one, own.mass), own.moment))
            at = add(add(here.p, here.base), center)
            _gives(face, "subcom", {(f, k): x for k, x in enumerate(at)})


def gives_masses(
    face: GraphPorts,
    functions: frozenset[str],
    robot: Robot,
    found: Centroidal,
    qd: Sequence[Scalar],
    order: Sequence[int],
) -> None:
    """com, jcom, energy, ag and hg; columns of the coordinates in ``order``."""
    with face.builder.region(SUMS, 0):
        if "com" in functions:
            _gives(face, "com", {(k,): x for k, x in enumerate(found.center())})
        momenta = {k: found.momenta(k) for k in range(robot.nv)}
        if "jcom" in functions:
            own = {(r, k): x * found.per_mass for k in order for r, x in enumerate(momenta[k][:3])}
            _gives(face, "Jcom", own)
        if "ag" in functions:
            map_of = {k: found.about_center(momenta[k]) for k in order}
            _gives(face, "Ag", {(r, k): x for k in order for r, x in enumerate(map_of[k])})
        if "hg" in functions:
            total: Vector = [0.0] * 6
            for k, column in momenta.items():
                total = add(total, [x * qd[k] for x in column])
            _gives(face, "hg", {(r,): x for r, x in enumerate(found.about_center(total))})
        if "energy" in functions:
            _gives(face, "kinetic", {(): _kinetic(robot, found, qd)})
            along = dot(robot.gravity.tolist(), found.whole_moment())
            _gives(face, "potential", {(): -along})


def _kinetic(robot: Robot, found: Centroidal, qd: Sequence[Scalar]) -> Scalar:
    """½ Σ q̇ᵢ Mᵢⱼ q̇ⱼ, of the lower triangle; rotors are in M."""
    total: Scalar = 0.0
    own = drivetrains(robot)
    for i, rate in enumerate(qd):
        row = (found.M(i, i) + armature(own.get(i, []))) * rate * 0.5
        for j in range(i):
            row = row + found.M(i, j) * qd[j]
        total = total + rate * row
    return total


def _gives(face: GraphPorts, name: str, entries: Mapping[Any, Scalar]) -> None:
    for index, value in sorted(entries.items()):
        face.gives(spell(name, *index), value)
