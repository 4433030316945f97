"""A joint's axes as fields of velocity that move along, and its changes of frame and observer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..robot.model import Joint, JointKind, Robot
from .motion import LinkMotion, Motion, multiplier
from .scalars import Scalar, Vector
from .spatial import (
    ZERO,
    ConstantRotation,
    Placement,
    Rotation,
    Turn,
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
class FrameChange:
    """A change of frame and observer: turn, then add ``r`` to places and ``c`` to velocities."""

    rotation: Turn | Placement | None
    r: Vector
    c: Vector


def power(twist: Twist, wrench: Wrench) -> Scalar:
    return dot(twist[0], wrench[1]) + dot(twist[1], wrench[0])


def wrench_after(wrench: Wrench, step: FrameChange) -> Wrench:
    force, moment = wrench
    if step.rotation is not None:
        force, moment = step.rotation.forward(force), step.rotation.forward(moment)
    return force, add(moment, cross(step.r, force))


@dataclass(frozen=True)
class Carried:
    """Where a body's origin is in its joint's frame, in units, and how it moves there; and how the
    joint's origin moves in the parent's."""

    shift: Vector
    slip: Vector
    c: Vector


def axes_of(robot: Robot, i: int, moved: LinkMotion, unit: Units) -> list[Axis]:
    """The axes of joint ``i``, at their places in q̇."""
    if i not in robot.v_slices:
        return []
    at, joint = robot.v_slices[i].start, robot.joints[i]
    return [
        replace(field_of(joint.kind, n, moved), index=at + n, factor=factor)
        for n, factor in enumerate(factors_of(joint, unit))
    ]


def factors_of(joint: Joint, unit: Units) -> list[float]:
    """The factor of the axis of each of a joint's coordinates."""
    A, m = unit.acceleration, multiplier(joint)
    match joint.kind:
        case JointKind.REVOLUTE:
            return [m]
        case JointKind.PRISMATIC:
            return [A * m]
        case JointKind.PLANAR:
            return [A, A, 1.0]
        case JointKind.FLOATING:
            return [A] * 3 + [1.0] * 3
        case JointKind.FIXED:
            return []


def field_of(kind: JointKind, n: int, moved: LinkMotion) -> Axis:
    """The axis of a joint's coordinate ``n``, whose place in q̇ and factor are not said."""
    E = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    w, z = moved.motion.w, E[2]
    if kind is JointKind.REVOLUTE:
        return _turning_axis(w, moved.Uz, moved.motion.a)
    if kind is JointKind.PRISMATIC:
        # Ψ̇ = (0; ω × z),  Ψ̈ = (0; U z)
        around = [w[1], -w[0], 0.0]  # ω × z
        return Axis(n, 1.0, (ZERO, z), (ZERO, around), (ZERO, moved.Uz), (ZERO, scale(2.0, around)))
    sliding = 2 if kind is JointKind.PLANAR else 3
    if n < sliding:
        return _sliding(n, E[n], moved)
    return _turning_about(n, z if kind is JointKind.PLANAR else E[n - sliding], moved)


def _turning_axis(w: Vector, Uz: Vector, a: Vector) -> Axis:
    """The axis of a revolute joint, from ω, the last column of U, and a."""
    z, around = [0.0, 0.0, 1.0], [w[1], -w[0], 0.0]  # ω × z
    # Ψ̇ = (ω × z; 0),  Ψ̈ = (U z; a × z)
    second = Uz, [a[1], -a[0], 0.0]
    return Axis(0, 1.0, (z, ZERO), (around, ZERO), second, (scale(2.0, around), ZERO))


def _sliding(n: int, sigma: Vector, moved: LinkMotion) -> Axis:
    """A sliding axis of a joint of several coordinates; w', α' are of the parent."""
    w, alpha, w_J = moved.above.w, moved.above.alpha, moved.rates[0]
    first = cross(w, sigma)
    second = add(cross(alpha, sigma), cross(w, first))
    rate = add(scale(2.0, first), cross(w_J, sigma))
    return Axis(n, 1.0, (ZERO, sigma), (ZERO, first), (ZERO, second), (ZERO, rate))


def _turning_about(n: int, s: Vector, moved: LinkMotion) -> Axis:
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
    return Axis(n, 1.0, (s, ZERO), first, second, rate)


def carried(moved: LinkMotion, parent: Vector, r: Vector, unit: Units) -> Carried:
    """``parent``: ω of the parent's body; ``r``: where the joint is there, in units."""
    A = unit.acceleration
    slide = scale(A, moved.shift)
    w = moved.above.w if moved.rotation is None else moved.rotation.forward(moved.above.w)
    slip = add(scale(A, moved.slip), cross(w, slide))
    return Carried(slide, slip, cross(parent, r))


def steps_of(
    rotation: Rotation | Turn | None, placement: Placement, r: Vector, way: Carried
) -> tuple[FrameChange, FrameChange]:
    """The steps from the body's frame to the joint's, and on to the parent body's."""
    return FrameChange(rotation, way.shift, way.slip), FrameChange(placement, r, way.c)


def steps_to_parent(
    joint: Joint, moved: LinkMotion, parent: Motion, unit: Units
) -> tuple[FrameChange, ...]:
    """The steps from the body's frame to the joint's, and on to the parent body's."""
    r = scaled(joint.placement.translation, unit.acceleration)
    way = carried(moved, parent.w, r, unit)
    return steps_of(moved.rotation, ConstantRotation(joint.placement.rotation), r, way)


def twist_before(twist: Twist, steps: tuple[FrameChange, ...]) -> Twist:
    """A twist of the parent's frame, in the body's frame."""
    x, y = twist
    for step in reversed(steps):
        y = add(y, cross(x, step.r))
        if step.rotation is not None:
            x, y = step.rotation.back(x), step.rotation.back(y)
    return x, y
