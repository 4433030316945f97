"""Ports of an algorithm, and conversion between its scalars (``q[2]``, ``M[1,0]``) and arrays.

A symmetric matrix has its lower triangle in the graph only, a matrix with zeros by structure only
its other entries. Where a floating base's motion is given, τ and all matrices have no entries of
the base: their arrays are that much smaller, the names keep the numbering of v.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design.bounds import Bounds
from ..design.design import Design
from ..design.gains import Gains, reference_limits
from ..design.limits import periods_of
from ..design.payload import any_payloads
from ..graph.graph import Graph, multiple
from ..graph.node import Builder
from ..graph.word import (
    NO_COUNTS,
    ROOT,
    SYMMETRIC,
    indices,
    kind_of,
    parse,
    shape_of,
    skipped_of,
    spell,
)
from ..robot.angles import periods, wrapped
from ..robot.model import Array, JointKind, Robot
from ..robot.rotors import drivetrains
from ..robot.variations import PAYLOAD
from .elimination import Column, Entries
from .scalars import Scalar, Vector
from .spatial import is_zero
from .steps import TaskInput


class Ports(ABC):
    """Named inputs and outputs of an algorithm."""

    @abstractmethod
    def given(self, name: str) -> Scalar:
        """An input; the number 0 where there is none of this name."""

    @abstractmethod
    def gives(self, name: str, value: Scalar) -> None:
        """Make a value an output."""

    def vector(self, name: str, size: int, wanted: Iterable[int]) -> Vector:
        """Entries of an input vector; those that are not wanted are zero."""
        asked = set(wanted)
        return [self.given(spell(name, k)) if k in asked else 0.0 for k in range(size)]

    def gives_vector(self, name: str, values: Mapping[int, Scalar]) -> None:
        """Make a vector's entries outputs."""
        for k, value in sorted(values.items()):
            self.gives(spell(name, k), value)

    def gives_lower(self, name: str, entries: Entries) -> None:
        """Make the lower triangle of a symmetric matrix outputs."""
        for (i, j), value in sorted(entries.items()):
            if j <= i:
                self.gives(spell(name, i, j), value)

    def gives_columns(self, name: str, order: Iterable[int], columns: list[Column]) -> None:
        """Make the entries of a matrix in rows and columns ``order`` outputs."""
        for i in order:
            for j, column in zip(order, columns, strict=True):
                self.gives(spell(name, i, j), column.get(i, 0.0))


@dataclass
class GraphPorts(Ports):
    """Inputs in the order in which they are asked for, outputs without structural zeros, and the
    signals between that are ``known``, by name. Inputs that are ``turning`` are modulo that."""

    builder: Builder
    inputs: list[str] = field(default_factory=list)
    outputs: dict[str, Scalar] = field(default_factory=dict)
    known: dict[str, Scalar] = field(default_factory=dict)
    turning: Mapping[str, float] = field(default_factory=dict)

    def given(self, name: str) -> Scalar:
        self.inputs.append(name)
        return self.builder.input(name, self.turning.get(name, 0.0))

    def gives(self, name: str, value: Scalar) -> None:
        if not is_zero([value]):
            self.outputs[name] = value

    def graph(self) -> Graph:
        """The graph of all outputs so far."""
        lifted = {name: self.builder.lift(value) for name, value in self.outputs.items()}
        known = {name: multiple(self.builder.lift(value)) for name, value in self.known.items()}
        return Graph(tuple(self.inputs), lifted, known=known)


@dataclass(frozen=True)
class ProgramPorts(Ports):
    """Words of the task that are there, and what visits give."""

    inputs: frozenset[str]
    outputs: dict[str, Scalar] = field(default_factory=dict)

    def given(self, name: str) -> Scalar:
        return TaskInput(name) if name in self.inputs else 0.0

    def gives(self, name: str, value: Scalar) -> None:
        self.outputs[name] = value


Columns = dict[str, Array]  # graph input or output → (N,)

WRENCH = ("fx", "fy", "fz", "nx", "ny", "nz")
FOLLOWED = ("qd_ref", "qdd_ref", "kp", "kd")  # inputs of controllers, besides q_ref
SAMPLED = ("tau", "bias", "Minv")  # inputs whose limits nobody states
MARGIN = 0.1  # beyond the largest value seen
SMALLEST = 2.0**-20  # of the largest entry: what is less is rounding noise


def joint_angle(robot: Robot, i: int, q: Array, around: Mapping[int, int]) -> Array:
    """Angle (N,) of revolute joint ``i``, mimic and offset applied, from q (N, nq).

    Whole turns of q are left out where they change nothing (``around``, as `periods` gives it):
    beside many of them an offset is lost.
    """
    joint, k = robot.joints[i], robot.q_slices[i].start
    multiplier = joint.mimic.multiplier if joint.mimic else 1.0
    offset = joint.offset + (joint.mimic.offset if joint.mimic else 0.0)
    return multiplier * wrapped(q[:, k], math.tau, around.get(k)) + offset


def to_columns(robot: Robot, names: Sequence[str], state: Mapping[str, Array]) -> Columns:
    """The graph inputs ``names`` of a canonical robot from a batch of states.

    ``state`` holds, where an input asks for it, q (N, nq), qd, qdd (N, nv), tau (N, nv), Minv
    (N, nv, nv; these two less the base whose motion is given), f_ext (N, len(robot.moving), 6),
    force then moment, payload (N, 10), root (N, 1). ``sin[i]``, ``cos[i]`` are taken of joint i's
    own angle.
    """
    columns: Columns = {}
    around = periods(robot)
    for name in names:
        word = parse(name)
        field, index, axis = word.kind, word.indices, word.axis
        if field in ("sin", "cos"):
            angle = joint_angle(robot, index[0], np.asarray(state["q"]), around)
            columns[name] = np.sin(angle) if field == "sin" else np.cos(angle)
        elif axis:
            columns[name] = np.asarray(state[field])[:, index[0], WRENCH.index(axis)]
        elif field in SAMPLED:
            columns[name] = np.asarray(state[field])[_from_the_end(index, robot.nv)]
        else:
            columns[name] = np.asarray(state[field])[:, index[0]]
    return columns


def turning_inputs(design: Design, robot: Robot) -> dict[str, int]:
    """Graph inputs that are angles → after how many whole turns they mean the same again."""
    around = periods_of(design, robot)
    return {spell(of, k): n for k, n in around.items() for of in ("q", "q_ref")}


def unit_inputs(robot: Robot, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Graph inputs that are vectors of length 1: (cos, sin) of an angle, or a quaternion."""
    found: list[tuple[str, ...]]
    found = [(spell("cos", i), spell("sin", i)) for i in range(len(robot.joints))]
    for i in robot.free:
        at = robot.q_slices[i]
        if (start := _turned(robot, i)) is not None:
            found.append(tuple(spell("q", k) for k in range(start, at.stop)))
    return tuple(unit for unit in found if not set(unit).isdisjoint(names))


def _turned(robot: Robot, joint: int) -> int | None:
    """The first coordinate of a joint's quaternion or (cos, sin), the last ones that it has."""
    at = robot.q_slices[joint]
    kind = robot.joints[joint].kind
    return {JointKind.FLOATING: at.start + 3, JointKind.PLANAR: at.start + 2}.get(kind)


def random_inputs(
    robot: Robot, names: Sequence[str], n: int, seed: int, inverse: float = 3.0
) -> Columns:
    """Graph inputs (n,) of no robot's size, but with unit quaternions and (cos, sin).

    Where joints have friction, all velocities are below its width in every other state, and beyond
    it, to either side, in those between; of several widths between two of them after one another,
    to either side. ``inverse``: the size of M⁻¹. Where it is corrected, what
    is far from it gives powers of large numbers, beside which a zero has more than rounding noise.
    """
    rng = np.random.default_rng(seed)
    q = rng.uniform(-3.0, 3.0, (n, robot.nq))
    for i in robot.free:
        at = robot.q_slices[i]
        if (start := _turned(robot, i)) is not None:
            q[:, start : at.stop] /= np.linalg.norm(q[:, start : at.stop], axis=1, keepdims=True)
    state = {name: rng.normal(0.0, 3.0, (n, robot.nv)) for name in ("qd", "qdd", "tau", "bias")}
    for k, own in drivetrains(robot).items():
        if widths := sorted({gears.width for gears in own if gears.friction}):
            slow, qd = np.arange(n) % 2 == 0, state["qd"][:, k]
            side = np.where(np.arange(n) % 4 == 1, 1.0, -1.0)
            beyond = side * (widths[-1] + np.abs(qd))
            part = np.abs(np.sin(qd))
            ways: list[tuple[float, float, Any]]  # between which, to which side
            ways = [(0.0, widths[0], np.sign(np.sin(qd)))]
            ways += [(*pair, side) for pair in pairwise(widths) for side in (1.0, -1.0)]
            moving = [side * (least + part * (most - least)) for least, most, side in ways]
            within = np.choose(np.arange(n) // 2 % len(ways), moving)
            state["qd"][:, k] = np.where(slow, within, beyond)
    state |= {
        "q": q,
        "f_ext": rng.normal(0.0, 3.0, (n, len(robot.moving), 6)),
        "Minv": rng.normal(0.0, inverse, (n, robot.nv, robot.nv)),
    }
    state[PAYLOAD] = any_payloads(n, rng)
    state[ROOT] = any_roots(n, rng)
    for name, size in (("q_ref", robot.nq), *((k, robot.nv) for k in FOLLOWED)):
        state[name] = rng.normal(0.0, 3.0, (n, size))
    return to_columns(robot, names, state)


def any_roots(n: int, rng: np.random.Generator) -> Array:
    """Random root flags (n, 1) for states: negative where the base's motion is prescribed."""
    return np.sign(rng.uniform(-1.0, 1.0, (n, 1)))


def input_limits(
    robot: Robot,
    names: Sequence[str],
    box: Bounds,
    samples: Mapping[str, Array] | None = None,
    gains: Gains | None = None,
) -> dict[str, tuple[float, float]]:
    """Lower and upper limit of each graph input; ``gains``: of a controller.

    τ, unless the box bounds it, and M⁻¹ have none of their own: theirs are the largest in
    ``samples``, graph inputs (N,) as ``to_columns`` gives them, and a margin.
    """
    limits: dict[str, tuple[float, float]] = {}
    followed = reference_limits(gains, box) if gains else {}
    for name in names:
        word = parse(name)
        field, axis, k = word.kind, word.axis, word.indices[0]
        if field in followed:
            least, most = followed[field]
            limits[name] = float(least[k]), float(most[k])
        elif field == "q":  # entries of quaternions and (cos, sin) within ±1, as the box says
            limits[name] = float(box.q_lower[k]), float(box.q_upper[k])
        elif field in ("sin", "cos", ROOT):
            limits[name] = -1.0, 1.0
        elif field == PAYLOAD:
            limits[name] = box.payload.words()[k]
        elif field not in SAMPLED:
            match field, axis[:1]:
                case "f_ext", "f":
                    largest = box.force
                case "f_ext", _:
                    largest = box.moment
                case _:
                    largest = float({"qd": box.qd, "qdd": box.qdd}[field][k])
            limits[name] = -largest, largest
    sampled = _sampled_limits([n for n in names if n not in limits], samples or {})
    for name, (_, upper) in sampled.items():
        if kind_of(name) == "tau":
            largest = min(upper, float(box.effort[indices(name)[0]]))
            sampled[name] = -largest, largest
    return limits | sampled


def _sampled_limits(
    names: Sequence[str], samples: Mapping[str, Array]
) -> dict[str, tuple[float, float]]:
    sampled = {n: float(np.abs(samples[n]).max()) for n in names}
    largest: dict[str, float] = {}
    for name, value in sampled.items():
        field = kind_of(name)
        largest[field] = max(value, largest.get(field, 0.0))
    limits = {}
    for name, value in sampled.items():
        limit = (1 + MARGIN) * max(value, SMALLEST * largest[kind_of(name)])
        limits[name] = -limit, limit
    return limits


def clip(robot: Robot, limits: Mapping[str, tuple[float, float]], state: dict[str, Array]) -> None:
    """Bring the state's τ and M⁻¹ within ``limits`` of graph inputs, in place."""
    for name, (lower, upper) in limits.items():
        field, index = kind_of(name), indices(name)
        if field in SAMPLED:
            for at in {index, index[::-1]}:
                place = _from_the_end(at, robot.nv)
                state[field][place] = np.clip(state[field][place], lower, upper)


def from_columns(
    columns: Mapping[str, NDArray[Any]],
    nv: int | None = None,
    first: int = 0,
    frames: int = 0,
    nq: int | None = None,
    counts: Mapping[str, int] = NO_COUNTS,
) -> dict[str, NDArray[Any]]:
    """Arrays (N, …) as `SHAPES` has them from graph outputs: ``tau[0]``, ``tau[1]`` … become tau.

    Entries that the graph omits are zero, M and Minv are mirrored. ``nv`` is the robot's (as many
    as the largest index needs unless given); the coordinates before ``first`` are left out.
    ``frames``: how many are named. ``nq``: nv unless given. ``counts``: as of `shape_of`.
    """
    grouped: dict[str, dict[tuple[int, ...], NDArray[Any]]] = {}
    for name, values in columns.items():
        grouped.setdefault(kind_of(name), {})[indices(name)] = values
    arrays = {}
    for kind, entries in grouped.items():
        size = max(max(index, default=0) for index in entries) + 1 if nv is None else nv
        skipped = skipped_of(kind, first)
        values = next(iter(entries.values()))
        shape = shape_of(kind, size - first, frames, nq, counts)
        array = np.zeros((len(values), *shape), values.dtype)
        for index, values in entries.items():
            places = {index, index[::-1]} if kind in SYMMETRIC else {index}
            for own in places:
                place: list[Any] = [k - before for k, before in zip(own, skipped, strict=True)]
                array[(slice(None), *place)] = values
        arrays[kind] = array
    return arrays


def as_outputs(
    arrays: Mapping[str, NDArray[Any]], names: Iterable[str], first: int = 0
) -> dict[str, NDArray[Any]]:
    """The outputs ``names`` of a graph, (N,) each, from arrays (N, …) as `from_columns` makes
    them."""
    found = {}
    for name in names:
        field = kind_of(name)
        if field in arrays:
            places = zip(indices(name), skipped_of(field, first), strict=True)
            place: list[Any] = [k - before for k, before in places]
            found[name] = arrays[field][(slice(None), *place)]
    return found


def _from_the_end(index: tuple[int, ...], size: int) -> tuple[Any, ...]:
    """Where an entry lies in a batch of arrays that may lack the first rows and columns."""
    return (slice(None), *(k - size for k in index))


def place_of_input(name: str, free: int, given: int) -> int:
    """The numbers before a graph's input in its array of one state, row by row.

    ``free``: coordinates whose motion is not given. τ and M⁻¹ have those alone: they lack the first
    ``given`` ones.
    """
    word, at = parse(name), 0
    if word.axis:
        return word.indices[0] * len(WRENCH) + WRENCH.index(word.axis)
    for index in word.indices:
        at = at * free + index - (given if word.kind in SAMPLED else 0)
    return at


def places_of_output(name: str, shape: Sequence[int], given: int) -> tuple[int, ...]:
    """The same of an output in its array of a ``shape``: one place, or, of an entry beside the
    diagonal of a symmetric matrix, two."""
    word, found = parse(name), []
    for own in (word.indices, word.indices[::-1])[: 1 + (word.kind in SYMMETRIC)]:
        at = 0
        for index, size, before in zip(own, shape, skipped_of(word.kind, given), strict=True):
            at = at * size + index - before
        found.append(at)
    return tuple(dict.fromkeys(found))


def revolute(robot: Robot) -> list[int]:
    """Indices of the joints that turn."""
    return [i for i, joint in enumerate(robot.joints) if joint.kind is JointKind.REVOLUTE]
