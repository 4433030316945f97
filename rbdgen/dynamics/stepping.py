"""A step of time and what it depends on, from what forward dynamics gives. Semi-implicit Euler is

    q̇₊ = q̇ + h q̈        q₊ = q ⊕ h q̇₊

and with w = h q̇₊, E = ∂(q ⊕ w)/∂q, J = ∂(q ⊕ w)/∂w (``exponential``) the derivatives by x = (q,
q̇) and by τ are

    A = [ E + h² J ∂q̈/∂q    h J (1 + h ∂q̈/∂q̇) ]        B = [ h² J M⁻¹ ]
        [     h ∂q̈/∂q           1 + h ∂q̈/∂q̇    ]            [   h M⁻¹   ]

The classical rule of Runge and Kutta asks for q̈ and its derivatives at four points. From the first
one the others lie w = c h q̇ of the point before away, with c = ½, ½, 1, and it ends with

    w = h (q̇₁ + 2 q̇₂ + 2 q̇₃ + q̇₄) / 6        q̇₊ = q̇ + h (q̈₁ + 2 q̈₂ + 2 q̈₃ + q̈₄) / 6

Each point's derivatives by the first one go through by the chain rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from ..graph.node import Builder
from ..graph.visits import Visit
from ..graph.word import spell
from ..robot.model import JointKind, Robot
from .elimination import Entries
from .motion import RobotState
from .rnea import indices
from .scalars import Scalar, Vector
from .spatial import is_nothing, is_zero
from .steps import Inline, Runner
from .tangent_space import PLACES, ExpMap, moved

Columns = list[dict[int, Scalar]]  # column by column, row → entry
STEP = "step"  # the regions
WEIGHTS = (1, 2, 2, 1)  # of the four points of Runge and Kutta


@dataclass(frozen=True)
class Rates:
    """q̈ of a state, coordinate → entry, and its derivatives: ``slopes`` by q and by q̇, ``Minv``
    by τ, of which the lower triangle is there."""

    qdd: dict[int, Scalar]
    slopes: list[Columns]
    Minv: Entries

    def by_effort(self, nv: int) -> Columns:
        """∂q̈/∂τ."""
        columns: Columns = [{} for _ in range(nv)]
        for (i, j), value in self.Minv.items():
            columns[j][i] = columns[i][j] = value
        return columns


@dataclass(frozen=True)
class StepState:
    """A state on the way: q (nq,), q̇ (nv,), and the derivatives of each by the first state's q, q̇
    and by τ, 3 nv columns of nv rows, q's along its tangent space."""

    q: Vector
    qd: Vector
    by_q: Columns
    by_qd: Columns


@dataclass(frozen=True)
class Rate:
    """q̇ or q̈, coordinate → entry, or times something; its derivatives as a `StepState` has
    them."""

    value: dict[int, Scalar] = field(default_factory=dict)
    by: Columns = field(default_factory=list)


def named(point: StepState) -> Iterator[tuple[str, Scalar]]:
    """q_next, qd_next, A and B by the names of outputs."""
    nv = len(point.qd)
    for name, values in (("q_next", point.q), ("qd_next", point.qd)):
        yield from ((spell(name, k), value) for k, value in enumerate(values))
    for first, columns in ((0, point.by_q), (nv, point.by_qd)):
        for j, column in enumerate(columns):
            name, of = ("A", j) if j < 2 * nv else ("B", j - 2 * nv)
            for k, value in sorted(column.items()):
                yield spell(name, first + k, of), value


def stepped(
    run: Runner,
    robot: Robot,
    h: float,
    integrator: str,
    state: RobotState,
    first: Rates,
    rates: Callable[[RobotState], Rates],
) -> StepState:
    """A step of ``h`` seconds by either rule; ``first``: the rates in ``state``."""
    if integrator == "euler":
        return euler(run, robot, h, state, first)
    assert isinstance(run, Inline) and isinstance(run.arithmetic, Builder)
    at = run.arithmetic, robot, h, state
    return runge_kutta(*at, lambda there: first if there is state else rates(there))


def euler(
    run: Runner,
    robot: Robot,
    h: float,
    state: RobotState,
    rates: Rates,
) -> StepState:
    """A step of semi-implicit Euler, of ``h`` seconds.

    Visits to "step", of a joint, and to "follow", of a joint and a column of A or B.
    """
    nv = robot.nv
    columns = [*chain(*rates.slopes), *rates.by_effort(nv)]
    point = StepState(list(state.q), list(state.qd), [{} for _ in columns], [{} for _ in columns])
    for i in robot.free:
        kind, at, own = robot.joints[i].kind, robot.q_slices[i], indices(robot.v_slices[i])
        if kind not in PLACES:  # whatever moves along one axis is moved alike
            kind = JointKind.REVOLUTE
        here, suffix = (STEP, i), f"_{kind.value}" if kind in PLACES else ""
        rate, change = [state.qd[k] for k in own], [rates.qdd.get(k, 0.0) for k in own]
        visit = Visit("step" + suffix, (i,))
        faster, there = run(visit, here, _advanced, kind, h, list(state.q[at]), rate, change)
        point.q[at], point.qd[own.start : own.stop] = there.q, faster
        for j, column in enumerate(columns):
            entries = [column.get(k, 0.0) for k in own]
            alone = [1.0 if j == nv + k else 0.0 for k in own]
            turned = there.turned(j - own.start) if j in own else [0.0 for _ in own]
            if all(is_nothing(x) for x in (*entries, *alone, *turned)):
                continue
            visit, taken = Visit("follow" + suffix, (i, j)), (entries, alone, turned)
            found = run(visit, here, _followed, h, there.J, *taken)
            for rows, values in zip((point.by_q, point.by_qd), found, strict=True):
                rows[j] |= {k: x for k, x in zip(own, values, strict=True) if not is_zero([x])}
    return point


def _advanced(
    kind: JointKind, h: Scalar, q: Vector, qd: Vector, qdd: Vector
) -> tuple[Vector, ExpMap]:
    """q̇₊ of a joint, and where it is then."""
    faster = [v + h * a for v, a in zip(qd, qdd, strict=True)]
    return faster, moved(kind, q, [h * v for v in faster])


def _followed(
    h: Scalar,
    J: list[Vector] | None,
    entries: Vector,
    alone: Vector,
    turned: Vector,
) -> tuple[Vector, Vector]:
    """The rows of a joint in a column of A or B, of q₊ and of q̇₊: with the ``entries`` of q̈'s
    derivatives, to which 1 of q̇ and E of q are added."""
    of_qd = [h * x + one for x, one in zip(entries, alone, strict=True)]
    along = ExpMap([], None, J).along([h * x for x in of_qd])
    return [x + y for x, y in zip(along, turned, strict=True)], of_qd


def runge_kutta(
    builder: Builder,
    robot: Robot,
    h: float,
    state: RobotState,
    rates: Callable[[RobotState], Rates],
) -> StepState:
    """A step of the classical rule of Runge and Kutta, of ``h`` seconds.

    All points but the first have regions of their own: ``forward_2`` and so on.
    """
    here = first = _first(robot, state)
    speeds: list[Rate] = []
    accelerations: list[Rate] = []

    def moved(far: float, weights: Sequence[int]) -> StepState:
        """The point after ``far`` [s], by the last rates, one for each weight."""
        count = len(weights)
        w = _sum(builder, robot, far, speeds[-count:], weights)
        after = _after(builder, robot, first, far, accelerations[-count:], weights)
        return _moved(builder, robot, first, w, after)

    farther = ((h / 2, (1,)), (h / 2, (1,)), (h, (1,)), (h / 6, WEIGHTS))
    for number, (far, weights) in enumerate(farther, 1):
        with builder.regions(f"_{number}" if number > 1 else ""):
            speeds.append(Rate(dict(enumerate(here.qd)), here.by_qd))
            accelerations.append(_accelerated(builder, robot, rates(state), here))
            here = moved(far, weights)
            state = replace(state, q=here.q, qd=here.qd, turns={})
    return here


def _first(robot: Robot, state: RobotState) -> StepState:
    """The state, of which each entry's derivative by itself is 1."""
    nv = robot.nv
    by_q: Columns = [{j: 1.0} if j < nv else {} for j in range(3 * nv)]
    by_qd: Columns = [{j - nv: 1.0} if nv <= j < 2 * nv else {} for j in range(3 * nv)]
    return StepState(list(state.q), list(state.qd), by_q, by_qd)


def _accelerated(builder: Builder, robot: Robot, rates: Rates, point: StepState) -> Rate:
    """q̈ at a point, and its derivatives by the first one: the chain rule."""
    found = Rate(dict(rates.qdd), [{} for _ in range(3 * robot.nv)])
    by_effort = rates.by_effort(robot.nv)
    for k in _coordinates(builder, robot):
        rows = [{l: c[k] for l, c in enumerate(columns) if k in c} for columns in rates.slopes]
        for j, column in enumerate(found.by):
            total: Scalar = by_effort[j - 2 * robot.nv].get(k, 0.0) if j >= 2 * robot.nv else 0.0
            for row, moving in zip(rows, (point.by_q[j], point.by_qd[j]), strict=True):
                for l in sorted(row.keys() & moving.keys()):
                    total = total + row[l] * moving[l]
            if not is_zero([total]):
                column[k] = total
    return found


def _sum(
    builder: Builder,
    robot: Robot,
    factor: float,
    rates: Sequence[Rate],
    weights: Sequence[int] = (1,),
) -> Rate:
    """factor Σ weight · rate."""

    def summed(values: Iterable[Scalar]) -> Scalar:
        total: Scalar = 0.0
        for weight, value in zip(weights, values, strict=True):
            total = total + weight * value
        return factor * total

    found = Rate({}, [{} for _ in range(3 * robot.nv)])
    for k in _coordinates(builder, robot):
        found.value[k] = summed(rate.value.get(k, 0.0) for rate in rates)
        for j, column in enumerate(found.by):
            value = summed(rate.by[j].get(k, 0.0) for rate in rates)
            if not is_zero([value]):
                column[k] = value
    return found


def _after(
    builder: Builder,
    robot: Robot,
    first: StepState,
    far: float,
    accelerations: Sequence[Rate],
    weights: Sequence[int] = (1,),
) -> Rate:
    """The velocity of the first point and so much of its change."""
    change = _sum(builder, robot, far, accelerations, weights)
    for k in _coordinates(builder, robot):
        change.value[k] = first.qd[k] + change.value[k]
        for own, column in zip(first.by_qd, change.by, strict=True):
            if k in own:
                column[k] = column.get(k, 0.0) + own[k]
    return change


def _moved(builder: Builder, robot: Robot, first: StepState, w: Rate, after: Rate) -> StepState:
    """The point a step ``w`` from the first one, with the velocity ``after``."""
    point = StepState(list(first.q), list(first.qd), [{} for _ in w.by], after.by)
    for i in robot.free:
        own, at = robot.v_slices[i], robot.q_slices[i]
        with builder.region(STEP, i):
            there = moved(robot.joints[i].kind, first.q[at], [w.value[k] for k in indices(own)])
            point.q[at] = there.q
            for j, (column, by_w) in enumerate(zip(point.by_q, w.by, strict=True)):
                rows = there.along([by_w.get(k, 0.0) for k in indices(own)])
                if j in indices(own):
                    rows = [x + y for x, y in zip(rows, there.turned(j - own.start), strict=True)]
                for k, value in zip(indices(own), rows, strict=True):
                    if not is_zero([value]):
                        column[k] = value
    for k, value in after.value.items():
        point.qd[k] = value
    return point


def _coordinates(builder: Builder, robot: Robot) -> Iterator[int]:
    """The coordinates of q̇, each in the region of its joint's step."""
    for i in robot.free:
        with builder.region(STEP, i):
            yield from indices(robot.v_slices[i])
