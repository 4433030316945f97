"""Lathrop's two formulations of inverse dynamics, as the paper has them, to compare with.

Lathrop, "Parallelism in manipulator dynamics", IJRR 4(2), 1985: Table 2 (Luh, Walker and Paul's
recursion, "linear") in the order of Table 4, and Table 5 ("logarithmic"), of a chain of revolute
and prismatic joints. Frame i lies on link i at the next joint's origin, its z along that joint's
axis; A: frame i → frame i-1, p* from frame i-1's origin to its own, r* from there to the centre of
mass, s* = p* + r*, all along its axes.

Where Table 5 prints 2 S + Q, the Coriolis terms it is derived from give 2 (S + Q), which is here.

Both are written in vector operations, for any interpreter of them: `Scalars` computes or traces
their scalars, `rbdgen.reproduce.timetable` keeps the time of each.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..robot.model import JointKind, Robot, RobotError, Transform
from . import spatial
from .motion import State, joint_position, joint_rates, joint_turn
from .networks import scan
from .scalars import Arithmetic, Scalar, Vector
from .spatial import ZERO, Tensor, add, matvec, transposed

ONE: Tensor = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
INWARD = {"f", "n", "τ"}  # what of Table 2 is computed from the tip to the base

Value = Any  # an interpreter's scalar, vector (3,) or matrix (3, 3)


class Operations(Protocol):
    """What the two are written in."""

    still: Value  # the vector of zeros

    def about(self, variable: str, link: int) -> AbstractContextManager[None]:
        """What is computed in it: which variable of the paper, and of which link."""

    def mv(self, A: Value, x: Value) -> Value:
        """Matrix times vector."""

    def mm(self, A: Value, B: Value) -> Value:
        """Matrix times matrix."""

    def vc(self, a: Value, b: Value) -> Value:
        """Cross product."""

    def va(self, a: Value, b: Value) -> Value:
        """Sum of vectors."""

    def sv(self, s: Value, x: Value) -> Value:
        """Scalar times vector."""

    def dot(self, a: Value, b: Value) -> Value:
        """Dot product."""

    def transposed(self, A: Value) -> Value:
        """Aᵀ, which costs nothing."""

    def row(self, A: Value, k: int) -> Value:
        """Aᵀ e_k, which costs nothing."""

    def along_z(self, s: Value) -> Value:
        """The vector (0, 0, s)."""


@dataclass(frozen=True)
class Scalars:
    """On three scalars a vector: numbers, or graph nodes in regions ("forward" | "backward", i)."""

    arithmetic: Arithmetic
    still = ZERO
    mv = staticmethod(matvec)
    mm = staticmethod(spatial.product)
    vc = staticmethod(spatial.cross)
    va = staticmethod(add)
    sv = staticmethod(spatial.scale)
    dot = staticmethod(spatial.dot)
    transposed = staticmethod(transposed)

    def about(self, variable: str, link: int) -> AbstractContextManager[None]:
        way = "backward" if variable in INWARD else "forward"
        found: AbstractContextManager[None] = self.arithmetic.region(way, link)
        return found

    def row(self, A: Tensor, k: int) -> Vector:
        return A[k]

    def along_z(self, s: Scalar) -> Vector:
        return [0.0, 0.0, s]


@dataclass(frozen=True)
class Link:
    """A joint and its link: it ``turns`` or slides by ``rate`` q̇ and ``change`` q̈; J (3, 3) about
    the centre of mass, kg m²."""

    A: Value
    p: Value
    r: Value
    s: Value  # a constant where the joint turns
    mass: Value
    J: Value
    rate: Value
    change: Value
    turns: bool = True


def links_of(
    arithmetic: Arithmetic, robot: Robot, state: State, multiplications: int = 4
) -> tuple[list[Link], Vector]:
    """The links of a chain whose axes are along z, and the base's acceleration, -g, along the axes
    of frame 0."""
    for i, joint in enumerate(robot.joints):
        if joint.parent != i - 1:
            raise RobotError(
                f"{robot.name}: formulation: Lathrop's are of chains, and {joint.name} branches "
                "off; use logarithmic"
            )
        if joint.kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC):
            raise RobotError(
                f"{robot.name}: formulation: Lathrop's have revolute and prismatic joints, and "
                f"{joint.name} is {joint.kind.value}; use logarithmic"
            )
    found = []
    for i, joint in enumerate(robot.joints):
        after = robot.joints[i + 1].placement if i + 1 < len(robot.joints) else Transform()
        P, at = after.rotation, after.translation
        inertia, turns = joint.inertia, joint.kind is JointKind.REVOLUTE
        c = inertia.h / inertia.mass if inertia.mass else np.zeros(3)
        about_c = inertia.J - inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))
        ((rate,), (change,)) = joint_rates(robot, i, state)
        with arithmetic.region("forward", i):
            way: Vector = at.tolist()  # along the axes of the body, which are frame i-1's, turned
            A: Tensor = P.tolist()
            if turns:
                turn = joint_turn(arithmetic, robot, i, state, multiplications)
                A = transposed([turn.forward(column) for column in P.T.tolist()])
            else:
                way = add(way, [0.0, 0.0, joint_position(robot, i, state)])
            p, r = matvec(P.T.tolist(), way), (P.T @ (c - at)).tolist()
            J = (P.T @ about_c @ P).tolist()
            found.append(Link(A, p, r, add(p, r), inertia.mass, J, rate, change, turns))
    first = robot.joints[0].placement.rotation
    return found, (-first.T @ robot.gravity).tolist()


class Linear(NamedTuple):
    """Efforts τ (n,), and n of the first link, whose dot product with the axis the first τ is."""

    tau: list[Value]
    first_moment: Value


def linear(ops: Operations, links: list[Link], a: Value) -> Linear:
    """Table 2, on a base at rest; ``a`` (3,): the base's acceleration, -g, along frame 0."""
    w = alpha = ops.still
    own = []
    for i, link in enumerate(links):
        w, alpha, a = _outward(ops, i, link, w, alpha, a)
        own.append(_of_body(ops, i, link, w, alpha, a))
    tau: list[Value] = [None] * len(links)
    f = n = ops.still
    for i, link in reversed(list(enumerate(links))):
        F, N = own[i]
        with ops.about("n", i):
            moment = ops.va(ops.vc(link.s, F), N)
        if i + 1 == len(links):
            f, n = F, moment
        else:
            # f = F + A' f',   n = A' n' + N + s* × F + p* × A' f'
            A_next = links[i + 1].A
            with ops.about("f", i):
                carried = ops.mv(A_next, f)
            with ops.about("n", i):
                n = ops.va(ops.mv(A_next, n), ops.va(ops.vc(link.p, carried), moment))
            with ops.about("f", i):
                f = ops.va(carried, F)
        with ops.about("τ", i):
            tau[i] = ops.dot(ops.row(link.A, 2), n if link.turns else f)  # Aᵀ z
    return Linear(tau, n)


def _outward(
    ops: Operations, i: int, link: Link, w: Value, alpha: Value, a: Value
) -> tuple[Value, Value, Value]:
    """ω, ω̇ and p̈ of frame i from those of frame i-1."""
    back, rate, change = ops.transposed(link.A), ops.along_z(link.rate), ops.along_z(link.change)
    with ops.about("ω̇", i):
        turned = ops.va(ops.va(ops.vc(w, rate), change), alpha) if link.turns else alpha
        alpha = ops.mv(back, turned)
    with ops.about("ω", i):
        w = ops.mv(back, ops.va(w, rate) if link.turns else w)
    with ops.about("p̈", i):
        swung = ops.va(ops.vc(w, ops.vc(w, link.p)), ops.vc(alpha, link.p))
        a = ops.va(ops.mv(back, a), swung)
        if not link.turns:
            coriolis = ops.sv(2.0, ops.vc(w, ops.mv(back, rate)))
            a = ops.va(a, ops.va(ops.mv(back, change), coriolis))
    return w, alpha, a


def _of_body(
    ops: Operations, i: int, link: Link, w: Value, alpha: Value, a: Value
) -> tuple[Value, Value]:
    """F = m r̈ and N = J ω̇ + ω × J ω, of a centre of mass at r*."""
    with ops.about("r̈", i):
        swung = ops.va(ops.vc(w, ops.vc(w, link.r)), ops.vc(alpha, link.r))
        a = ops.va(swung, a)
    with ops.about("F", i):
        F = ops.sv(link.mass, a)
    with ops.about("N", i):
        return F, ops.va(ops.vc(w, ops.mv(link.J, w)), ops.mv(link.J, alpha))


@dataclass(frozen=True)
class Outward:
    """A segment of the chain; all but W along the axes of its last frame."""

    W: Value
    w: Value
    alpha: Value
    Q: Value  # Σ of the sliding joints' own velocities
    R: Value  # Σ p*
    S: Value  # Σ ω × p*
    a: Value


@dataclass(frozen=True)
class Inward:
    """A segment; along the axes of its first frame, but for R: along those after its last."""

    W: Value
    f: Value
    n: Value
    R: Value


def logarithmic(
    ops: Operations,
    links: list[Link],
    a: Value,
    end: Value,
    moving: Outward | None = None,
    network: str = "sklansky",
) -> list[Value]:
    """Table 5: efforts τ (n,).

    ``a`` (3,): the acceleration, -g, of a base at rest, which is no leaf of its own; ``moving``: a
    base that moves, which is the first leaf, as in Figure 5; ``end``: the rotation of no link
    beyond the last; ``network``: of `networks.NETWORKS`.
    """
    leaves = {i: _leaf(ops, i, link) for i, link in enumerate(links)}
    if moving is not None:
        leaves[-1] = moving
    parents = {i: i - 1 for i in leaves}
    moved = scan(leaves, parents, lambda X, Y: _glued(ops, X, Y), network, _anywhere)
    held = {}
    for i, link in enumerate(links):
        own = moved[i]
        with ops.about("p̈", i):
            fallen = own.a if moving else ops.va(own.a, ops.mv(ops.transposed(own.W), a))
        F, N = _of_body(ops, i, link, own.w, own.alpha, fallen)
        with ops.about("inward leaf", i):
            A_next = links[i + 1].A if i + 1 < len(links) else end
            n = ops.va(ops.vc(link.s, F), N)
            held[i] = Inward(A_next, F, n, ops.mv(ops.transposed(A_next), link.p))
    # the path from the tip: what comes first there is glued to the end of what comes next
    after = {i: i + 1 for i in held}
    found = scan(held, after, lambda Y, X: _glued_inward(ops, X, Y), network, _anywhere)
    efforts = []
    for i, link in enumerate(links):
        with ops.about("τ", i):
            efforts.append(ops.dot(ops.row(link.A, 2), found[i].n if link.turns else found[i].f))
    return efforts


def _anywhere(_: int) -> AbstractContextManager[None]:
    """A glue says by itself what it is about."""
    return nullcontext()


def _leaf(ops: Operations, i: int, link: Link) -> Outward:
    with ops.about("leaf", i):
        axis = ops.row(link.A, 2)
        rate, change = ops.sv(link.rate, axis), ops.sv(link.change, axis)
        if not link.turns:
            return Outward(link.A, ops.still, ops.still, rate, link.p, ops.still, change)
        S = ops.vc(rate, link.p)
        a = ops.va(ops.vc(change, link.p), ops.vc(rate, S))
        return Outward(link.A, rate, change, ops.still, link.p, S, a)


def _glued(ops: Operations, X: Outward, Y: Outward) -> Outward:
    """X, nearer the base, and Y after it."""
    with ops.about("glue", 0):
        V = ops.transposed(Y.W)
        w, alpha = ops.mv(V, X.w), ops.mv(V, X.alpha)
        # S = V S_X + w × R_Y + S_Y
        turned = ops.vc(w, Y.R)
        # p̈ = V p̈_X + p̈_Y + ω̇ × R_Y + ω × (ω × R_Y + 2 (S_Y + Q_Y))
        inner = ops.va(turned, ops.sv(2.0, ops.va(Y.S, Y.Q)))
        swung = ops.va(ops.va(ops.mv(V, X.a), Y.a), ops.vc(alpha, Y.R))
        return Outward(
            ops.mm(X.W, Y.W),
            ops.va(w, Y.w),
            ops.va(ops.va(alpha, Y.alpha), ops.vc(w, Y.w)),
            ops.va(ops.mv(V, X.Q), Y.Q),
            ops.va(ops.mv(V, X.R), Y.R),
            ops.va(ops.va(ops.mv(V, X.S), Y.S), turned),
            ops.va(swung, ops.vc(w, inner)),
        )


def _glued_inward(ops: Operations, X: Inward, Y: Inward) -> Inward:
    """X, nearer the base, and Y after it: n = n_X + W_X (R_X × f_Y + n_Y)."""
    with ops.about("glue back", 0):
        moment = ops.va(ops.vc(X.R, Y.f), Y.n)
        return Inward(
            ops.mm(X.W, Y.W),
            ops.va(X.f, ops.mv(X.W, Y.f)),
            ops.va(X.n, ops.mv(X.W, moment)),
            ops.va(ops.mv(ops.transposed(Y.W), X.R), Y.R),
        )
