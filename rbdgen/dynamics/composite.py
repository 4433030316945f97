"""Gradients of inverse dynamics, and the mass matrix, from composite inertias and momenta.

Singh, Russell and Wensing ("Efficient analytical derivatives of rigid-body dynamics using spatial
vector algebra", RA-L 2022) found that what depends on a joint's whole subtree is in a few numbers
of it. Here their form is put into link frames, with point masses at x and velocity ẋ in place of
6×6 matrices:

    m, h = ∫x dm, Σ = ∫x xᵀ dm        inertia
    p = ∫ẋ dm,  L = ∫ẋ xᵀ dm          momentum, K = tr(L) 1 - L

and each is seen by an observer who moves with the origin of the frame (see ``motion``), who sees
ẋ = ω × x on the body itself. An observer at another place adds r to x and c to ẋ.

A joint's axis is a field of velocities S = (s; σ), angular and linear, that moves along with the
joint's parent; so do its derivatives in time Ψ̇ and Ψ̈. One unit of each joint coordinate makes

    G1 = I S           wrench on the subtree for one unit of q̈
    F1 = 2B S + I Φ    for q̇       2B (x; y) = (2 x × p; 2 K x) as (force; moment)
    F2 = 2B Ψ̇ + I Ψ̈    for q, in axes that turn with the subtree
    G2 = (2B)ᵀ S       its moments about an ancestor's Ψ̇ and s

with Φ = 2Ψ̇ + ξ × S, ξ the joint's own velocity (zero but for joints of several coordinates). Carried
to the frame of an ancestor with axis S_l they give

    ∂τ_k/∂q_l = G2·Ψ̇_l + G1·Ψ̈_l     ∂τ_k/∂q̇_l = G2·S_l + G1·Φ_l     M_kl = S_l·G1
    ∂τ_l/∂q_k = S_l·(F2 + S_k ×* f)  ∂τ_l/∂q̇_k = S_l·F1

Lengths carry the unit A, forces 1/A: moments and powers are as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..robot.model import Joint, JointKind, Robot
from .motion import Motion, Moved, multiplier
from .scalars import Arithmetic, Scalar, Vector
from .spatial import (
    ZERO,
    ConstantRotation,
    Rotation,
    Tensor,
    Turn,
    Wrench,
    add,
    cross,
    dot,
    is_zero,
    matvec,
    outer,
    scale,
    symmetric,
    transposed,
)
from .units import Units, scaled

NOTHING: Tensor = [ZERO, ZERO, ZERO]
Twist = tuple[Vector, Vector]  # angular, linear


class Gradient(NamedTuple):
    """Each (nv, nv), a row for each torque; what is zero by structure is the number 0.0."""

    M: list[Vector]
    dtau_dq: list[Vector]
    dtau_dqd: list[Vector]


@dataclass
class Step:
    """A change of frame and observer: turn, then add ``r`` to places and ``c`` to velocities."""

    rotation: Rotation | Turn | ConstantRotation | None
    r: Vector
    c: Vector


@dataclass
class Composite:
    """Inertia and momentum of a subtree, in some frame (module docstring)."""

    m: Scalar
    h: Vector
    S: Tensor
    p: Vector
    L: Tensor

    def plus(self, other: Composite) -> Composite:
        return Composite(
            self.m + other.m,
            add(self.h, other.h),
            symmetric([add(a, b) for a, b in zip(self.S, other.S, strict=True)]),
            add(self.p, other.p),
            [add(a, b) for a, b in zip(self.L, other.L, strict=True)],
        )

    def seen_after(self, step: Step) -> Composite:
        m, h, S, p, L = self.m, self.h, self.S, self.p, self.L
        if (R := step.rotation) is not None:
            h, S, p, L = R.forward(h), R.tensor(S), R.forward(p), R.tensor(L)
        r, c = step.r, step.c
        if not is_zero(r):
            # Σ + h rᵀ + r hᵀ + m r rᵀ
            half = [add(a, scale(0.5 * m, b)) for a, b in zip(outer(h, r), outer(r, r), strict=True)]
            both = [add(a, b) for a, b in zip(half, transposed(half), strict=True)]
            S = symmetric([add(a, b) for a, b in zip(S, both, strict=True)])
            # L + p rᵀ
            L = [add(a, b) for a, b in zip(L, outer(p, r), strict=True)]
            h = add(h, scale(m, r))
        # … + c hᵀ, with the new h
        L = [add(a, b) for a, b in zip(L, outer(c, h), strict=True)]
        return Composite(m, h, S, add(p, scale(m, c)), L)

    def inertia_times(self, twist: Twist) -> Wrench:
        """I (x; y): force m y + x × h, moment J x + h × y."""
        x, y = twist
        force = add(scale(self.m, y), cross(x, self.h))
        return force, add(_complement(self.S, x), cross(self.h, y))

    def momentum_times(self, twist: Twist) -> Wrench:
        """2B (x; y): force 2 x × p, moment 2 K x."""
        x, _ = twist
        return scale(2.0, cross(x, self.p)), scale(2.0, _complement(self.L, x))

    def momentum_on(self, twist: Twist) -> Vector:
        """(2B)ᵀ (s; σ): 2 Kᵀ s + 2 p × σ, which meets angular velocities only."""
        s, sigma = twist
        return scale(2.0, add(_complement(transposed(self.L), s), cross(self.p, sigma)))


def _complement(T: Tensor, x: Vector) -> Vector:
    """(tr(T) 1 - T) x."""
    xx, yy, zz = T[0][0], T[1][1], T[2][2]
    rows = [
        [yy + zz, -T[0][1], -T[0][2]],
        [-T[1][0], xx + zz, -T[1][2]],
        [-T[2][0], -T[2][1], xx + yy],
    ]
    return matvec(rows, x)


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
class Column:
    """What one coordinate does to its subtree, on its way to the base."""

    axis: Axis
    G1: Wrench
    G2: Vector
    F1: Wrench
    F2: Wrench

    def seen_after(self, step: Step) -> Column:
        G1, F1, F2 = (_wrench_after(x, step) for x in (self.G1, self.F1, self.F2))
        G2 = self.G2 if step.rotation is None else step.rotation.forward(self.G2)
        return Column(self.axis, G1, add(G2, scale(2.0, cross(step.c, G1[0]))), F1, F2)


def _wrench_after(wrench: Wrench, step: Step) -> Wrench:
    force, moment = wrench
    if step.rotation is not None:
        force, moment = step.rotation.forward(force), step.rotation.forward(moment)
    return force, add(moment, cross(step.r, force))


def gradient(
    arithmetic: Arithmetic,
    robot: Robot,
    moved: dict[int, Moved],
    forces: dict[int, Wrench],
    unit: Units,
    region: str = "backward",
) -> Gradient:
    """M, ∂τ/∂q and ∂τ/∂q̇, all along the tangent space of q.

    ``forces``: force and moment on each joint's subtree. ``unit`` must be consistent: force = 1 /
    acceleration. Joint i's share is traced in the region (``region``, i).
    """
    n = robot.nv
    M, dq, dqd = ([[0.0] * n for _ in range(n)] for _ in range(3))
    axes: dict[int, list[Axis]] = {}
    passed: dict[int, tuple[Composite, list[Column]]] = {}
    for i in reversed(range(len(robot.joints))):
        joint = robot.joints[i]
        with arithmetic.region(region, i):
            whole = _own(joint, moved[i].motion, unit)
            below: list[Column] = []
            for child in robot.children[i]:
                whole = whole.plus(passed[child][0])
                below += passed[child][1]
            axes[i] = _axes(robot, i, moved[i], unit)
            own = [_column(axis, whole) for axis in axes[i]]
            for a in axes[i]:
                for column in own:  # of this very joint
                    _put(dq, a, column.axis, _power(a.S, column.F2))
                    _put(dqd, a, column.axis, _power(a.S, column.F1))
                    if a.index >= column.axis.index:
                        _put_both(M, a, column.axis, _power(a.S, column.G1))
                for column in below:
                    k = column.axis
                    _put(dq, k, a, dot(column.G2, a.first[0]) + _power(a.second, column.G1))
                    _put(dqd, k, a, dot(column.G2, a.S[0]) + _power(a.rate, column.G1))
                    _put(dq, a, k, _power(a.S, column.F2))
                    _put(dqd, a, k, _power(a.S, column.F1))
                    _put_both(M, a, k, _power(a.S, column.G1))
            if joint.parent >= 0:
                steps = _to_parent(joint, moved[i], moved[joint.parent].motion, unit)
                columns = below + [_turning(column, forces[i]) for column in own]
                for step in steps:
                    whole = whole.seen_after(step)
                    columns = [column.seen_after(step) for column in columns]
                passed[i] = whole, columns
    return Gradient(M, dq, dqd)


def _own(joint: Joint, motion: Motion, unit: Units) -> Composite:
    """A body alone, seen from its own origin: ẋ = ω × x."""
    A, inertia = unit.acceleration, joint.inertia
    J = inertia.J
    (m,) = scaled([inertia.mass], 1 / A**2)
    h = scaled(inertia.h, 1 / A)
    # Σ = ½ tr(J) 1 - J
    S = [[(float(J.trace()) / 2 if i == j else 0.0) - float(J[i, j]) for j in range(3)] for i in range(3)]
    L = transposed([cross(motion.w, column) for column in S])  # Σ is symmetric
    return Composite(m, h, symmetric(S), cross(motion.w, h), L)


def _column(axis: Axis, whole: Composite) -> Column:
    F1 = _sum(whole.momentum_times(axis.S), whole.inertia_times(axis.rate))
    F2 = _sum(whole.momentum_times(axis.first), whole.inertia_times(axis.second))
    return Column(axis, whole.inertia_times(axis.S), whole.momentum_on(axis.S), F1, F2)


def _turning(column: Column, force: Wrench) -> Column:
    """The column as its ancestors see it, who do not turn along: F2 + S ×* f."""
    s, sigma = column.axis.S
    turned = cross(s, force[0]), add(cross(s, force[1]), cross(sigma, force[0]))
    return Column(column.axis, column.G1, column.G2, column.F1, _sum(column.F2, turned))


def _sum(a: Wrench, b: Wrench) -> Wrench:
    return add(a[0], b[0]), add(a[1], b[1])


def _power(twist: Twist, wrench: Wrench) -> Scalar:
    return dot(twist[0], wrench[1]) + dot(twist[1], wrench[0])


def _put(matrix: list[Vector], row: Axis, column: Axis, value: Scalar) -> None:
    matrix[row.index][column.index] += (row.factor * column.factor) * value


def _put_both(matrix: list[Vector], a: Axis, b: Axis, value: Scalar) -> None:
    """Into a symmetric matrix: twice into the diagonal if two joints share a coordinate."""
    _put(matrix, a, b, value)
    if a is not b:
        _put(matrix, b, a, value)


def _axes(robot: Robot, i: int, moved: Moved, unit: Units) -> list[Axis]:
    if i not in robot.v_slices:
        return []
    at, kind, m = robot.v_slices[i], robot.joints[i].kind, multiplier(robot.joints[i])
    E = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    A = unit.acceleration
    w, Uz, a = moved.motion.w, [row[2] for row in moved.motion.U()], moved.motion.a
    around, z = [w[1], -w[0], 0.0], E[2]  # ω × z
    if kind is JointKind.REVOLUTE:
        # Ψ̇ = (ω × z; 0),  Ψ̈ = (U z; a × z)
        second = Uz, [a[1], -a[0], 0.0]
        twists = [(z, ZERO), (around, ZERO), second, (scale(2.0, around), ZERO)]
        return [Axis(at.start, m, *twists)]
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


def _sliding(index: int, sigma: Vector, moved: Moved, A: float) -> Axis:
    """Of a joint of several coordinates; w', α' are of the parent."""
    w, alpha, w_J = moved.above.w, moved.above.alpha, moved.rates[0]
    first = cross(w, sigma)
    second = add(cross(alpha, sigma), cross(w, first))
    rate = add(scale(2.0, first), cross(w_J, sigma))
    return Axis(index, A, (ZERO, sigma), (ZERO, first), (ZERO, second), (ZERO, rate))


def _turning_about(index: int, s: Vector, moved: Moved) -> Axis:
    """Of a joint of several coordinates. The parent moves at u' = -v_J, seen from the body."""
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


def _to_parent(joint: Joint, moved: Moved, parent: Motion, unit: Units) -> Sequence[Step]:
    """From the body's frame to the joint's, and on to the parent body's."""
    A, placement = unit.acceleration, joint.placement
    r, slide = scaled(placement.translation, A), scale(A, moved.shift)
    w = moved.above.w if moved.rotation is None else moved.rotation.forward(moved.above.w)
    return (
        Step(moved.rotation, slide, add(scale(A, moved.slip), cross(w, slide))),
        Step(ConstantRotation(placement.rotation), r, cross(parent.w, r)),
    )
