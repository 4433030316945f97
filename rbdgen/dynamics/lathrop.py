"""Lathrop's two formulations of inverse dynamics, as the paper has them, to compare with.

Lathrop, "Parallelism in manipulator dynamics", IJRR 4(2), 1985: Table 2 (Luh, Walker and Paul's
recursion, "linear") and Table 5 ("logarithmic"), of a chain of revolute and prismatic joints. Frame
i lies on link i at the next joint's origin, its z along that joint's axis; A: frame i → frame i-1,
p* from frame i-1's origin to its own, r* from there to the centre of mass, both along its axes.

Where Table 5 prints 2 S + Q, the Coriolis terms it is derived from give 2 (S + Q), which is here.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..robot.model import JointKind, Robot, RobotError, Transform
from .motion import State, joint_position, joint_rates, joint_turn
from .networks import scan
from .scalars import Arithmetic, Scalar, Vector
from .spatial import (
    ZERO,
    Tensor,
    Wrench,
    add,
    cross,
    dot,
    matvec,
    product,
    scale,
    sub,
    transposed,
)

ONE: Tensor = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


@dataclass(frozen=True)
class Link:
    """A joint and its link: ``turns`` or slides by ``rate`` q̇ and ``change`` q̈; J about the centre
    of mass."""

    turns: bool
    A: Tensor
    p: Vector
    r: Vector
    m: Scalar
    J: Tensor
    rate: Scalar
    change: Scalar


def links_of(
    arithmetic: Arithmetic, robot: Robot, state: State, multiplications: int = 4
) -> tuple[list[Link], Vector]:
    """The links of a chain whose axes are along z, and gravity along the axes of frame 0."""
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
            found.append(
                Link(
                    turns,
                    A,
                    matvec(P.T.tolist(), way),
                    (P.T @ (c - at)).tolist(),
                    inertia.mass,
                    (P.T @ about_c @ P).tolist(),
                    rate,
                    change,
                )
            )
    first = robot.joints[0].placement.rotation
    return found, (first.T @ robot.gravity).tolist()


def linear(arithmetic: Arithmetic, links: list[Link], gravity: Vector) -> Vector:
    """Table 2: efforts (n,); regions ("forward", i) and ("backward", i)."""
    w, alpha, a = ZERO, ZERO, scale(-1.0, gravity)
    own: list[Wrench] = []
    for i, link in enumerate(links):
        with arithmetic.region("forward", i):
            w, alpha, a = _outward(link, w, alpha, a)
            own.append(_of_body(link, w, alpha, a))
    efforts: Vector = [0.0] * len(links)
    f, n = ZERO, ZERO
    A_next = ONE
    for i in reversed(range(len(links))):
        link, (F, N) = links[i], own[i]
        with arithmetic.region("backward", i):
            # f = F + A' f',   n = A' n' + N + s* × F + p* × A' f'
            f, n = matvec(A_next, f), matvec(A_next, n)
            n = add(n, add(add(N, cross(add(link.p, link.r), F)), cross(link.p, f)))
            f = add(F, f)
            efforts[i] = dot(link.A[2], n if link.turns else f)  # Aᵀ z
        A_next = link.A
    return efforts


def _outward(link: Link, w: Vector, alpha: Vector, a: Vector) -> tuple[Vector, Vector, Vector]:
    """ω, ω̇ and p̈ of frame i from those of frame i-1."""
    back, p = transposed(link.A), link.p
    rate, change = [0.0, 0.0, link.rate], [0.0, 0.0, link.change]
    if link.turns:
        alpha = add(alpha, add(change, cross(w, rate)))
        w = add(w, rate)
    w, alpha = matvec(back, w), matvec(back, alpha)
    a = add(matvec(back, a), add(cross(alpha, p), cross(w, cross(w, p))))
    if not link.turns:
        coriolis = scale(2.0, cross(w, matvec(back, rate)))
        a = add(a, add(matvec(back, change), coriolis))
    return w, alpha, a


def _of_body(link: Link, w: Vector, alpha: Vector, a: Vector) -> Wrench:
    """F = m r̈ and N = J ω̇ + ω × J ω, of a centre of mass at r*."""
    r = add(a, add(cross(alpha, link.r), cross(w, cross(w, link.r))))
    return scale(link.m, r), add(matvec(link.J, alpha), cross(w, matvec(link.J, w)))


@dataclass(frozen=True)
class Outward:
    """A segment of the chain; all but W along the axes of its last frame."""

    W: Tensor
    w: Vector
    alpha: Vector
    Q: Vector  # Σ of the sliding joints' own velocities
    R: Vector  # Σ p*
    S: Vector  # Σ ω × p*
    a: Vector


@dataclass(frozen=True)
class Inward:
    """A segment; along the axes of its first frame, but for R: along those after its last."""

    W: Tensor
    f: Vector
    n: Vector
    R: Vector


def logarithmic(arithmetic: Arithmetic, links: list[Link], gravity: Vector) -> Vector:
    """Table 5: efforts (n,), by Sklansky's network."""
    n, network = len(links), "sklansky"

    def at(_: int) -> AbstractContextManager[Any]:
        return arithmetic.region("forward", 0)

    with at(0):
        out = {i: _leaf(link) for i, link in enumerate(links)}
    moved = scan(out, {i: i - 1 for i in range(n)}, _glued, network, at)
    back: dict[int, Inward] = {}
    with at(0):
        for i, link in enumerate(links):
            own = moved[i]
            a = sub(own.a, matvec(transposed(own.W), gravity))
            F, N = _of_body(link, own.w, own.alpha, a)
            A_next = links[i + 1].A if i + 1 < n else ONE
            N = add(N, cross(add(link.p, link.r), F))
            back[i] = Inward(A_next, F, N, matvec(transposed(A_next), link.p))
    # the path from the tip: what comes first there is glued to the end of what comes next
    found = scan(back, {i: i + 1 for i in range(n)}, lambda Y, X: _inward(X, Y), network, at)
    with at(0):
        return [
            dot(link.A[2], found[i].n if link.turns else found[i].f) for i, link in enumerate(links)
        ]


def _leaf(link: Link) -> Outward:
    w, alpha, a = _outward(link, ZERO, ZERO, ZERO)
    Q = ZERO if link.turns else scale(link.rate, link.A[2])
    return Outward(link.A, w, alpha, Q, link.p, cross(w, link.p), a)


def _glued(X: Outward, Y: Outward) -> Outward:
    """X, nearer the base, and Y after it."""
    V = transposed(Y.W)
    w, alpha = matvec(V, X.w), matvec(V, X.alpha)
    # S = V S_X + w × R_Y + S_Y
    turned = cross(w, Y.R)
    # p̈ = V p̈_X + p̈_Y + ω̇ × R_Y + ω × (ω × R_Y + 2 (S_Y + Q_Y))
    inner = add(turned, scale(2.0, add(Y.S, Y.Q)))
    return Outward(
        product(X.W, Y.W),
        add(w, Y.w),
        add(add(alpha, Y.alpha), cross(w, Y.w)),
        add(matvec(V, X.Q), Y.Q),
        add(matvec(V, X.R), Y.R),
        add(add(matvec(V, X.S), turned), Y.S),
        add(add(matvec(V, X.a), Y.a), add(cross(alpha, Y.R), cross(w, inner))),
    )


def _inward(X: Inward, Y: Inward) -> Inward:
    """X, nearer the base, and Y after it: n = n_X + W_X (R_X × f_Y + n_Y)."""
    moment = add(cross(X.R, Y.f), Y.n)
    return Inward(
        product(X.W, Y.W),
        add(X.f, matvec(X.W, Y.f)),
        add(X.n, matvec(X.W, moment)),
        add(matvec(transposed(Y.W), X.R), Y.R),
    )
