"""Inverse dynamics, its gradients and M as visits to what one joint, or one pair, computes.

The same recursions as ``outward``, ``rnea`` and ``composite``, each step once, over numbers of the
joint that are inputs like all others: its datapath can then serve every joint. Templates:

    turn     sine and cosine of a joint's angle
    out      a body's motion and the force that it asks for, from its parent's motion
    back     a joint's share of the way back: τ, its own entries, and what goes on to the parent
    column   what one coordinate makes, taken from one joint of its path to the base to the next,
             and the entries of the two

A joint on the base has templates of its own, ``out_base`` and so on: most of what its parent gives
is zero, and nothing goes on from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..graph.graph import Graph
from ..graph.node import Builder, Node
from ..graph.visits import Program, Result, Source, Visit, settle
from ..graph.word import spell
from ..robot.model import Robot, Transform
from .axes import Axis, Step, power, turning_axis, wrench_after
from .composite import Column, Composite, body_alone, column_of, turning
from .forces import diagonal_terms, moving_force
from .motion import Motion
from .outward import revolved
from .scalars import Scalar, Vector
from .spatial import ZERO, Tensor, Turn, TurnX, Wrench, cross, dot, wrench_sum

FUNCTIONS = ("id", "did", "m")
AXES = "xyz"
BASE = "_base"
TENSOR = tuple(f"{a}{b}" for a in AXES for b in AXES)


@dataclass
class _Ports:
    """A template in the making: its inputs, some known, and its outputs."""

    known: Mapping[str, float]
    builder: Builder = field(default_factory=Builder)
    inputs: list[str] = field(default_factory=list)
    outputs: dict[str, Node] = field(default_factory=dict)

    def word(self, name: str) -> Scalar:
        if name in self.known:
            return self.known[name]
        if name not in self.inputs:
            self.inputs.append(name)
        return self.builder.input(name)

    def vector(self, name: str) -> Vector:
        return [self.word(f"{name}.{axis}") for axis in AXES]

    def wrench(self, name: str) -> Wrench:
        return self.vector(f"{name}.f"), self.vector(f"{name}.n")

    def tensor(self, name: str) -> Tensor:
        return [[self.word(f"{name}.{a}{b}") for b in AXES] for a in AXES]

    def symmetric(self, name: str) -> Tensor:
        return [[self.word(f"{name}.{min(a, b)}{max(a, b)}") for b in AXES] for a in AXES]

    def gives(self, name: str, value: Scalar) -> None:
        self.outputs[name] = self.builder.lift(value)

    def gives_vector(self, name: str, value: Vector) -> None:
        for axis, x in zip(AXES, value, strict=True):
            self.gives(f"{name}.{axis}", x)

    def gives_wrench(self, name: str, value: Wrench) -> None:
        self.gives_vector(f"{name}.f", value[0])
        self.gives_vector(f"{name}.n", value[1])

    def gives_tensor(self, name: str, value: Tensor) -> None:
        for a, row in zip(AXES, value, strict=True):
            for b, x in zip(AXES, row, strict=True):
                self.gives(f"{name}.{a}{b}", x)


@dataclass(frozen=True)
class _Templates:
    """``multiplications``: of a turn of two numbers, see ``Turn``."""

    multiplications: int

    def trace(self, template: str, known: Mapping[str, float]) -> Graph:
        ports = _Ports(known)
        with ports.builder.region(template, 0):
            steps = {"turn": self.turn, "out": self.out, "back": self.back, "column": self.column}
            steps[template.removesuffix(BASE)](ports)
        return Graph(tuple(ports.inputs), ports.outputs)

    def turn(self, p: _Ports) -> None:
        angle = p.builder.lift(p.word("q") * (1 / math.tau) + p.word("offset"))
        p.gives("sin", p.builder.sin(angle, 1.0))
        p.gives("cos", p.builder.cos(angle, 1.0))

    def out(self, p: _Ports) -> None:
        parent = Motion(p.vector("parent.w"), p.vector("parent.alpha"), p.vector("parent.a"))
        r, placed, rate, change = p.vector("r"), self._placed(p), p.word("qd"), p.word("qdd")
        arriving = Motion(*map(placed.back, (parent.w, parent.alpha, parent.of_point(r))))
        arriving.w[2] = arriving.w[2] + rate
        arriving.alpha[2] = arriving.alpha[2] + change
        motion = revolved(arriving, self._turned(p), rate, change).motion
        force = moving_force(
            p.word("m"),
            h := p.vector("h"),
            h,
            [[p.word(f"{of}.{a}") for of in ("plus", "minus", "total", "less")] for a in AXES],
            [p.word(f"S.{ab}") for ab in ("xy", "xz", "yz")],
            motion,
        )
        p.gives_vector("w", motion.w)
        p.gives_vector("alpha", motion.alpha)
        p.gives_vector("a", motion.a)
        p.gives_vector("Uz", [row[2] for row in motion.U()])
        p.gives_vector("c", cross(parent.w, r))
        p.gives_wrench("force", force)

    def back(self, p: _Ports) -> None:
        axis, step = self._axis(p), self._step(p)
        w, m = p.vector("w"), p.word("m")
        whole = body_alone(m, p.vector("h"), p.symmetric("S"), w).plus(self._composite(p, "child"))
        force = wrench_sum(p.wrench("force"), p.wrench("child.force"))
        p.gives("tau", force[1][2])
        column = column_of(axis, whole)
        p.gives("dtau_dq", power(axis.S, column.F2))
        p.gives("dtau_dqd", power(axis.S, column.F1))
        p.gives("M", power(axis.S, column.G1))
        self._gives_column(p, turning(column, force))
        for one in step:
            whole, force = whole.seen_after(one), wrench_after(force, one)
        p.gives("up.m", whole.m)
        p.gives_vector("up.h", whole.h)
        p.gives_tensor("up.S", whole.S)
        p.gives_vector("up.p", whole.p)
        p.gives_tensor("up.L", whole.L)
        p.gives_wrench("up.force", force)

    def column(self, p: _Ports) -> None:
        axis = self._axis(p)
        wrenches = {name: p.wrench(name) for name in ("G1", "F1", "F2")}
        column = Column(axis, wrenches["G1"], p.vector("G2"), wrenches["F1"], wrenches["F2"])
        for one in self._step(p):
            column = column.seen_after(one)
        G1, G2 = column.G1, column.G2
        p.gives("row_dq", dot(G2, axis.first[0]) + power(axis.second, G1))
        p.gives("row_dqd", dot(G2, axis.S[0]) + power(axis.rate, G1))
        p.gives("column_dq", power(axis.S, column.F2))
        p.gives("column_dqd", power(axis.S, column.F1))
        p.gives("M", power(axis.S, G1))
        self._gives_column(p, column)

    def _turned(self, p: _Ports) -> Turn:
        return Turn(p.word("cos"), p.word("sin"), self.multiplications)

    def _placed(self, p: _Ports) -> TurnX:
        return TurnX(p.word("cos_alpha"), p.word("sin_alpha"))

    def _step(self, p: _Ports) -> tuple[Step, Step]:
        """The two steps from a body's frame to its parent's."""
        across = Step(self._placed(p), p.vector("r"), p.vector("c"))
        return Step(self._turned(p), ZERO, ZERO), across

    def _axis(self, p: _Ports) -> Axis:
        return turning_axis(0, 1.0, p.vector("w"), p.vector("Uz"), p.vector("a"))

    def _composite(self, p: _Ports, name: str) -> Composite:
        return Composite(
            p.word(f"{name}.m"),
            p.vector(f"{name}.h"),
            p.symmetric(f"{name}.S"),
            p.vector(f"{name}.p"),
            p.tensor(f"{name}.L"),
        )

    def _gives_column(self, p: _Ports, column: Column) -> None:
        p.gives_vector("G2", column.G2)
        for name in ("G1", "F1", "F2"):
            p.gives_wrench(name, getattr(column, name))


def program(robot: Robot, graph: Graph, multiplications: int) -> Program:
    """Visits that compute the outputs of ``graph``, of ``FUNCTIONS``, as it names them.

    ``robot`` has ``chained_frames``; inputs that the graph has not are zero.
    """
    reads: dict[Visit, dict[str, Source]] = {}
    outputs: dict[str, Result] = {}

    def task(name: str) -> Source:
        return name if name in graph.inputs else 0.0

    for i, joint in enumerate(robot.joints):
        k, offset = robot.v_slices[i].start, joint.offset / math.tau
        reads[Visit("turn", (i,))] = {"q": task(spell("q", k)), "offset": offset - round(offset)}
        reads[_visit(robot, "out", i)] = {
            "qd": task(spell("qd", k)),
            "qdd": task(spell("qdd", k)),
            **_arriving(robot, i),
            **_turns(i),
            **_placement(robot, i),
            **_inertia(robot, i),
        }
    for i in reversed(range(len(robot.joints))):
        back = _visit(robot, "back", i)
        reads[back] = {
            **_own(robot, i, i),
            **_inertia(robot, i),
            **_from(_visit(robot, "out", i), [f"force.{x}" for x in WRENCH]),
            **_child(robot, i),
        }
        k = robot.v_slices[i].start
        outputs[spell("tau", k)] = Result(back, "tau")
        outputs |= {spell(of, k, k): Result(back, of) for of in ("dtau_dq", "dtau_dqd", "M")}
    for i in range(len(robot.joints)):
        sender, child = _visit(robot, "back", i), i
        while (above := robot.joints[child].parent) >= 0:
            visit = _visit(robot, "column", above, i)
            reads[visit] = {**_from(sender, COLUMN), **_own(robot, child, above)}
            k, j = (robot.v_slices[x].start for x in (i, above))
            for of in ("dtau_dq", "dtau_dqd"):
                name = of.removeprefix("dtau_")
                outputs[spell(of, k, j)] = Result(visit, f"row_{name}")
                outputs[spell(of, j, k)] = Result(visit, f"column_{name}")
            outputs[spell("M", max(k, j), min(k, j))] = Result(visit, "M")
            sender, child = visit, above
    wanted = {name: outputs[name] for name in graph.outputs}
    return settle(_Templates(multiplications).trace, reads, wanted)


WRENCH = tuple(f"{of}.{axis}" for of in "fn" for axis in AXES)
COLUMN = tuple(
    [f"G2.{x}" for x in AXES] + [f"{of}.{x}" for of in ("G1", "F1", "F2") for x in WRENCH]
)
COMPOSITE = (
    "m",
    *(f"{of}.{x}" for of in "hp" for x in AXES),
    *(f"S.{ab}" for ab in TENSOR if ab[0] <= ab[1]),
    *(f"L.{ab}" for ab in TENSOR),
    *(f"force.{x}" for x in WRENCH),
)


def _visit(robot: Robot, template: str, i: int, *of: int) -> Visit:
    """The visit of joint ``i`` to a template; ``of``: with the column of another."""
    on_base = robot.joints[i].parent < 0
    return Visit(template + BASE if on_base else template, (*of, i))


def _from(visit: Visit, names: Iterable[str], into: str = "") -> dict[str, Source]:
    return {f"{into}{name}": Result(visit, name) for name in names}


def _turns(i: int) -> dict[str, Source]:
    return _from(Visit("turn", (i,)), ("sin", "cos"))


def _own(robot: Robot, i: int, axis: int) -> dict[str, Source]:
    """The way from body ``i`` to its parent, and a joint's axis."""
    return {
        **_turns(i),
        **_placement(robot, i),
        **_from(_visit(robot, "out", i), [f"c.{x}" for x in AXES]),
        **_from(_visit(robot, "out", axis), [f"{of}.{x}" for of in ("w", "Uz", "a") for x in AXES]),
    }


def _child(robot: Robot, i: int) -> dict[str, Source]:
    """What comes back from the joint on body ``i``."""
    if not robot.children[i]:
        return {f"child.{x}": 0.0 for x in COMPOSITE}
    (child,) = robot.children[i]
    back = _visit(robot, "back", child)
    return {f"child.{x}": Result(back, f"up.{x}") for x in COMPOSITE}


def _arriving(robot: Robot, i: int) -> dict[str, Source]:
    """The parent's motion."""
    parent = robot.joints[i].parent
    if parent >= 0:
        names = [f"{of}.{x}" for of in ("w", "alpha", "a") for x in AXES]
        return _from(_visit(robot, "out", parent), names, "parent.")
    # the base's axes turn along: nothing else of it is asked for
    gravity = robot.joints[i].placement.rotation.T @ robot.gravity
    still: dict[str, Source] = {f"parent.{of}.{x}": 0.0 for of in ("w", "alpha") for x in AXES}
    return still | {f"parent.a.{x}": -float(g) for x, g in zip(AXES, gravity, strict=True)}


def _placement(robot: Robot, i: int) -> dict[str, Source]:
    """Rx(α) and r; of a joint on the base, whose motion is the same at any place, neither."""
    placement = robot.joints[i].placement if robot.joints[i].parent >= 0 else Transform()
    R = placement.rotation
    r = dict(zip(AXES, map(float, placement.translation), strict=True))
    return {
        "cos_alpha": float(R[2, 2]),
        "sin_alpha": float(R[2, 1]),
        **{f"r.{x}": value for x, value in r.items()},
    }


def _inertia(robot: Robot, i: int) -> dict[str, Source]:
    inertia = robot.joints[i].inertia
    S = np.eye(3) * inertia.J.trace() / 2 - inertia.J
    found = {"m": inertia.mass}
    for a, x in enumerate(AXES):
        found[f"h.{x}"] = float(inertia.h[a])
        plus, minus = float(S[(a + 1) % 3, (a + 1) % 3]), float(S[(a + 2) % 3, (a + 2) % 3])
        names = (f"{of}.{x}" for of in ("plus", "minus", "total", "less"))
        found |= dict(zip(names, diagonal_terms(plus, minus), strict=True))
        found |= {f"S.{x}{y}": float(S[a, b]) for b, y in enumerate(AXES) if b >= a}
    return dict(found)
