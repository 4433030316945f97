"""Centre of mass, energies and centroidal momentum, out of one mass matrix.

Below a floating joint without mass, which stands still in the world, the rows of that joint in M
are the momenta of each coordinate about the world's origin (Wensing and Orin, "Improved
computation of the humanoid centroidal dynamics", 2016), and its own block has m c:

    M₀ = [ m 1   -m ĉ ]      A = [ P             ]  of the momenta P, L of the coordinates
         [ m ĉ    J   ]          [ L - c × P     ]

Places are counted from where a single floating or planar base is: A does not depend on that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..graph.node import Builder, Region
from ..graph.visits import Visit
from ..robot.model import Inertia, Joint, JointKind, Robot, Transform
from .bodies import Payload, mass_of
from .composite import Columns
from .motion import LinkMotion, RobotState
from .outward import move
from .rnea import gather
from .scalars import Scalar, Vector
from .spatial import ZERO, ConstantRotation, add, cross, scale, sub
from .steps import Inline
from .units import Units

T = TypeVar("T")

BASE = 6  # coordinates of the joint in the world
SUMS = "centroidal"  # the region of what is made of M


class Centroidal:
    """Momenta, masses and M of a canonical robot's bodies in one state.

    Inertias must be physical. What is made of M is for the region `SUMS`.
    """

    def __init__(
        self, builder: Builder, robot: Robot, state: RobotState, multiplications: int, regions: str
    ) -> None:
        whole = _in_the_world(robot)
        q, self.base = _from_the_base(robot, state)
        n = whole.nv
        turns = {i + 1: turn for i, turn in state.turns.items()}
        payload = {i + 1: own for i, own in state.payload.items()}
        still = RobotState(
            [*ZERO, *ZERO, 1.0, *q], [0.0] * n, [0.0] * n, turns=turns, payload=payload
        )
        run, unit = _OnBase(builder, regions), Units()
        moved = move(run, whole, still, unit, multiplications)
        columns = Columns(run, whole, moved, unit)
        gather(run, whole, moved, unit, columns.add)
        self._M = columns.gradient.M
        self.mass: Scalar = sum(joint.inertia.mass for joint in robot.joints)
        with builder.region(SUMS, 0):
            for own in state.payload.values():
                self.mass = self.mass + own.words[0]
            self.per_mass = reciprocal(builder, self.mass)
        # m c, of m ĉ
        self.moment: Vector = [self._at(5, 1), self._at(3, 2), self._at(4, 0)]

    def M(self, i: int, j: int) -> Scalar:
        """An entry of the mass matrix."""
        return self._at(BASE + i, BASE + j)

    def center(self) -> Vector:
        """c (3,)."""
        return add(scale(self.per_mass, self.moment), self.base)

    def whole_moment(self) -> Vector:
        """m c (3,)."""
        return add(self.moment, scale(self.mass, self.base))

    def momenta(self, k: int) -> Vector:
        """P and L (6,) of coordinate ``k``, about where the base is."""
        return [self._at(BASE + k, row) for row in range(BASE)]

    def about_center(self, momenta: Vector) -> Vector:
        """P and L - c × P."""
        P, L = momenta[:3], momenta[3:]
        return [*P, *sub(L, cross(scale(self.per_mass, self.moment), P))]

    def _at(self, i: int, j: int) -> Scalar:
        return self._M[max(i, j)][min(i, j)]


@dataclass(frozen=True)
class Subtree:
    """All that a joint carries: mass, and first moment about its body's frame, in that."""

    mass: Scalar
    moment: Vector


def subtrees(
    builder: Builder, robot: Robot, moved: Mapping[int, LinkMotion], payload: Mapping[int, Payload]
) -> dict[int, Subtree]:
    """Each joint's subtree, from the leaves on; in the regions ("subtree", i)."""
    found: dict[int, Subtree] = {}
    for i in reversed(range(len(robot.joints))):
        here = ("subtree", i)
        own = mass_of(Inline(builder), here, robot.joints[i].inertia, i, payload)
        mass, moment = own.m, own.h
        with builder.region(*here):
            for c in robot.children[i]:
                other, motion, placement = found[c], moved[c], robot.joints[c].placement
                turned = other.moment
                if motion.rotation is not None:
                    turned = motion.rotation.forward(turned)
                turned = add(turned, scale(other.mass, motion.shift))
                turned = ConstantRotation(placement.rotation).forward(turned)
                step = scale(other.mass, placement.translation.tolist())
                mass, moment = mass + other.mass, add(moment, add(turned, step))
        found[i] = Subtree(mass, moment)
    return found


def reciprocal(builder: Builder, mass: Scalar) -> Scalar:
    """1 / m, a constant of a constant."""
    return 1 / mass if isinstance(mass, float | int) else builder.recip(mass)


class _OnBase(Inline):
    """Runs steps of a robot on a joint in the world in the regions of the robot's own joints."""

    def __call__(self, visit: Visit, region: Region, step: Callable[..., T], *args: Any) -> T:
        kind, i = region
        return super().__call__(visit, (kind, max(i - 1, 0)), step, *args)


def _in_the_world(robot: Robot) -> Robot:
    """The robot on a floating joint without mass."""
    world = Joint("", JointKind.FLOATING, -1, Transform(), "", Inertia())
    joints = [
        replace(
            joint,
            parent=joint.parent + 1,
            mimic=replace(joint.mimic, joint=joint.mimic.joint + 1) if joint.mimic else None,
        )
        for joint in robot.joints
    ]
    return robot.with_joints([world, *joints])


def _from_the_base(robot: Robot, state: RobotState) -> tuple[Vector, Vector]:
    """q with a single base at the joint's origin, and where it is from there."""
    first, *others = robot.children[-1]
    joint, q = robot.joints[first], list(state.q)
    places = {JointKind.FLOATING: 3, JointKind.PLANAR: 2}.get(joint.kind, 0)
    if others or not places:
        return q, ZERO
    at = robot.q_slices[first].start
    place = [*q[at : at + places], *ZERO][:3]
    q[at : at + places] = [0.0] * places
    return q, ConstantRotation(joint.placement.rotation).forward(place)
