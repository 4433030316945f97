"""Gradients of inverse dynamics column by column, out and back (Carpentier and Mansard, RSS 2018).

What the peers' hardware computes (Robomorphic, Dadu-RBD), kept beside ``composite`` for
comparison: every vector of the recursive Newton-Euler algorithm is carried with its derivatives
by each coordinate between the base and the body, and twice the multiplications.

    v = X v_λ + S q̇     a = X a_λ + S q̈ + v × S q̇     f = I a + v ×* I v

Regions ("columns", i) on the way out and ("columns_back", i) on the way back: Dadu-RBD's Df and
Db. Spatial vectors, link frames, angular part first; lengths carry the unit A, forces 1/A.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..robot.model import Robot
from .axes import Axis, FrameChange, axes_of, power, steps_to_parent, twist_before, wrench_after
from .composite import Gradient
from .motion import LinkMotion, Motion
from .scalars import Arithmetic, Scalar, Vector
from .spatial import ZERO, Twist, Wrench, add, cross, matvec, scale, sub, wrench_sum
from .units import Units, scaled

STILL: Twist = (ZERO, ZERO)


@dataclass
class BodyDerivatives:
    """One body: its motion and force, and their derivatives by coordinate."""

    axes: list[Axis]
    steps: tuple[FrameChange, ...]  # to the parent
    v: Twist
    a: Twist
    dv_dq: dict[int, Twist] = field(default_factory=dict)
    dv_dqd: dict[int, Twist] = field(default_factory=dict)
    da_dq: dict[int, Twist] = field(default_factory=dict)
    da_dqd: dict[int, Twist] = field(default_factory=dict)
    df_dq: dict[int, Wrench] = field(default_factory=dict)
    df_dqd: dict[int, Wrench] = field(default_factory=dict)


def recursive_gradient(
    arithmetic: Arithmetic,
    robot: Robot,
    moved: dict[int, LinkMotion],
    whole: dict[int, Wrench],
    unit: Units,
    again: str = "",
    given: Mapping[int, tuple[Twist, Twist]] | None = None,
) -> Gradient:
    """∂τ/∂q and ∂τ/∂q̇ along the tangent space of q; no M. ``whole``: on each joint's
    subtree; other arguments as for ``Columns``. ``given``: v and a of each body where they are
    known, of joints with one axis; then no motion is computed here.
    """
    n = robot.nv
    dq, dqd = ([[0.0] * n for _ in range(n)] for _ in range(2))
    bodies: dict[int, BodyDerivatives] = {}
    by_axis: dict[int, Axis] = {}
    key = 0  # columns are counted by joint: two joints may share a coordinate
    for i in range(len(robot.joints)):
        with arithmetic.region(f"columns{again}", i):
            axes = axes_of(robot, i, moved[i], unit)
            own = {key + k: axis for k, axis in enumerate(axes)}
            key += len(axes)
            by_axis |= own
            known = given[i] if given is not None else None
            bodies[i] = _outward(robot, i, moved, unit, own, bodies, known)
    for i in reversed(range(len(robot.joints))):
        body, parent = bodies[i], robot.joints[i].parent
        with arithmetic.region(f"columns_back{again}", i):
            for axis in body.axes:
                for k, wrench in body.df_dq.items():
                    _put(dq, axis, by_axis[k], power(axis.S, wrench))
                for k, wrench in body.df_dqd.items():
                    _put(dqd, axis, by_axis[k], power(axis.S, wrench))
            if parent < 0:
                continue
            for k in (k for k, axis in by_axis.items() if any(axis is a for a in body.axes)):
                turned = _cross_force(by_axis[k].S, whole[i])
                body.df_dq[k] = wrench_sum(body.df_dq[k], turned)
            above = bodies[parent]
            for mine, theirs in ((body.df_dq, above.df_dq), (body.df_dqd, above.df_dqd)):
                for k, wrench in mine.items():
                    passed = _to_parent(wrench, body.steps)
                    theirs[k] = wrench_sum(theirs[k], passed) if k in theirs else passed
    return Gradient([], dq, dqd)


def _outward(
    robot: Robot,
    i: int,
    moved: dict[int, LinkMotion],
    unit: Units,
    own: dict[int, Axis],
    bodies: dict[int, BodyDerivatives],
    given: tuple[Twist, Twist] | None = None,
) -> BodyDerivatives:
    joint, A = robot.joints[i], unit.acceleration
    base = BodyDerivatives([], (), STILL, (ZERO, scaled(robot.gravity, -A)))
    up, still = bodies.get(joint.parent, base), Motion(ZERO, ZERO, ZERO)
    parent = moved[joint.parent].motion if joint.parent >= 0 else still
    steps = steps_to_parent(joint, moved[i], parent, unit)
    rates, changes = moved[i].rates, moved[i].changes
    if given is None:
        Xv, Xa = twist_before(up.v, steps), twist_before(up.a, steps)
        v = wrench_sum(Xv, rates)
        a = wrench_sum(wrench_sum(Xa, changes), _cross_motion(v, rates))
    else:
        v, a = given
        # X v_λ and X a_λ but for S q̇ and S q̈, which vanish in their products with S
        Xv, Xa = v, _less(a, _cross_motion(v, rates))
    body = BodyDerivatives(list(own.values()), steps, v, a)
    for k in up.dv_dqd:
        body.dv_dqd[k] = twist_before(up.dv_dqd[k], steps)
        body.dv_dq[k] = twist_before(up.dv_dq[k], steps)
        body.da_dq[k] = twist_before(up.da_dq[k], steps)
        body.da_dqd[k] = twist_before(up.da_dqd[k], steps)
    for k, axis in own.items():
        body.dv_dqd[k] = axis.S
        body.dv_dq[k] = _cross_motion(Xv, axis.S)
        body.da_dq[k] = _cross_motion(Xa, axis.S)
        body.da_dqd[k] = _cross_motion(v, axis.S)
    for k in body.dv_dqd:
        # ∂(v × S q̇) = -S q̇ × ∂v
        body.da_dq[k] = _less(body.da_dq[k], _cross_motion(rates, body.dv_dq[k]))
        body.da_dqd[k] = _less(body.da_dqd[k], _cross_motion(rates, body.dv_dqd[k]))
    mass = moved[i].mass
    (m,), h, J = scaled([mass.m], 1 / A**2), scaled(mass.h, 1 / A), mass.J

    def times(twist: Twist) -> Wrench:
        x, y = twist
        return add(scale(m, y), cross(x, h)), add(matvec(J, x), cross(h, y))

    momentum = times(v)
    for k in body.dv_dqd:
        # ∂f = I ∂a + v ×* I ∂v + ∂v ×* I v
        for dv, da, df in (
            (body.dv_dq[k], body.da_dq[k], body.df_dq),
            (body.dv_dqd[k], body.da_dqd[k], body.df_dqd),
        ):
            turned = wrench_sum(_cross_force(v, times(dv)), _cross_force(dv, momentum))
            df[k] = wrench_sum(times(da), turned)
    return body


def motions(
    robot: Robot, moved: dict[int, LinkMotion], unit: Units, arithmetic: Arithmetic
) -> dict[int, tuple[Twist, Twist]]:
    """v and a of each body, the acceleration less gravity."""
    bodies: dict[int, BodyDerivatives] = {}
    for i in range(len(robot.joints)):
        with arithmetic.region("forward", i):
            bodies[i] = _outward(robot, i, moved, unit, {}, bodies)
    return {i: (body.v, body.a) for i, body in bodies.items()}


def _to_parent(wrench: Wrench, steps: tuple[FrameChange, ...]) -> Wrench:
    for step in steps:
        wrench = wrench_after(wrench, step)
    return wrench


def _cross_motion(a: Twist, b: Twist) -> Twist:
    """a × b."""
    return cross(a[0], b[0]), add(cross(a[0], b[1]), cross(a[1], b[0]))


def _cross_force(a: Twist, f: Wrench) -> Wrench:
    """a ×* f."""
    return cross(a[0], f[0]), add(cross(a[0], f[1]), cross(a[1], f[0]))


def _less(a: tuple[Vector, Vector], b: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
    return sub(a[0], b[0]), sub(a[1], b[1])


def _put(matrix: list[Vector], row: Axis, column: Axis, value: Scalar) -> None:
    """Add to an entry, in SI units."""
    matrix[row.index][column.index] += (row.factor * column.factor) * value
