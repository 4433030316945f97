"""The regressor Y of inverse dynamics: τ = Y π, linear in the inertial parameters π of all bodies.

A body's force and moment about its frame's origin are linear in its mass m, first moment h and
inertia J, with U = α̂ + ωωᵀ - (ω·ω) 1 of ``motion``:

    f = a m + U h        n = h × a + J α + ω × J ω

Passed down to the base, each of the ten columns would be transformed at every joint. Instead each
coordinate on the way is seen from the body, where it moves the origin at v and turns the frame at
z, and takes its share of what the body asks for:

    τ = v·f + z·n = (v·a) m + (Uᵀ v + a × z)·h + z·(J α + ω × J ω)

so that a pair of a coordinate and a body takes 33 products at most, and 6 for a joint's own body.
The entries of J's columns are those of U, and differences of its diagonal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..graph.word import spell
from ..robot.base_parameters import SIZE
from ..robot.model import Robot, Transform
from .interface import GraphPorts
from .kinematics import axes
from .motion import LinkMotion, Motion, RobotState, multiplier
from .outward import move
from .scalars import Scalar, Vector
from .spatial import ConstantRotation, Twist, add, cross, dot, matvec, scale, transposed
from .steps import Inline
from .units import Units

Column = tuple[int, int]  # a joint, and which of its body's parameters
Twists = dict[tuple[int, int], Twist]  # joint, which of its coordinates → (angular; linear)
HERE = Transform()


@dataclass(frozen=True)
class Regressor:
    """Y of a canonical robot in one state; body i's columns are in the region ("regress", i)."""

    face: GraphPorts
    robot: Robot
    state: RobotState
    multiplications: int
    regions: str
    order: Collection[int]  # the coordinates that have rows

    def give(self, functions: Collection[str], base: Iterable[Column]) -> None:
        """Y, of the ten parameters of each body that joints move, in its link's frame, and Yb, of
        those of ``base``, in bodies' canonical frames."""
        robot = self.robot
        if "regressor" in functions:
            every = [(i, k) for i in robot.moving for k in range(SIZE)]
            self._give("Y", every, [joint.link_frame for joint in robot.joints])
        if "base_regressor" in functions:
            self._give("Yb", base, [HERE] * len(robot.joints))

    def _give(self, name: str, columns: Iterable[Column], frames: Sequence[Transform]) -> None:
        places = {column: n for n, column in enumerate(columns)}
        robot, builder = self.robot, self.face.builder
        moved = move(
            Inline(builder, self.regions), robot, self.state, Units(), self.multiplications
        )
        seen: dict[int, Twists] = {-1: {}}
        entries: dict[tuple[int, int], Scalar] = {}
        for i, joint in enumerate(robot.joints):
            wanted = [k for k in range(SIZE) if (i, k) in places]
            with builder.region(f"regress{self.regions}", i):
                seen[i] = _seen_from_child(robot, i, seen[joint.parent], moved[i])
                motion = _from(frames[i], moved[i].motion)
                for (j, n), twist in seen[i].items():
                    row = robot.v_slices[j].start + n
                    if row not in self.order:
                        continue
                    factor, (w, v) = multiplier(robot.joints[j]), _twist_from(frames[i], twist)
                    for k, value in _shares(motion, (scale(factor, w), scale(factor, v)), wanted):
                        place = row, places[i, k]
                        entries[place] = entries[place] + value if place in entries else value
        for place, value in sorted(entries.items()):
            self.face.gives(spell(name, *place), value)


def _seen_from_child(robot: Robot, i: int, above: Twists, moved: LinkMotion) -> Twists:
    """The twists of all coordinates on the way to body ``i``, in its frame and at its origin."""
    joint, found = robot.joints[i], Twists()
    R, r = ConstantRotation(joint.placement.rotation), joint.placement.translation.tolist()
    for key, (w, v) in above.items():
        w, v = R.back(w), R.back(add(v, cross(w, r)))
        v = add(v, cross(w, moved.shift))
        if moved.rotation is not None:
            w, v = moved.rotation.back(w), moved.rotation.back(v)
        found[key] = w, v
    return found | {(i, n): twist for n, twist in enumerate(axes(joint.kind))}


def _from(frame: Transform, motion: Motion) -> Motion:
    """A body's motion, in the frame that is at ``frame`` in the body's."""
    R = ConstantRotation(frame.rotation)
    a = motion.of_point(frame.translation.tolist())
    return Motion(R.back(motion.w), R.back(motion.alpha), R.back(a))


def _twist_from(frame: Transform, twist: Twist) -> Twist:
    R, (w, v) = ConstantRotation(frame.rotation), twist
    return R.back(w), R.back(add(v, cross(w, frame.translation.tolist())))


def _shares(motion: Motion, twist: Twist, wanted: Collection[int]) -> Iterator[tuple[int, Scalar]]:
    """Which parameter, and what a coordinate's effort is of it, for those that are wanted."""
    (z, v), a, U = twist, motion.a, motion.U()
    alpha, P = motion.alpha, motion.products()
    moments = add(matvec(transposed(U), v), cross(a, z))
    xx_yy, yy_zz, zz_xx = (P[i][i] - P[j][j] for i, j in ((0, 1), (1, 2), (2, 0)))
    of_inertia: list[Vector] = [  # J α + ω × J ω of J's entries
        [alpha[0], P[0][2], -P[0][1]],
        [-U[2][0], U[2][1], xx_yy],
        [-P[1][2], alpha[1], P[0][1]],
        [U[1][0], zz_xx, -U[1][2]],
        [yy_zz, -U[0][1], U[0][2]],
        [P[1][2], -P[0][2], alpha[2]],
    ]
    for k in wanted:
        if k == 0:
            yield k, dot(v, a)
        elif k < 4:
            yield k, moments[k - 1]
        else:
            yield k, dot(z, of_inertia[k - 4])
