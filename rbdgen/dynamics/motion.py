"""What is known of each body on the way out, from the base to the leaves.

The linear quantity that travels is the acceleration a of a frame's origin, less gravity, and all
that rotation does to a body is in one matrix (Khalil and Dombre, *Modeling, Identification and
Control of Robots*, §9.5),

    U = α̂ + ω̂ω̂ = α̂ + ωωᵀ - (ω·ω) 1        acceleration of a point at r: a + U r

No linear velocity is formed: physics is the same for all observers in steady motion, so each body
is seen by one who moves, at that instant, with the origin of the body's own frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..robot.model import Joint, Robot
from .scalars import Arithmetic, Scalar, Vector
from .spatial import ZERO, Rotation, Turn, Twist, Wrench, is_zero


@dataclass
class Motion:
    """A body's motion in its own frame: ω, α (angular) and a (of the origin, less gravity)."""

    w: Vector
    alpha: Vector
    a: Vector

    def products(self) -> list[Vector]:
        """P = ωωᵀ, symmetric."""
        wx, wy, wz = self.w
        xy, xz, yz = wx * wy, wx * wz, wy * wz
        return [[wx * wx, xy, xz], [xy, wy * wy, yz], [xz, yz, wz * wz]]

    def U(self) -> list[Vector]:
        """α̂ + ωωᵀ - (ω·ω) 1."""
        P, (x, y, z) = self.products(), self.alpha
        return [
            [-(P[1][1] + P[2][2]), P[0][1] - z, P[0][2] + y],
            [P[0][1] + z, -(P[0][0] + P[2][2]), P[1][2] - x],
            [P[0][2] - y, P[1][2] + x, -(P[0][0] + P[1][1])],
        ]

    def of_point(self, r: Vector) -> Vector:
        """Acceleration of the point at ``r`` of this body: a + U r."""
        if is_zero(r):
            return self.a
        U = self.U()
        return [self.a[i] + (U[i][0] * r[0] + U[i][1] * r[1] + U[i][2] * r[2]) for i in range(3)]


@dataclass
class State:
    """The state of a robot, a scalar for each entry: q (nq,), qd and qdd (nv,).

    ``f_ext`` maps a joint index to the six components (force; moment) that act on its body, at
    the origin and along the axes of the link's frame in the file. ``turns`` maps a revolute joint
    to (sin, cos) of its angle (multiplier · q + offset); without it they are computed.
    """

    q: Sequence[Scalar]
    qd: Sequence[Scalar]
    qdd: Sequence[Scalar]
    f_ext: dict[int, Vector] = field(default_factory=dict)
    turns: dict[int, tuple[Scalar, Scalar]] = field(default_factory=dict)


@dataclass
class Moved:
    """One joint and its body at one instant.

    ``motion``   of the body; ``above``: of the parent's point under the joint, turned along with
                 the joint, i.e. in the body's axes, before the joint's own rates are added.
    ``rotation`` of the joint (None: it does not turn); ``shift`` [m]: where it moved the body's
                 origin, in the joint frame; ``slip`` [m/s]: the velocity of that.
    ``rates``    the joint's own twist S q̇ (angular; linear) in the body's frame, linear part in
                 units; ``changes``: S q̈.
    ``force``    what the body asks for by itself: force and moment about its origin.
    """

    motion: Motion
    above: Motion
    rotation: Rotation | Turn | None
    shift: Vector
    slip: Vector
    rates: Twist
    changes: Twist
    force: Wrench = (ZERO, ZERO)


def multiplier(joint: Joint) -> float:
    """The factor of the joint on the velocity and acceleration that it is given."""
    return joint.mimic.multiplier if joint.mimic else 1.0


def joint_rates(robot: Robot, i: int, state: State) -> tuple[Vector, Vector]:
    """The joint's entries of q̇ and q̈, multiplied by what it mimics."""
    if i not in robot.v_slices:  # a fixed joint; there are some before merge_fixed
        return [], []
    at, m = robot.v_slices[i], multiplier(robot.joints[i])
    return [m * x for x in state.qd[at]], [m * x for x in state.qdd[at]]


def joint_position(robot: Robot, i: int, state: State) -> Scalar:
    """The position of a joint with one coordinate, mimic and offset applied."""
    joint = robot.joints[i]
    offset = joint.offset + (joint.mimic.offset if joint.mimic else 0.0)
    return multiplier(joint) * state.q[robot.q_slices[i].start] + offset


def joint_turn(
    arithmetic: Arithmetic, robot: Robot, i: int, state: State, multiplications: int
) -> Turn:
    """The turn of a revolute joint."""
    if i in state.turns:
        sin, cos = state.turns[i]
    else:
        angle = joint_position(robot, i, state)
        sin, cos = arithmetic.sin(angle), arithmetic.cos(angle)
    return Turn(cos, sin, multiplications)
