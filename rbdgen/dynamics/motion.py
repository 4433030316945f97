"""Motions of bodies on the outward pass, from the base to the leaves.

The linear quantity that travels is the acceleration a of a frame's origin, less gravity, and all
that rotation does to a body is in one matrix (Khalil and Dombre, *Modeling, Identification and
Control of Robots*, §9.5),

    U = α̂ + ω̂ω̂ = α̂ + ωωᵀ - (ω·ω) 1        acceleration of a point at r: a + U r

No linear velocity is formed: physics is the same for all observers in steady motion, so each body
is seen by one who moves, at that instant, with the origin of the body's own frame.

A joint by itself: where it puts its body, and how fast, seen from its parent's body.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..graph.node import Region
from ..graph.visits import Visit
from ..graph.word import spell
from ..robot.model import Inertia, Joint, JointKind, Robot, Transform
from ..robot.variations import PAYLOAD, SIZE
from .bodies import Mass, Payload
from .interface import WRENCH, Ports
from .repeated import by_place, weight_of
from .scalars import Arithmetic, Scalar, Vector
from .spatial import (
    ZERO,
    Placement,
    Rotation,
    Tensor,
    Turn,
    Twist,
    Wrench,
    add,
    is_zero,
    matvec,
    transposed,
)
from .steps import Runner

PLACES = {
    JointKind.FLOATING: 3,
    JointKind.PLANAR: 2,
}  # coordinates that say where, not how turned


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
class RobotState:
    """The state of a robot, a scalar for each entry: q (nq,), qd and qdd (nv,).

    ``f_ext`` maps a joint index to the six components (force; moment) that act on its body, at
    the origin and along the axes of the link's frame in the file. ``turns`` maps a revolute joint
    to (sin, cos) of its angle (multiplier · q + offset); without it they are computed.
    ``payload`` maps a joint index to what its body carries besides.
    """

    q: Sequence[Scalar]
    qd: Sequence[Scalar]
    qdd: Sequence[Scalar]
    f_ext: dict[int, Vector] = field(default_factory=dict)
    turns: dict[int, tuple[Scalar, Scalar]] = field(default_factory=dict)
    payload: dict[int, Payload] = field(default_factory=dict)


def read_state(
    ports: Ports,
    robot: Robot,
    turning: Sequence[int],
    sees: bool,
    rates: int,
    changes: int,
    pushed: Sequence[int],
    payload: Iterable[tuple[int, Transform]],
) -> RobotState:
    """A state from the inputs of an algorithm, in this order.

    sin and cos of the joints ``turning``, the coordinates of all others, of those on the base
    without the base's place unless it ``sees`` that, the first ``rates`` of q̇ and ``changes`` of
    q̈, forces on the bodies ``pushed``, and the payload of a joint's body, where its link's frame
    is.
    """
    q: list[int] = []
    for i in robot.moving:
        joint, own = robot.joints[i], robot.q_slices[i]
        if i not in turning:
            hidden = PLACES.get(joint.kind, 0) if joint.parent < 0 and not sees else 0
            q += range(own.start + hidden, own.stop)
    turns = {i: (ports.given(spell("sin", i)), ports.given(spell("cos", i))) for i in turning}
    return RobotState(
        ports.vector("q", robot.nq, q),
        ports.vector("qd", robot.nv, range(rates)),
        ports.vector("qdd", robot.nv, range(changes)),
        {
            i: [ports.given(spell("f_ext", robot.moving.index(i), axis=axis)) for axis in WRENCH]
            for i in pushed
        },
        turns,
        {i: Payload(ports.vector(PAYLOAD, SIZE, range(SIZE)), pose) for i, pose in payload},
    )


@dataclass
class LinkMotion:
    """One joint and its body at one instant.

    ``motion``   of the body; ``above``: of the parent's point under the joint, turned along with
                 the joint, i.e. in the body's axes, before the joint's own rates are added.
    ``rotation`` of the joint (None: it does not turn); ``shift`` [m]: where it moved the body's
                 origin, in the joint frame; ``slip`` [m/s]: the velocity of that.
    ``rates``    the joint's own twist S q̇ (angular; linear) in the body's frame, linear part in
                 units; ``changes``: S q̈.
    ``force``    what the body asks for by itself: force and moment about its origin.
    ``Uz``       the last column of the motion's U.
    ``mass``     what the body weighs.
    """

    motion: Motion
    above: Motion
    rotation: Rotation | Turn | None
    shift: Vector
    slip: Vector
    rates: Twist
    changes: Twist
    force: Wrench = (ZERO, ZERO)
    Uz: Vector = field(default_factory=lambda: ZERO)
    mass: Mass = field(default_factory=lambda: Mass.of(Inertia()))


@dataclass(frozen=True)
class Told:
    """A joint's entries of q, q̇ and q̈; ``multiplier`` and ``offset`` make its own of them."""

    multiplier: float
    offset: float
    q: Vector
    qd: Vector
    qdd: Vector

    def rates(self) -> tuple[Vector, Vector]:
        """The joint's velocity and acceleration."""
        return [self.multiplier * x for x in self.qd], [self.multiplier * x for x in self.qdd]

    def position(self) -> Scalar:
        """The position of a joint with one coordinate: multiplier · q + offset."""
        return self.multiplier * self.q[0] + self.offset


def multiplier(joint: Joint) -> float:
    """The factor of the joint on the velocity and acceleration that it is given."""
    return joint.mimic.multiplier if joint.mimic else 1.0


def told(robot: Robot, i: int, state: RobotState) -> Told:
    """The state's entries for a joint; none for a fixed one (as before merge_fixed)."""
    joint = robot.joints[i]
    offset = joint.offset + (joint.mimic.offset if joint.mimic else 0.0)
    if i not in robot.v_slices:
        return Told(1.0, offset, [], [], [])
    q, v = robot.q_slices[i], robot.v_slices[i]
    return Told(multiplier(joint), offset, list(state.q[q]), list(state.qd[v]), list(state.qdd[v]))


def rotation_of(
    run: Runner,
    visit: Visit,
    region: Region,
    robot: Robot,
    i: int,
    state: RobotState,
    multiplications: int,
) -> Turn | Rotation | None:
    """How joint ``i`` is turned; None: it does not turn. ``visit``: where it has several
    coordinates; the sine and cosine of one have a template "turn"."""
    joint, own = robot.joints[i], told(robot, i, state)
    if i in state.turns:
        sin, cos = state.turns[i]
        return Turn(cos, sin, multiplications)
    if joint.kind is JointKind.REVOLUTE:
        return run(Visit("turn", (i,)), region, turn_by, run.arithmetic, own, multiplications)
    if joint.kind in (JointKind.PLANAR, JointKind.FLOATING):
        return run(visit, region, _turned, joint.kind, own, multiplications)
    return None


def turn_by(arithmetic: Arithmetic, joint: Told, multiplications: int) -> Turn:
    angle = joint.position()
    sin, cos = arithmetic.sin(angle), arithmetic.cos(angle)
    return Turn(cos, sin, multiplications)


def _turned(kind: JointKind, joint: Told, multiplications: int) -> Rotation | Turn:
    """How a joint of several coordinates is turned."""
    if kind is JointKind.PLANAR:
        _, _, cos, sin = joint.q
        return Turn(cos, sin, multiplications)
    return Rotation.of_quaternion(joint.q[3:])


STILL: Twist = (ZERO, ZERO)


@dataclass(frozen=True)
class Relative:
    """A joint by itself: its body's axes and origin seen from its parent's body.

    ``E``: coordinates in the body → in the parent's body; ``place`` [m]: the body's origin, along
    the parent's axes. ``rates`` (angular; linear) of the body's origin along the body's axes, S q̇;
    ``changes``: S q̈. ``weight``: acceleration of the base less gravity along the body's axes, of a
    joint on the base.
    """

    E: Tensor
    place: Vector
    rates: Twist
    changes: Twist
    weight: Vector


def relative(
    run: Runner, robot: Robot, i: int, state: RobotState, multiplications: int, here: Region
) -> Relative:
    """Joint ``i`` by itself."""
    joint, own, visit = robot.joints[i], told(robot, i, state), by_place("joint", robot, i)
    P, r = joint.placement.rotation, joint.placement.translation.tolist()
    shift, rates, changes = run(visit, here, _moves, joint.kind, own)
    rotation = rotation_of(run, visit, here, robot, i, state, multiplications)
    up = [-float(g) for g in robot.gravity]
    weight = run(weight_of(joint, i), here, _weight, rotation, run.rotation(P), up)
    E, place = run(visit, here, _placed, rotation, P.tolist(), r, shift)
    return Relative(E, place, rates, changes, weight)


def _moves(kind: JointKind, own: Told) -> tuple[Vector, Twist, Twist]:
    """How far a joint slides, S q̇ and S q̈."""
    shift, rates, changes = ZERO, STILL, STILL
    qd, qdd = own.rates()
    match kind:
        case JointKind.REVOLUTE:
            rates, changes = ([0.0, 0.0, *qd], ZERO), ([0.0, 0.0, *qdd], ZERO)
        case JointKind.PRISMATIC:
            shift = [0.0, 0.0, own.position()]
            rates, changes = (ZERO, [0.0, 0.0, *qd]), (ZERO, [0.0, 0.0, *qdd])
        case JointKind.PLANAR:
            shift = [*own.q[:2], 0.0]
            rates, changes = (([0.0, 0.0, v[2]], [*v[:2], 0.0]) for v in (qd, qdd))
        case JointKind.FLOATING:
            shift = own.q[:3]
            rates, changes = ((v[3:], v[:3]) for v in (qd, qdd))
    return shift, rates, changes


def _weight(rotation: Rotation | Turn | None, P: Placement, up: Vector) -> Vector:
    up = P.back(up)
    return up if rotation is None else rotation.back(up)


def _placed(
    rotation: Rotation | Turn | None, P: Tensor, r: Vector, shift: Vector
) -> tuple[Tensor, Vector]:
    """E and the body's origin in its parent's frame."""
    E = P
    if rotation is not None:
        E = transposed([matvec(P, column) for column in transposed(matrix(rotation))])
    return E, add(r, matvec(P, shift))


def matrix(rotation: Rotation | Turn) -> Tensor:
    """The nine entries of a rotation's matrix."""
    if isinstance(rotation, Rotation):
        return rotation.matrix
    c, s = rotation.cos, rotation.sin
    return [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
