"""The way out: every body's motion, from the base to the leaves, with the least arithmetic.

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

from ..robot.model import Joint, JointKind, Robot
from .scalars import Arithmetic, Scalar, Vector
from .spatial import ZERO, ConstantRotation, Rotation, Turn, Twist, add, cross, is_zero, scale
from .units import Units, scaled


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
    """What is given of a robot, a scalar for each entry: q (nq,), qd and qdd (nv,).

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
    """

    motion: Motion
    above: Motion
    rotation: Rotation | Turn | None
    shift: Vector
    slip: Vector
    rates: Twist
    changes: Twist


def move(
    arithmetic: Arithmetic,
    robot: Robot,
    state: State,
    unit: Units,
    multiplications: int = 4,
    region: str = "forward",
) -> dict[int, Moved]:
    """Every joint's motion; joint i's is traced in the region (``region``, i)."""
    out = _Outward(arithmetic, robot, state, unit.acceleration, multiplications)
    base = Motion(ZERO, ZERO, scaled(robot.gravity, -unit.acceleration))
    arriving: dict[int, Motion] = {}  # the motion of the parent's point under a joint
    for i in robot.children[-1]:
        with arithmetic.region(region, i):
            arriving[i] = out.arriving(i, base)
    moved: dict[int, Moved] = {}
    for i in range(len(robot.joints)):
        with arithmetic.region(region, i):
            moved[i] = out.moved(i, arriving[i])
            for c in robot.children[i]:
                arriving[c] = out.arriving(c, moved[i].motion)
    return moved


def multiplier(joint: Joint) -> float:
    """What the joint makes of the velocity and acceleration that it is given."""
    return joint.mimic.multiplier if joint.mimic else 1.0


@dataclass(frozen=True)
class _Outward:
    """One step of the way out, for each kind of joint."""

    arithmetic: Arithmetic
    robot: Robot
    state: State
    A: float  # unit of acceleration and length
    multiplications: int

    def rates(self, i: int) -> tuple[Vector, Vector]:
        """The joint's entries of q̇ and q̈, multiplied by what it mimics."""
        if i not in self.robot.v_slices:  # a fixed joint; there are some before merge_fixed
            return [], []
        at, m = self.robot.v_slices[i], multiplier(self.robot.joints[i])
        return [m * x for x in self.state.qd[at]], [m * x for x in self.state.qdd[at]]

    def position(self, i: int) -> Scalar:
        """Of a joint with one coordinate, mimic and offset applied."""
        joint = self.robot.joints[i]
        offset = joint.offset + (joint.mimic.offset if joint.mimic else 0.0)
        return multiplier(joint) * self.state.q[self.robot.q_slices[i].start] + offset

    def arriving(self, i: int, parent: Motion) -> Motion:
        """The parent's motion at joint ``i``'s origin, along its axes before it moves.

        A revolute or prismatic joint's own rates along its axis, which it leaves as they are, are
        in it already: a FIFO stands in for the register of an adder that writes it, so the sums
        belong to the parent's region. So does a + U r: three words leave instead of a and a
        column of U.
        """
        joint = self.robot.joints[i]
        R = ConstantRotation(joint.placement.rotation)
        w, alpha = R.back(parent.w), R.back(parent.alpha)
        a = R.back(parent.of_point(scaled(joint.placement.translation, self.A)))
        if joint.kind is JointKind.REVOLUTE:
            # ω' + q̇ z,  α' + q̈ z
            (qd,), (qdd,) = self.rates(i)
            w[2], alpha[2] = w[2] + qd, alpha[2] + qdd
        elif joint.kind is JointKind.PRISMATIC:
            # a' + q̈ z
            a[2] = a[2] + self.A * self.rates(i)[1][0]
        return Motion(w, alpha, a)

    def moved(self, i: int, arriving: Motion) -> Moved:
        match self.robot.joints[i].kind:
            case JointKind.REVOLUTE:
                return self._revolute(i, arriving)
            case JointKind.PRISMATIC:
                return self._prismatic(i, arriving)
            case JointKind.PLANAR:
                return self._planar(i, arriving)
            case JointKind.FLOATING:
                return self._floating(i, arriving)
            case JointKind.FIXED:
                return Moved(arriving, arriving, None, ZERO, ZERO, (ZERO, ZERO), (ZERO, ZERO))

    def _revolute(self, i: int, arriving: Motion) -> Moved:
        (rate,), (qdd,) = self.rates(i)
        if i in self.state.turns:
            sin, cos = self.state.turns[i]
        else:
            angle = self.position(i)
            sin, cos = self.arithmetic.sin(angle), self.arithmetic.cos(angle)
        turn = Turn(cos, sin, self.multiplications)
        w, alpha, a = (turn.back(v) for v in (arriving.w, arriving.alpha, arriving.a))
        # α = α' + q̈ z + ω' × q̇ z
        motion = Motion(w, [alpha[0] + w[1] * rate, alpha[1] - w[0] * rate, alpha[2]], a)
        above = Motion([w[0], w[1], w[2] - rate], [alpha[0], alpha[1], alpha[2] - qdd], a)
        rates, changes = ([0.0, 0.0, rate], ZERO), ([0.0, 0.0, qdd], ZERO)
        return Moved(motion, above, turn, ZERO, ZERO, rates, changes)

    def _prismatic(self, i: int, arriving: Motion) -> Moved:
        (rate,), (qdd,) = self.rates(i)
        w, slide = arriving.w, self.position(i)
        # a = a' + q̈ z + U q z + 2 ω × q̇ z
        x, y, z = arriving.of_point([0.0, 0.0, self.A * slide])
        coriolis = 2.0 * self.A * rate
        motion = Motion(w, arriving.alpha, [x + w[1] * coriolis, y - w[0] * coriolis, z])
        change = self.A * qdd
        above = Motion(w, arriving.alpha, [x, y, z - change])
        rates, changes = (ZERO, [0.0, 0.0, self.A * rate]), (ZERO, [0.0, 0.0, change])
        shift, slip = [0.0, 0.0, slide], [0.0, 0.0, rate]
        return Moved(motion, above, None, shift, slip, rates, changes)

    def _planar(self, i: int, arriving: Motion) -> Moved:
        x, y, cos, sin = self.state.q[self.robot.q_slices[i]]
        v, a = (([0.0, 0.0, r[2]], [r[0], r[1], 0.0]) for r in self.rates(i))
        return self._free(Turn(cos, sin, self.multiplications), [x, y, 0.0], arriving, v, a)

    def _floating(self, i: int, arriving: Motion) -> Moved:
        q = self.state.q[self.robot.q_slices[i]]
        v, a = ((list(r[3:]), list(r[:3])) for r in self.rates(i))
        return self._free(Rotation.of_quaternion(list(q[3:])), list(q[:3]), arriving, v, a)

    def _free(
        self,
        rotation: Rotation | Turn,
        shift: Vector,
        arriving: Motion,
        velocity: Twist,
        acceleration: Twist,
    ) -> Moved:
        """A joint that turns and slides at once; its velocity and acceleration are
        twists (angular; linear) in the moving body's frame, in SI units."""
        A, (w_J, slip), (alpha_J, a_J) = self.A, velocity, acceleration
        w, alpha = rotation.back(arriving.w), rotation.back(arriving.alpha)
        a = rotation.back(arriving.of_point(scale(A, shift)))
        v_J, change = scale(A, slip), scale(A, a_J)
        # α = α' + α_J + ω' × ω_J,   a = a' + U' p + a_J + ω_J × v_J + 2 ω' × v_J
        coriolis = add(cross(w_J, v_J), scale(2.0, cross(w, v_J)))
        motion = Motion(
            add(w, w_J),
            add(add(alpha, alpha_J), cross(w, w_J)),
            add(a, add(change, coriolis)),
        )
        above = Motion(w, alpha, a)
        rates, changes = (w_J, v_J), (alpha_J, change)
        return Moved(motion, above, rotation, shift, rotation.forward(slip), rates, changes)
