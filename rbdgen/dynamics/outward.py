"""The way out: every body's motion, from the base to the leaves, with the least arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from ..robot.model import JointKind, Robot
from .forces import body_force
from .motion import Motion, Moved, State, joint_position, joint_rates, joint_turn
from .scalars import Arithmetic, Scalar, Vector
from .spatial import ZERO, ConstantRotation, Rotation, Turn, Twist, add, cross, scale
from .units import Units, scaled


def move(
    arithmetic: Arithmetic,
    robot: Robot,
    state: State,
    unit: Units,
    multiplications: int = 4,
    region: str = "forward",
) -> dict[int, Moved]:
    """Every joint's motion and its body's force; joint i's are traced in region (``region``, i)."""
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
            moved[i].force = body_force(robot, i, moved[i].motion, state, unit)
            for c in robot.children[i]:
                arriving[c] = out.arriving(c, moved[i].motion)
    return moved


@dataclass(frozen=True)
class _Outward:
    """One step of the way out, for each kind of joint."""

    arithmetic: Arithmetic
    robot: Robot
    state: State
    A: float  # unit of acceleration and length
    multiplications: int

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
            (qd,), (qdd,) = joint_rates(self.robot, i, self.state)
            w[2], alpha[2] = w[2] + qd, alpha[2] + qdd
        elif joint.kind is JointKind.PRISMATIC:
            # a' + q̈ z
            a[2] = a[2] + self.A * joint_rates(self.robot, i, self.state)[1][0]
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
        (rate,), (qdd,) = joint_rates(self.robot, i, self.state)
        turn = joint_turn(self.arithmetic, self.robot, i, self.state, self.multiplications)
        return revolved(arriving, turn, rate, qdd)

    def _prismatic(self, i: int, arriving: Motion) -> Moved:
        (rate,), (qdd,) = joint_rates(self.robot, i, self.state)
        w, slide = arriving.w, joint_position(self.robot, i, self.state)
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
        own = joint_rates(self.robot, i, self.state)
        v, a = (([0.0, 0.0, r[2]], [r[0], r[1], 0.0]) for r in own)
        return self._free(Turn(cos, sin, self.multiplications), [x, y, 0.0], arriving, v, a)

    def _floating(self, i: int, arriving: Motion) -> Moved:
        """One joint of six coordinates, which are those of the body's own frame.

        On the ground that takes twelve products: six for the vertical in the body's frame, of the
        quaternion, and six for ω × v. Split in two, a translation along the ground's axes and a
        ball, it would take 27: the whole rotation, its acceleration turned, and the force on the
        way back; and more for each column of M and of the gradients.
        """
        q = self.state.q[self.robot.q_slices[i]]
        v, a = ((list(r[3:]), list(r[:3])) for r in joint_rates(self.robot, i, self.state))
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


def revolved(arriving: Motion, turn: Turn, rate: Scalar, change: Scalar) -> Moved:
    """A revolute joint: ``arriving`` has its rate q̇ and its change q̈ about z in it already."""
    w, alpha, a = (turn.back(v) for v in (arriving.w, arriving.alpha, arriving.a))
    # α = α' + q̈ z + ω' × q̇ z
    motion = Motion(w, [alpha[0] + w[1] * rate, alpha[1] - w[0] * rate, alpha[2]], a)
    above = Motion([w[0], w[1], w[2] - rate], [alpha[0], alpha[1], alpha[2] - change], a)
    rates, changes = ([0.0, 0.0, rate], ZERO), ([0.0, 0.0, change], ZERO)
    return Moved(motion, above, turn, ZERO, ZERO, rates, changes)
