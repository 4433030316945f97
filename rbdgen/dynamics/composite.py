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

with Φ = 2Ψ̇ + ξ × S, ξ the joint's own velocity (ξ × S is zero but for joints of several
coordinates). Carried to the frame of an ancestor with axis S_l they give

    ∂τ_k/∂q_l = G2·Ψ̇_l + G1·Ψ̈_l     ∂τ_k/∂q̇_l = G2·S_l + G1·Φ_l     M_kl = S_l·G1
    ∂τ_l/∂q_k = S_l·(F2 + S_k ×* f)  ∂τ_l/∂q̇_k = S_l·F1

Lengths carry the unit A, forces 1/A: moments and powers are as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..robot.model import Joint, Robot
from .axes import Axis, Step, axes_of, power, steps_to_parent, wrench_after
from .motion import Motion, Moved
from .scalars import Scalar, Vector
from .spatial import (
    Tensor,
    Twist,
    Wrench,
    add,
    cross,
    dot,
    is_zero,
    matvec,
    outer,
    scale,
    symmetric,
    tensor_sum,
    transposed,
    wrench_sum,
)
from .units import Units, scaled


class Gradient(NamedTuple):
    """Each (nv, nv), a row for each torque; what is zero by structure is the number 0.0."""

    M: list[Vector]
    dtau_dq: list[Vector]
    dtau_dqd: list[Vector]


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
            symmetric(tensor_sum(self.S, other.S)),
            add(self.p, other.p),
            tensor_sum(self.L, other.L),
        )

    def seen_after(self, step: Step) -> Composite:
        m, h, S, p, L = self.m, self.h, self.S, self.p, self.L
        if (R := step.rotation) is not None:
            h, S, p, L = R.forward(h), R.tensor(S), R.forward(p), R.tensor(L)
        r, c = step.r, step.c
        if not is_zero(r):
            # Σ + h rᵀ + r hᵀ + m r rᵀ
            half = outer(add(h, scale(0.5 * m, r)), r)
            S = symmetric(tensor_sum(S, tensor_sum(half, transposed(half))))
            # L + p rᵀ
            L = tensor_sum(L, outer(p, r))
            h = add(h, scale(m, r))
        # … + c hᵀ, with the new h
        L = tensor_sum(L, outer(c, h))
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
class Column:
    """The column of one coordinate: what it does to its subtree, on its way to the base."""

    axis: Axis
    G1: Wrench
    G2: Vector
    F1: Wrench
    F2: Wrench

    def seen_after(self, step: Step) -> Column:
        G1, F1, F2 = (wrench_after(x, step) for x in (self.G1, self.F1, self.F2))
        G2 = self.G2 if step.rotation is None else step.rotation.forward(self.G2)
        return Column(self.axis, G1, add(G2, scale(2.0, cross(step.c, G1[0]))), F1, F2)


class Columns:
    """Gathers M, ∂τ/∂q and ∂τ/∂q̇ (along the tangent space of q) on the way back: see ``gather``.

    ``unit`` must be consistent: force = 1 / acceleration.
    """

    def __init__(self, robot: Robot, moved: dict[int, Moved], unit: Units) -> None:
        n = robot.nv
        self.robot, self.moved, self.unit = robot, moved, unit
        self.gradient = Gradient(*([[0.0] * n for _ in range(n)] for _ in range(3)))
        self._passed: dict[int, tuple[Composite, list[Column]]] = {}

    def add(self, i: int, force: Wrench) -> None:
        """Add joint ``i``'s share, from the force and moment on its subtree; children first."""
        robot, moved, unit = self.robot, self.moved[i], self.unit
        joint = robot.joints[i]
        whole = _own(joint, moved.motion, unit)
        below: list[Column] = []
        for child in robot.children[i]:
            whole = whole.plus(self._passed[child][0])
            below += self._passed[child][1]
        axes = axes_of(robot, i, moved, unit)
        own = [column_of(axis, whole) for axis in axes]
        for axis in axes:
            for column in own:
                put_among_own(self.gradient, axis, column)
            for column in below:
                put_with_descendant(self.gradient, axis, column)
        if joint.parent >= 0:
            columns = below + [turning(column, force) for column in own]
            for step in steps_to_parent(joint, moved, self.moved[joint.parent].motion, unit):
                whole = whole.seen_after(step)
                columns = [column.seen_after(step) for column in columns]
            self._passed[i] = whole, columns


def put_among_own(gradient: Gradient, axis: Axis, column: Column) -> None:
    """Entries of two coordinates of one joint."""
    M, dq, dqd = gradient
    put(dq, axis, column.axis, power(axis.S, column.F2))
    put(dqd, axis, column.axis, power(axis.S, column.F1))
    if axis.index >= column.axis.index:
        _put_both(M, axis, column.axis, power(axis.S, column.G1))


def put_with_descendant(gradient: Gradient, axis: Axis, column: Column) -> None:
    """Entries of a coordinate of a joint and one of a joint below it, seen from its body."""
    (M, dq, dqd), k = gradient, column.axis
    put(dq, k, axis, dot(column.G2, axis.first[0]) + power(axis.second, column.G1))
    put(dqd, k, axis, dot(column.G2, axis.S[0]) + power(axis.rate, column.G1))
    put(dq, axis, k, power(axis.S, column.F2))
    put(dqd, axis, k, power(axis.S, column.F1))
    _put_both(M, axis, k, power(axis.S, column.G1))


def _own(joint: Joint, motion: Motion, unit: Units) -> Composite:
    """A body alone."""
    A, inertia = unit.acceleration, joint.inertia
    J = inertia.J
    (m,) = scaled([inertia.mass], 1 / A**2)
    # Σ = ½ tr(J) 1 - J
    S = (np.eye(3) * J.trace() / 2 - J).tolist()
    return body_alone(m, scaled(inertia.h, 1 / A), S, motion.w)


def body_alone(m: Scalar, h: Vector, S: Tensor, w: Vector) -> Composite:
    """A body that turns with ``w``, seen from its own origin: ẋ = ω × x."""
    L = transposed([cross(w, column) for column in S])  # Σ is symmetric
    return Composite(m, h, symmetric(S), cross(w, h), L)


def column_of(axis: Axis, whole: Composite) -> Column:
    F1 = wrench_sum(whole.momentum_times(axis.S), whole.inertia_times(axis.rate))
    F2 = wrench_sum(whole.momentum_times(axis.first), whole.inertia_times(axis.second))
    return Column(axis, whole.inertia_times(axis.S), whole.momentum_on(axis.S), F1, F2)


def turning(column: Column, force: Wrench) -> Column:
    """The column as its ancestors see it, who do not turn along: F2 + S ×* f."""
    s, sigma = column.axis.S
    turned = cross(s, force[0]), add(cross(s, force[1]), cross(sigma, force[0]))
    return Column(column.axis, column.G1, column.G2, column.F1, wrench_sum(column.F2, turned))


def put(matrix: list[Vector], row: Axis, column: Axis, value: Scalar) -> None:
    """Add to an entry, in SI units."""
    matrix[row.index][column.index] += (row.factor * column.factor) * value


def _put_both(matrix: list[Vector], a: Axis, b: Axis, value: Scalar) -> None:
    """Into a symmetric matrix: twice into the diagonal if two joints share a coordinate."""
    put(matrix, a, b, value)
    if a is not b:
        put(matrix, b, a, value)
