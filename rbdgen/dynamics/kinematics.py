"""Named frames in the world: where they are, J, J q̇ and J̇ q̇, linear part first.

Of the frame's origin, along the world's axes: Pinocchio's LOCAL_WORLD_ALIGNED, and classical
accelerations. Places are counted from where a floating or planar base is, on which nothing but
the frame's own place depends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..graph.node import Builder
from ..robot.model import JointKind, Robot, Transform, frozen
from .motion import RobotState, multiplier
from .outward import move
from .scalars import Vector
from .spatial import ZERO, ConstantRotation, Tensor, Twist, add, cross, matvec, scale, sub
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
    ("rate", i), ``regions`` being appended. ``moving``: with their velocities."""

    def __init__(
        self,
        builder: Builder,
        robot: Robot,
        state: RobotState,
        multiplications: int,
        regions: str,
        moving: bool,
    ) -> None:
        self.robot = robot
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
        at, found = self._at(i, frame), Columns()
        for j in self._path(i):
            here, factor = self.placed[j], multiplier(self.robot.joints[j])
            for n, (w, v) in enumerate(axes(self.robot.joints[j].kind)):
                turning = matvec(here.R, w)
                linear = add(matvec(here.R, v), cross(turning, sub(at, here.p)))
                k = self.robot.v_slices[j].start + n
                column = scale(factor, [*linear, *turning])
                found[k] = add(found[k], column) if k in found else column
        return found

    def twist(self, i: int, frame: Transform) -> Vector:
        """Velocity of the origin of a frame on body ``i``, and its angular velocity."""
        w, v = self.rates[i]
        return [*add(v, cross(w, self._arm(i, frame))), *w]

    def drift(self, i: int, frame: Transform) -> Vector:
        """How those change without q̈."""
        motion, R = self.moved[i].motion, self.placed[i].R
        a = motion.of_point(frame.translation.tolist())
        return [*matvec(R, a), *matvec(R, motion.alpha)]

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
        """ω of body ``i``, and the velocity of its frame's origin, along the world's axes."""
        here, (turning, sliding) = self.placed[i], self.moved[i].rates
        w, v = self.rates[self.robot.joints[i].parent]
        v = add(add(v, cross(w, here.step)), matvec(here.R, sliding))
        return add(w, matvec(here.R, turning)), v

    def _arm(self, i: int, frame: Transform) -> Vector:
        """A frame's origin, from that of body ``i``."""
        return matvec(self.placed[i].R, frame.translation.tolist())

    def _at(self, i: int, frame: Transform) -> Vector:
        """A frame's origin, from where the base is."""
        return add(self.placed[i].p, self._arm(i, frame))

    def _path(self, i: int) -> Iterable[int]:
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
