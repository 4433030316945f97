"""Lathrop's two formulations of inverse dynamics, as the paper has them, to compare with.

Lathrop, "Parallelism in manipulator dynamics", IJRR 4(2), 1985: Table 2 (Luh, Walker and Paul's
recursion, "linear") in the order of Table 4, and Table 5 ("logarithmic"), of a chain of revolute
and prismatic joints. Frame i lies on link i at the next joint's origin, its z along that joint's
axis; A: frame i → frame i-1, p* from frame i-1's origin to its own, r* from there to the centre of
mass, s* = p* + r*, all along its axes.

Where Table 5 prints 2 S + Q, the Coriolis terms it is derived from give 2 (S + Q), which is here.

Both are written in vector operations, for any interpreter of them: `Scalars` has each as operations
of scalars, `rbdgen_benchmarks.reproduce.timetable` keeps the time of each. A link's share, or a
gluing, is a step of a visit (``steps``), to one of the templates

    turn     sine and cosine of a joint's angle
    frame    a link's A, p*, q̇ and q̈
    out      linear: its motion, F and N
    back     linear: f, n and τ
    leaf, glue, body, glue_back, effort      logarithmic: as Table 5 has them
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

import numpy as np

from ..graph.visits import Visit
from ..robot.model import JointKind, Robot, RobotError, Transform
from .motion import RobotState, Told, multiplier, told, turn_by
from .networks import scan
from .repeated import turns_of
from .rnea import summed
from .scalars import Scalar, Vector
from .spatial import Operations, Run, Scalars, Tensor, Turn, Value, add, matvec, transposed
from .steps import Runner, in_units
from .units import ALIKE, Balance

FORMULATIONS = LINEAR, LOGARITHMIC = "lathrop-linear", "lathrop-log"
ONE: Tensor = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


@dataclass(frozen=True)
class LinkState:
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


def inverse_dynamics(
    run: Runner,
    robot: Robot,
    state: RobotState,
    multiplications: int = 4,
    formulation: str = LINEAR,
    balance: Balance = ALIKE,
) -> Vector:
    """τ (nv,) of a chain whose axes are along z, in units of ``balance``.

    What is of link i is in regions ("forward", i) and ("backward", i), gluings in ("forward", 0).
    """
    links, a = links_of(run, robot, state, multiplications)
    factors = [multiplier(joint) for joint in robot.joints]
    ops = Scalars()
    units = [balance.body(i) for i in range(len(links))]
    links = [_weighed(link, unit) for link, unit in zip(links, units, strict=True)]
    if formulation == LINEAR:
        efforts = linear(run, ops, links, a, factors, units).tau
    else:
        efforts = logarithmic(run, ops, links, a, ONE, factors=factors, units=units)
    tau: Vector = [0.0] * robot.nv
    for i, effort in enumerate(efforts):
        k = robot.v_slices[i].start
        effort = in_units(effort, balance.effort(k) / balance.body(i))
        tau[k] = summed(run, (k, i), ("backward", i), tau[k], effort)
    return tau


def _weighed(link: LinkState, by: float) -> LinkState:
    """The link in another unit of mass."""
    return replace(link, mass=by * link.mass, J=[[by * x for x in row] for row in link.J])


def links_of(
    run: Runner, robot: Robot, state: RobotState, multiplications: int = 4
) -> tuple[list[LinkState], Vector]:
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
        inertia, turns, here = joint.inertia, joint.kind is JointKind.REVOLUTE, ("forward", i)
        c = inertia.h / inertia.mass if inertia.mass else np.zeros(3)
        about_c = inertia.J - inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))
        own, turn = told(robot, i, state), None
        if i in state.turns:
            sin, cos = state.turns[i]
            turn = Turn(cos, sin, multiplications)
        elif turns:
            visit = Visit("turn", (i,))
            turn = run(visit, here, turn_by, run.arithmetic, own, multiplications)
        visit = Visit("frame" + _way(turns) + turns_of(P), (i,))
        frame = run(visit, here, _frame, own, turn, P.tolist(), at.tolist())
        r, J = (P.T @ (c - at)).tolist(), (P.T @ about_c @ P).tolist()
        A, p, rate, change = frame
        s = run(visit, here, add, p, r)
        found.append(LinkState(A, p, r, s, inertia.mass, J, rate, change, turns))
    first = robot.joints[0].placement.rotation
    return found, (-first.T @ robot.gravity).tolist()


def _frame(
    joint: Told, turn: Turn | None, P: Tensor, at: Vector
) -> tuple[Tensor, Vector, Scalar, Scalar]:
    """A, p*, q̇ and q̈ of a joint behind which the next one is placed by ``P`` and ``at``."""
    (rate,), (change,) = joint.rates()
    back = transposed(P)
    way = at  # along the axes of the body, which are frame i-1's, turned
    if turn is None:
        return P, matvec(back, add(way, [0.0, 0.0, joint.position()])), rate, change
    return transposed([turn.forward(column) for column in back]), matvec(back, way), rate, change


def _way(turns: bool) -> str:
    return "" if turns else "_prismatic"


class Linear(NamedTuple):
    """Efforts τ (n,), and n of the first link, whose dot product with the axis the first τ is."""

    tau: list[Value]
    first_moment: Value


def linear(
    run: Run,
    ops: Operations,
    links: list[LinkState],
    a: Value,
    factors: Sequence[float] | None = None,
    units: Sequence[float] | None = None,
) -> Linear:
    """Table 2, on a base at rest; ``a`` (3,): the base's acceleration, -g, along frame 0.

    ``factors``: of the efforts; ``units``: in which the links are weighed.
    """
    w = alpha = ops.still
    own = []
    for i, link in enumerate(links):
        visit, here = Visit("out" + _way(link.turns) + _place(i), (i,)), ("forward", i)
        w, alpha, a = run(visit, here, _outward, ops, link, w, alpha, a)
        own.append(run(visit, here, _of_body, ops, link, w, alpha, a))
    tau: list[Value] = [None] * len(links)
    f = n = ops.still
    for i, link in reversed(list(enumerate(links))):
        last = i + 1 == len(links)
        visit = Visit("back" + _way(link.turns) + "_last" * last, (i,))
        F, N = own[i]
        if last:
            f, n = run(visit, ("backward", i), _held, ops, link, F, N)
        else:
            A_next = links[i + 1].A
            f, n = in_units((f, n), _of(units, i) / _of(units, i + 1))
            f, n = run(visit, ("backward", i), _inward, ops, link, A_next, F, N, f, n)
        tau[i] = run(visit, ("backward", i), _effort, ops, link, f, n, _of(factors, i))
    return Linear(tau, n)


def _place(i: int) -> str:
    return "_base" if i == 0 else ""


def _of(factors: Sequence[float] | None, i: int) -> float:
    return 1.0 if factors is None else factors[i]


def _effort(ops: Operations, link: LinkState, f: Value, n: Value, factor: float) -> Value:
    with ops.about("τ"):
        effort = ops.dot(ops.row(link.A, 2), n if link.turns else f)  # Aᵀ z
        return ops.times(factor, effort)


def _held(ops: Operations, link: LinkState, F: Value, N: Value) -> tuple[Value, Value]:
    """f and n of a link with none behind it."""
    with ops.about("n"):
        return F, ops.va(ops.vc(link.s, F), N)


def _inward(
    ops: Operations, link: LinkState, A_next: Value, F: Value, N: Value, f: Value, n: Value
) -> tuple[Value, Value]:
    """f and n from those of the next link: f = F + A' f',   n = A' n' + N + s* × F + p* × A' f'."""
    with ops.about("n"):
        moment = ops.va(ops.vc(link.s, F), N)
    with ops.about("f"):
        carried = ops.mv(A_next, f)
    with ops.about("n"):
        n = ops.va(ops.mv(A_next, n), ops.va(ops.vc(link.p, carried), moment))
    with ops.about("f"):
        return ops.va(carried, F), n


def _outward(
    ops: Operations, link: LinkState, w: Value, alpha: Value, a: Value
) -> tuple[Value, Value, Value]:
    """ω, ω̇ and p̈ of frame i from those of frame i-1."""
    back, rate, change = ops.transposed(link.A), ops.along_z(link.rate), ops.along_z(link.change)
    with ops.about("ω̇"):
        turned = ops.va(ops.va(ops.vc(w, rate), change), alpha) if link.turns else alpha
        alpha = ops.mv(back, turned)
    with ops.about("ω"):
        w = ops.mv(back, ops.va(w, rate) if link.turns else w)
    with ops.about("p̈"):
        swung = ops.va(ops.vc(w, ops.vc(w, link.p)), ops.vc(alpha, link.p))
        a = ops.va(ops.mv(back, a), swung)
        if not link.turns:
            coriolis = ops.sv(2.0, ops.vc(w, ops.mv(back, rate)))
            a = ops.va(a, ops.va(ops.mv(back, change), coriolis))
    return w, alpha, a


def _of_body(
    ops: Operations, link: LinkState, w: Value, alpha: Value, a: Value
) -> tuple[Value, Value]:
    """F = m r̈ and N = J ω̇ + ω × J ω, of a centre of mass at r*."""
    with ops.about("r̈"):
        swung = ops.va(ops.vc(w, ops.vc(w, link.r)), ops.vc(alpha, link.r))
        a = ops.va(swung, a)
    with ops.about("F"):
        F = ops.sv(link.mass, a)
    with ops.about("N"):
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
    """A segment; all along the axes of its first frame."""

    W: Value
    f: Value
    n: Value
    R: Value  # Σ p*


def logarithmic(
    run: Run,
    ops: Operations,
    links: list[LinkState],
    a: Value,
    end: Value,
    moving: Outward | None = None,
    network: str = "sklansky",
    factors: Sequence[float] | None = None,
    units: Sequence[float] | None = None,
) -> list[Value]:
    """Table 5: efforts τ (n,), times ``factors``, of links that are weighed in ``units``.

    ``a`` (3,): the acceleration, -g, of a base at rest, which is no leaf of its own; ``moving``: a
    base that moves, which is the first leaf, as in Figure 5; ``end``: the rotation of no link
    beyond the last; ``network``: of `networks.NETWORKS`.
    """
    numbers = count()

    def gluing(template: str, step: Callable[..., Value], X: Value, Y: Value) -> Value:
        return run(Visit(template, (next(numbers),)), ("forward", 0), step, ops, X, Y)

    leaves = {
        i: run(Visit("leaf" + _way(link.turns), (i,)), ("forward", i), _leaf, ops, link)
        for i, link in enumerate(links)
    }
    if moving is not None:
        leaves[-1] = moving
    parents = {i: i - 1 for i in leaves}
    moved = scan(leaves, parents, lambda _, X, Y: gluing("glue", _glued, X, Y), network)
    held = {}
    for i, link in enumerate(links):
        visit, here = Visit("body" + _way(link.turns), (i,)), ("forward", i)
        A_next = links[i + 1].A if i + 1 < len(links) else end
        fallen = moved[i].a if moving else run(visit, here, _fallen, ops, moved[i], a)
        held[i] = i, run(visit, here, _held_leaf, ops, link, A_next, moved[i], fallen)

    def gluing_back(X: tuple[int, Inward], Y: tuple[int, Inward]) -> tuple[int, Inward]:
        """Segments, each with its first link, in whose unit it is."""
        (first, one), (then, other) = X, Y
        f, n = in_units((other.f, other.n), _of(units, first) / _of(units, then))
        return first, gluing("glue_back", _glued_inward, one, replace(other, f=f, n=n))

    # the path from the tip: what comes first there is glued to the end of what comes next
    after = {i: i + 1 for i in held}
    found = scan(held, after, lambda _, Y, X: gluing_back(X, Y), network)
    efforts = []
    for i, link in enumerate(links):
        visit, (_, own) = Visit("effort" + _way(link.turns), (i,)), found[i]
        factor = _of(factors, i)
        efforts.append(run(visit, ("backward", i), _effort, ops, link, own.f, own.n, factor))
    return efforts


def _fallen(ops: Operations, own: Outward, a: Value) -> Value:
    """p̈ with that of the base, along whose axes it is ``a``."""
    with ops.about("p̈"):
        return ops.va(own.a, ops.mv(ops.transposed(own.W), a))


def _held_leaf(
    ops: Operations, link: LinkState, A_next: Value, own: Outward, fallen: Value
) -> Inward:
    """The inward quantities of a leaf link, its force and moment alone."""
    F, N = _of_body(ops, link, own.w, own.alpha, fallen)
    with ops.about("inward leaf"):
        n = ops.va(ops.vc(link.s, F), N)
        return Inward(A_next, F, n, link.p)


def _leaf(ops: Operations, link: LinkState) -> Outward:
    with ops.about("leaf"):
        axis = ops.row(link.A, 2)
        rate, change = ops.sv(link.rate, axis), ops.sv(link.change, axis)
        if not link.turns:
            return Outward(link.A, ops.still, ops.still, rate, link.p, ops.still, change)
        S = ops.vc(rate, link.p)
        a = ops.va(ops.vc(change, link.p), ops.vc(rate, S))
        return Outward(link.A, rate, change, ops.still, link.p, S, a)


def _glued(ops: Operations, X: Outward, Y: Outward) -> Outward:
    """X, nearer the base, and Y after it.

    The two are ready at the same time. What X has is turned first and added last, after the terms
    that need no more of this gluing: then each quantity grows by an MV and a VA (equation 2).
    """
    with ops.about("glue"):
        V = ops.transposed(Y.W)
        w, alpha = ops.mv(V, X.w), ops.mv(V, X.alpha)
        # S = V S_X + w × R_Y + S_Y
        turned = ops.vc(w, Y.R)
        # p̈ = V p̈_X + p̈_Y + ω̇ × R_Y + ω × (ω × R_Y + 2 (S_Y + Q_Y))
        inner = ops.va(turned, ops.sv(2.0, ops.va(Y.S, Y.Q)))
        swung = ops.va(ops.vc(alpha, Y.R), ops.vc(w, inner))
        return Outward(
            ops.mm(X.W, Y.W),
            ops.va(w, Y.w),
            ops.va(alpha, ops.va(Y.alpha, ops.vc(w, Y.w))),
            ops.va(ops.mv(V, X.Q), Y.Q),
            ops.va(ops.mv(V, X.R), Y.R),
            ops.va(ops.mv(V, X.S), ops.va(Y.S, turned)),
            ops.va(ops.mv(V, X.a), ops.va(Y.a, swung)),
        )


def _glued_inward(ops: Operations, X: Inward, Y: Inward) -> Inward:
    """X, nearer the base, and Y after it: n = n_X + R_X × W_X f_Y + W_X n_Y.

    W_X (R × f) = W_X R × W_X f, so that with R along the first frame, too, the turned f serves
    twice and n_Y, which is ready last, waits for an MV and a VA alone.
    """
    with ops.about("glue back"):
        carried = ops.mv(X.W, Y.f)
        moment = ops.va(X.n, ops.vc(X.R, carried))
        W, f = ops.mm(X.W, Y.W), ops.va(X.f, carried)
        n, R = ops.va(ops.mv(X.W, Y.n), moment), ops.va(X.R, ops.mv(X.W, Y.R))
        return Inward(W, f, n, R)
