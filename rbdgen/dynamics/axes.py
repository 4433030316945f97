"""A joint's axes as fields of velocity that move along, and its changes of frame and observer."""

from __future__ import annotations

from dataclasses import dataclass

from ..robot.model import Joint, JointKind, Robot
from .motion import Motion, Moved, multiplier
from .scalars import Scalar, Vector
from .spatial import (
    ZERO,
    ConstantRotation,
    Rotation,
    Turn,
    TurnX,
    Twist,
    Wrench,
    add,
    cross,
    dot,
    scale,
)
from .units import Units, scaled


@dataclass
class Axis:
    """One coordinate of a joint: S and what becomes of it, in the body's frame."""

    index: int  # in q̇
    factor: float  # of the coordinate given against the one used here: mimic, and unit of length
    S: Twist
    first: Twist  # Ψ̇
    second: Twist  # Ψ̈
    rate: Twist  # Φ


@dataclass
class Step:
    """A change of frame and observer: turn, then add ``r`` to places and ``c`` to velocities."""

    rotation: Rotation | Turn | TurnX | ConstantRotation | None
    r: Vector
    c: Vector


def power(twist: Twist, wrench: Wrench) -> Scalar:
    return dot(twist[0], wrench[1]) + dot(twist[1], wrench[0])


def wrench_after(wrench: Wrench, step: Step) -> Wrench:
    force, moment = wrench
    if step.rotation is not None:
        force, moment = step.rotation.forward(force), step.rotation.forward(moment)
    return force, add(moment, cross(step.r, force))


def axes_of(robot: Robot, i: int, moved: Moved, unit: Units) -> list[Axis]:
    if i not in robot.v_slices:
        return []
    at, kind, m = robot.v_slices[i], robot.joints[i].kind, multiplier(robot.joints[i])
    E = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    A = unit.acceleration
    w, Uz, a = moved.motion.w, [row[2] for row in moved.motion.U()], moved.motion.a
    around, z = [w[1], -w[0], 0.0], E[2]  # ω × z
    if kind is JointKind.REVOLUTE:
        return [turning_axis(at.start, m, w, Uz, a)]
    if kind is JointKind.PRISMATIC:
        # Ψ̇ = (0; ω × z),  Ψ̈ = (0; U z)
        twists = [(ZERO, z), (ZERO, around), (ZERO, Uz), (ZERO, scale(2.0, around))]
        return [Axis(at.start, A * m, *twists)]
    if kind is JointKind.PLANAR:
        return [
            *(_sliding(at.start + k, E[k], moved, A) for k in (0, 1)),
            _turning_about(at.start + 2, z, moved),
        ]
    return [
        *(_sliding(at.start + k, E[k], moved, A) for k in range(3)),
        *(_turning_about(at.start + 3 + k, E[k], moved) for k in range(3)),
    ]


def turning_axis(index: int, factor: float, w: Vector, Uz: Vector, a: Vector) -> Axis:
    """The axis of a revolute joint, from ω, the last column of U, and a."""
    z, around = [0.0, 0.0, 1.0], [w[1], -w[0], 0.0]  # ω × z
    # Ψ̇ = (ω × z; 0),  Ψ̈ = (U z; a × z)
    second = Uz, [a[1], -a[0], 0.0]
    return Axis(index, factor, (z, ZERO), (around, ZERO), second, (scale(2.0, around), ZERO))


def _sliding(index: int, sigma: Vector, moved: Moved, A: float) -> Axis:
    """A sliding axis of a joint of several coordinates; w', α' are of the parent."""
    w, alpha, w_J = moved.above.w, moved.above.alpha, moved.rates[0]
    first = cross(w, sigma)
    second = add(cross(alpha, sigma), cross(w, first))
    rate = add(scale(2.0, first), cross(w_J, sigma))
    return Axis(index, A, (ZERO, sigma), (ZERO, first), (ZERO, second), (ZERO, rate))


def _turning_about(index: int, s: Vector, moved: Moved) -> Axis:
    """A turning axis of a joint of several coordinates; seen from the body, u' = -v_J."""
    w, alpha, a = moved.above.w, moved.above.alpha, moved.above.a
    w_J, v_J = moved.rates
    first = cross(w, s), scale(-1.0, cross(v_J, s))
    # (α' × s + ω' × (ω' × s);  a' × s + 2 u' × (ω' × s))
    second = (
        add(cross(alpha, s), cross(w, first[0])),
        add(cross(a, s), scale(-2.0, cross(v_J, first[0]))),
    )
    # 2 Ψ̇ + ξ × S
    rate = (
        add(scale(2.0, first[0]), cross(w_J, s)),
        add(scale(2.0, first[1]), cross(v_J, s)),
    )
    return Axis(index, 1.0, (s, ZERO), first, second, rate)


def steps_to_parent(joint: Joint, moved: Moved, parent: Motion, unit: Units) -> tuple[Step, ...]:
    """The steps from the body's frame to the joint's, and on to the parent body's."""
    A, placement = unit.acceleration, joint.placement
    r, slide = scaled(placement.translation, A), scale(A, moved.shift)
    w = moved.above.w if moved.rotation is None else moved.rotation.forward(moved.above.w)
    return (
        Step(moved.rotation, slide, add(scale(A, moved.slip), cross(w, slide))),
        Step(ConstantRotation(placement.rotation), r, cross(parent.w, r)),
    )


def twist_before(twist: Twist, steps: tuple[Step, ...]) -> Twist:
    """A twist of the parent's frame, in the body's frame."""
    x, y = twist
    for step in reversed(steps):
        y = add(y, cross(x, step.r))
        if step.rotation is not None:
            x, y = step.rotation.back(x), step.rotation.back(y)
    return x, y
