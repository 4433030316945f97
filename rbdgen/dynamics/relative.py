"""A joint by itself: where it puts its body, and how fast, seen from its parent's body."""

from __future__ import annotations

from dataclasses import dataclass

from ..graph.node import Region
from ..robot.model import JointKind, Robot
from .motion import RobotState, Told, rotation_of, told
from .scalars import Vector
from .spatial import ZERO, Placement, Rotation, Tensor, Turn, Twist, add, matvec, transposed
from .steps import Runner
from .templates import by_place, weight_of

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
