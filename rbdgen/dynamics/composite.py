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

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from ..robot.model import JointKind, Robot
from .axes import Axis, FrameChange, carried, factors_of, field_of, power, steps_of, wrench_after
from .bodies import Mass
from .motion import LinkMotion
from .repeated import gathering, meeting, step_of, weighing
from .rnea import summed
from .scalars import Scalar, Vector
from .spatial import (
    ZERO,
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
from .steps import Runner, in_units
from .units import ALIKE, Balance, Units, scaled

Matrix = list[Vector]
Coordinate = tuple[int, int]  # a joint, and which of its coordinates


class Gradient(NamedTuple):
    """Each (nv, nv), a row for each torque; what is zero by structure is the number 0.0."""

    M: Matrix
    dtau_dq: Matrix
    dtau_dqd: Matrix


def no_gradient(n: int) -> Gradient:
    """The gradient of ``n`` coordinates with all entries zero."""
    return Gradient(*([[0.0] * n for _ in range(n)] for _ in range(3)))


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

    def seen_after(self, step: FrameChange) -> Composite:
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


NOTHING = Composite(0.0, ZERO, [ZERO] * 3, ZERO, [ZERO] * 3)


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

    G1: Wrench
    G2: Vector
    F1: Wrench
    F2: Wrench

    def in_units(self, G: float, F1: float, F2: float) -> Column:
        """The column times powers of two, as another visit reads it."""
        G1, G2 = in_units((self.G1, self.G2), G)
        return Column(G1, G2, in_units(self.F1, F1), in_units(self.F2, F2))

    def seen_after(self, step: FrameChange) -> Column:
        G1, F1, F2 = (wrench_after(x, step) for x in (self.G1, self.F1, self.F2))
        G2 = self.G2 if step.rotation is None else step.rotation.forward(self.G2)
        return Column(G1, add(G2, scale(2.0, cross(step.c, G1[0]))), F1, F2)


class Columns:
    """Gathers M, ∂τ/∂q and ∂τ/∂q̇ (along the tangent space of q) on the way back: see ``gather``.

    ``unit`` must be consistent: force = 1 / acceleration. ``balance``: the units of entries, and of
    what they are made of; bodies are weighed in theirs.
    """

    def __init__(
        self,
        run: Runner,
        robot: Robot,
        moved: dict[int, LinkMotion],
        unit: Units,
        balance: Balance = ALIKE,
    ) -> None:
        n = robot.nv
        self.balance = balance
        self.run, self.robot, self.moved, self.unit = run, robot, moved, unit
        self.gradient = no_gradient(n)
        self.carried: dict[int, Composite] = {}  # joint → its body and all that it carries
        # a joint's coordinate, and the joint that its column has come to → as its body has it
        self.met: dict[tuple[Coordinate, int], Column] = {}
        self._passed: dict[int, tuple[Composite, dict[Coordinate, Column]]] = {}

    def add(self, i: int, force: Wrench) -> None:
        """Add joint ``i``'s share, from the force and moment on its subtree; children first."""
        run, robot, moved = self.run, self.robot, self.moved[i]
        joint, visit, here = robot.joints[i], gathering(robot, i), ("backward", i)
        if moved.mass.is_known:
            m, h, S = _own(moved.mass, self.unit)
        else:
            m, h, S = run(weighing(i), here, _own, moved.mass, self.unit)
        units = self.balance
        composites = [
            in_units(self._passed[child][0], units.body(i) / units.body(child))
            for child in robot.children[i]
        ] or [NOTHING]
        whole = run(visit, here, _whole, m, h, S, moved.motion.w, composites)
        self.carried[i] = whole
        below: dict[Coordinate, Column] = {}
        for child in robot.children[i]:
            below |= self._passed[child][1]
        axes, n = factors_of(joint, self.unit), joint.kind.nv
        own = run(visit, here, _own_columns, joint.kind, n, moved, whole)
        for l in range(n):
            found = run(visit, here, _own_entries, joint.kind, l, axes, moved, own)
            for k, entries in enumerate(found):
                self._put(i, (i, l), (i, k), entries)
            for at, column in below.items():
                both = axes[l], factors_of(robot.joints[at[0]], self.unit)[at[1]]
                there = meeting(robot, *at, self._child_on_the_way(i, at[0]), i)
                met = run(there, here, _entries_below, joint.kind, l, *both, moved, column)
                self._put_below(i, (i, l), at, met)
        if joint.parent >= 0:
            columns = below | {
                (i, k): run(visit, here, _turning_own, joint.kind, k, moved, column, force)
                for k, column in enumerate(own)
            }
            r = scaled(joint.placement.translation, self.unit.acceleration)
            parent = self.moved[joint.parent].motion.w
            way = run(step_of("out", robot, i), here, carried, moved, parent, r, self.unit)
            columns = {
                at: column.in_units(*units.onward(at[0], i, joint.parent))
                for at, column in columns.items()
            }
            R = run.rotation(joint.placement.rotation)
            for step in steps_of(moved.rotation, R, r, way):
                whole = run(visit, here, Composite.seen_after, whole, step)
                columns = {
                    at: run(
                        meeting(robot, *at, i, joint.parent),
                        here,
                        Column.seen_after,
                        column,
                        step,
                    )
                    for at, column in columns.items()
                }
            self._passed[i] = whole, columns
            self.met |= {(at, joint.parent): column for at, column in columns.items()}

    def _child_on_the_way(self, i: int, to: int) -> int:
        """The body that body ``i`` carries on the way to ``to``."""
        while self.robot.joints[to].parent != i:
            to = self.robot.joints[to].parent
        return to

    def _put(self, i: int, l: Coordinate, k: Coordinate, entries: Vector) -> None:
        """Entries of two coordinates of joint ``i``, of M if l ≥ k."""
        M, dq, dqd = self.gradient
        unit = self.balance.body(i)
        for matrix, value in zip((dq, dqd), entries, strict=False):
            self._add(i, matrix, l, k, value, unit)
        for value in entries[2:]:
            self._add_both(i, M, l, k, value, unit)

    def _put_below(self, i: int, l: Coordinate, k: Coordinate, entries: Vector) -> None:
        """Entries of a coordinate of joint ``i`` and one of a joint below it."""
        M, dq, dqd = self.gradient
        G, F1, F2 = (of.get((k[0], i), 1.0) for of in self.balance.columns)
        self._add(i, dq, k, l, entries[0], G)
        self._add(i, dqd, k, l, entries[1], G)
        self._add(i, dq, l, k, entries[2], F2)
        self._add(i, dqd, l, k, entries[3], F1)
        self._add_both(i, M, l, k, entries[4], G)

    def _add_both(
        self, i: int, M: Matrix, a: Coordinate, b: Coordinate, value: Scalar, unit: float
    ) -> None:
        """Into a symmetric matrix: twice into the diagonal if two joints share a coordinate."""
        self._add(i, M, a, b, value, unit)
        if a != b:
            self._add(i, M, b, a, value, unit)

    def _add(
        self, i: int, matrix: Matrix, a: Coordinate, b: Coordinate, value: Scalar, unit: float
    ) -> None:
        """Into the entry, in its own unit, a ``value`` in this one."""
        row, column = (self.robot.v_slices[joint].start + n for joint, n in (a, b))
        which = [M is matrix for M in self.gradient].index(True)
        value = in_units(value, self.balance.entries[which].get((row, column), 1.0) / unit)
        before = matrix[row][column]
        matrix[row][column] = summed(self.run, (which, *a, *b), ("backward", i), before, value)


def _whole(m: Scalar, h: Vector, S: Tensor, w: Vector, below: list[Composite]) -> Composite:
    """A body and all that it carries."""
    whole = body_alone(m, h, S, w)
    for composite in below:
        whole = whole.plus(composite)
    return whole


def _own_columns(kind: JointKind, n: int, moved: LinkMotion, whole: Composite) -> list[Column]:
    axes = [field_of(kind, k, moved) for k in range(n)]
    return [column_of(axis, whole) for axis in axes]


def _own_entries(
    kind: JointKind, l: int, factors: Vector, moved: LinkMotion, columns: list[Column]
) -> list[Vector]:
    """∂τ/∂q, ∂τ/∂q̇ and M of coordinate l of a joint and each of it, in SI units."""
    axis = field_of(kind, l, moved)
    return [
        [factors[l] * factors[k] * x for x in islice(among_own(axis, column), 3 if l >= k else 2)]
        for k, column in enumerate(columns)
    ]


def _entries_below(
    kind: JointKind, l: int, factor: Scalar, of_column: Scalar, moved: LinkMotion, column: Column
) -> Vector:
    axis, both = field_of(kind, l, moved), factor * of_column
    return [both * x for x in with_descendant(axis, column)]


def _turning_own(
    kind: JointKind, k: int, moved: LinkMotion, column: Column, force: Wrench
) -> Column:
    return turning(field_of(kind, k, moved).S, column, force)


def among_own(axis: Axis, column: Column) -> Iterator[Scalar]:
    """Entries of two coordinates of one joint: ∂τ/∂q, ∂τ/∂q̇ and M."""
    yield power(axis.S, column.F2)
    yield power(axis.S, column.F1)
    yield power(axis.S, column.G1)


def with_descendant(axis: Axis, column: Column) -> Iterator[Scalar]:
    """Entries of a coordinate of a joint and one of a joint below it, seen from its body:
    ∂τ_k/∂q_l, ∂τ_k/∂q̇_l, ∂τ_l/∂q_k, ∂τ_l/∂q̇_k, M_lk."""
    yield dot(column.G2, axis.first[0]) + power(axis.second, column.G1)
    yield dot(column.G2, axis.S[0]) + power(axis.rate, column.G1)
    yield power(axis.S, column.F2)
    yield power(axis.S, column.F1)
    yield power(axis.S, column.G1)


def _own(mass: Mass, unit: Units) -> tuple[Scalar, Vector, Tensor]:
    """m, h and Σ of a body."""
    A = unit.acceleration
    (m,) = scaled([mass.m], 1 / A**2)
    return m, scaled(mass.h, 1 / A), mass.second_moments()


def body_alone(m: Scalar, h: Vector, S: Tensor, w: Vector) -> Composite:
    """A body that turns with ``w``, seen from its own origin: ẋ = ω × x."""
    L = transposed([cross(w, column) for column in S])  # Σ is symmetric
    return Composite(m, h, symmetric(S), cross(w, h), L)


def column_of(axis: Axis, whole: Composite) -> Column:
    F1 = wrench_sum(whole.momentum_times(axis.S), whole.inertia_times(axis.rate))
    F2 = wrench_sum(whole.momentum_times(axis.first), whole.inertia_times(axis.second))
    return Column(whole.inertia_times(axis.S), whole.momentum_on(axis.S), F1, F2)


def turning(S: Twist, column: Column, force: Wrench) -> Column:
    """The column as its ancestors see it, who do not turn along: F2 + S ×* f."""
    s, sigma = S
    turned = cross(s, force[0]), add(cross(s, force[1]), cross(sigma, force[0]))
    return Column(column.G1, column.G2, column.F1, wrench_sum(column.F2, turned))
