"""Scalars by name: whose joint or frame, in which unit; errors of outputs by coordinate."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..graph.accuracy import REPORTED, SCALES, Accuracy, StateScale
from ..graph.word import (
    BASE_PARAMETERS,
    DIRECTIONS,
    FRAMES,
    PARAMETERS,
    SHAPES,
    Q,
    V,
    Word,
    X,
    array_named,
    first_of,
    parse,
)
from ..robot.base_parameters import base_columns
from ..robot.model import JointKind, Robot
from ..robot.variations import PAYLOAD
from ..system.records import NamedWord, Record, Scaled
from .arrays import given_coordinates, named_links
from .design import Design
from .limits import motions

# Powers of each unit: {"rad": 1, "s": -2}
Unit = Counter[str]
NONE: Mapping[str, int] = {}
LENGTH = {"angular": {"rad": 1}, "linear": {"m": 1}, "none": NONE}
FORCE = {"angular": {"N": 1, "m": 1}, "linear": {"N": 1}, "none": NONE}
QUANTITIES: Mapping[str, tuple[Mapping[str, Mapping[str, int]], int]] = {
    # a quantity: what it is of each motion, and how often it is taken by time
    "position": (LENGTH, 0),
    "velocity": (LENGTH, -1),
    "acceleration": (LENGTH, -2),
    "effort": (FORCE, 0),
    "momentum": (FORCE, 1),
    "inertia": ({"mass": {"kg": 1}, "first": {"kg": 1, "m": 1}, "second": {"kg": 1, "m": 2}}, 0),
}
MOMENTS = ("mass", *("first",) * 3, *("second",) * 6)  # of a body's parameters
# Array → the quantity of its first index, then those by which one divides, one for each index of v
ARRAYS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("q", "q_ref", "q_next", "p", "com", "subcom"), ("position",)),
    **dict.fromkeys(("qd", "qd_ref", "qd_next", "twist"), ("velocity",)),
    **dict.fromkeys(("qdd", "qdd_ref", "qdd_c", "drift"), ("acceleration",)),
    **dict.fromkeys(("tau", "tau_c", "bias", "g", "nle", "lambda_c"), ("effort",)),
    **dict.fromkeys(("J", "Jcom"), ("velocity", "velocity")),
    "hg": ("momentum",),
    "Ag": ("momentum", "velocity"),
    **dict.fromkeys(("M", "Lambda"), ("effort", "acceleration")),
    **dict.fromkeys(("Y", "Yb"), ("effort", "inertia")),
    **{
        f"d{array}_d{name}": (of, by)
        for array, of in (("qdd_c", "acceleration"), ("lambda_c", "effort"))
        for name, by in (("q", "position"), ("qd", "velocity"), ("tau", "effort"))
    },
    "Minv": ("acceleration", "effort"),
    "dtau_dq": ("effort", "position"),
    "dtau_dqd": ("effort", "velocity"),
    "dqdd_dq": ("acceleration", "position"),
    "dqdd_dqd": ("acceleration", "velocity"),
    "dM_dq": ("effort", "acceleration", "position"),
    "d2tau_dq2": ("effort", "position", "position"),
    "d2tau_dqd2": ("effort", "velocity", "velocity"),
    "d2tau_dq_dqd": ("effort", "position", "velocity"),
}
NUMBERS = {"kinetic": "J", "potential": "J", "h": "s"}
PURE = ("R", "far", "root", "steps")  # numbers without a unit
ORDER = ("N", "kg", "m", "rad", "s")  # in which factors of a unit are written
POWERS = {2: "²", 3: "³", 4: "⁴"}


@dataclass(frozen=True, kw_only=True)
class Field(NamedWord):
    """A word that is ``of`` joints, a frame or a link, in a ``unit``: "1" of a number without one.
    None where there is none, or where it is not known."""

    of: str | None = None
    unit: str | None = None


@dataclass
class Meanings:
    """The owners and units of the words of a design's functions.

    ``robot``: canonical, whose coordinates they are.
    """

    robot: Robot
    design: Design
    frames: tuple[str, ...] = field(init=False)
    payload: str = field(init=False)
    q: list[tuple[str, str]] = field(init=False)  # of each coordinate: its joint, and motion
    v: list[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        self.frames, self.payload = named_links(self.design)
        joints = [self.robot.joints[i] for i in self.robot.free]
        self.v = [
            (joint.name, motion)
            for joint in joints
            for motion, count in motions(joint.kind)
            for _ in range(count)
        ]
        self.q = [(joint.name, motion) for joint in joints for motion in _positions(joint.kind)]

    def fields(self, words: Mapping[str, Scaled]) -> tuple[Field, ...]:
        """Words of an interface by name."""
        return tuple(self.field(name, word) for name, word in words.items())

    def field(self, name: str, word: Scaled) -> Field:
        """A word with its owners and its unit."""
        of, unit = self.of(name)
        return Field(name, word.width, fraction=word.fraction, of=of or None, unit=unit or None)

    def of(self, name: str) -> tuple[str, str]:
        """A word's owners and unit: ``dtau_dq[1,0]`` → elbow, shoulder; N·m/rad.

        "" where it is of none, or not known.
        """
        word = parse(name)
        if word.kind in ("sin", "cos"):
            return self.robot.joints[word.indices[0]].name, "1"
        if word.kind == "f_ext":
            link = self.robot.joints[self.robot.moving[word.indices[0]]].body
            return link, "N" if word.axis.startswith("f") else "N·m"
        if word.kind == PAYLOAD:
            return self.payload, unit_of(["inertia"], [MOMENTS[word.indices[0]]])
        if word.kind in NUMBERS:
            return "", NUMBERS[word.kind]
        quantities = self._quantities(word)
        if not quantities and word.kind not in PURE:
            return "", ""
        places = list(self._places(word))
        owners = ", ".join(dict.fromkeys(owner for owner, _ in places if owner))
        moved = [motion for _, motion in places if motion]
        return owners, unit_of(quantities, moved) if quantities else "1"

    def _quantities(self, word: Word) -> tuple[str, ...]:
        """The quantities of an array, or of a part of A and B: q's change, then q̇'s."""
        if word.kind not in ("A", "B"):
            return ARRAYS.get(word.kind, ())
        row, column = ("velocity" if k >= len(self.v) else "position" for k in word.indices)
        return row, "effort" if word.kind == "B" else column

    @cached_property
    def _base_columns(self) -> tuple[tuple[int, int], ...]:
        return base_columns(self.robot, given_coordinates(self.design, self.robot))

    def _parameter(self, k: int, of: int | str) -> tuple[int, int]:
        """The joint and the place among ten of a column of Y or Y_b."""
        if of == BASE_PARAMETERS:
            return self._base_columns[k]
        body, place = divmod(k, len(MOMENTS))
        return self.robot.moving[body], place

    def _places(self, word: Word) -> Iterator[tuple[str, str]]:
        """The owner and the motion of each index; "" where it has none."""
        shape = (Q,) if word.kind == "q" else SHAPES.get(word.kind, (V,) * len(word.indices))
        for size, k in zip(shape, word.indices, strict=False):
            if size == Q:
                yield self.q[k]
            elif size == V:
                yield self.v[k]
            elif size == FRAMES:
                yield self.frames[k], ""
            elif size == 3:
                yield "", "linear"
            elif size == 6:
                yield "", "linear" if k < 3 else "angular"
            elif size == X:
                yield self.v[k % len(self.v)]
            elif size == DIRECTIONS:
                yield self.frames[k // 6], "linear" if k % 6 < 3 else "angular"
            elif size in (PARAMETERS, BASE_PARAMETERS):
                joint, moment = self._parameter(k, size)
                yield self.robot.joints[joint].body, MOMENTS[moment]


def row_of(meanings: Meanings, row: str) -> tuple[str, str, str]:
    """The joint, the quantity and the unit of a coordinate, or of a matrix's row as
    ``dtau_dq[3,:]``, whose columns have been multiplied with what they stand for; "" where it has
    none."""
    word = first_of(row)
    if SHAPES.get(word.kind, (V, V))[:1] != (V,):
        return "", "", ""
    joint, motion = meanings.v[word.indices[0]]
    quantity, *_ = ARRAYS.get(word.kind, ("",))
    return joint, quantity, unit_of([quantity], [motion]) if quantity else ""


def unit_of(quantities: Sequence[str], moved: Sequence[str]) -> str:
    """The unit of the first quantity by the others, each of the motion at its index."""
    powers = Unit()
    for k, (quantity, motion) in enumerate(zip(quantities, moved, strict=False)):
        units, seconds = QUANTITIES[quantity]
        sign = -1 if k else 1
        for unit, power in {**units[motion], "s": seconds}.items():
            powers[unit] += sign * power
    above = [f"{unit}{POWERS.get(n, '')}" for unit in ORDER if (n := powers[unit]) > 0]
    below = [f"{unit}{POWERS.get(-n, '')}" for unit in ORDER if (n := powers[unit]) < 0]
    over = "·".join(above) or "1"
    if not below:
        return over
    return f"{over}/{below[0]}" if len(below) == 1 else f"{over}/({'·'.join(below)})"


def _positions(kind: JointKind) -> list[str]:
    """The motion of each coordinate of a joint's q; none of a direction's components."""
    return {
        JointKind.FLOATING: ["linear"] * 3 + ["none"] * 4,
        JointKind.PLANAR: ["linear"] * 2 + ["none"] * 2,
    }.get(kind, [motion for motion, count in motions(kind) for _ in range(count)])


@dataclass(frozen=True)
class ScaleError(Record):
    """A coordinate's error at a scale: ``relative`` to what it is there, None where it is always 0;
    root mean square and largest, in its unit."""

    relative: float | None
    rms: float
    largest: float


@dataclass(frozen=True)
class CoordinateError(Record):
    """Errors of τ_k, q̈_k, a matrix's row …: ``row`` as ``dtau_dq[3,:]``, of ``joint``, in
    ``unit``.

    A row's are of what it makes of its columns' factors (`rbdgen.graph.accuracy`). ``effort``: the
    limit that the robot's file states; None where it states none, or the coordinate is no effort.
    ``function``: of an accelerator.
    """

    row: str
    joint: str
    unit: str
    effort: float | None
    scales: Mapping[str, ScaleError]
    function: str | None = None

    @property
    def array(self) -> str:
        return array_named(self.row)

    @property
    def name(self) -> str:
        """``qdd[2]``, or of an accelerator's function ``qdd[2] of fd``."""
        return f"{self.row} of {self.function}" if self.function else self.row

    def relative(self, scale: StateScale) -> float:
        """The relative error at a scale; 0 where it is not known."""
        own = self.scales.get(scale.name)
        return (own and own.relative) or 0.0


def coordinate_errors(
    design: Design, robot: Robot, found: Accuracy, function: str | None = None
) -> list[CoordinateError]:
    """The errors of each coordinate; ``function``: of an accelerator."""
    meanings = Meanings(robot, design)
    efforts = {
        robot.joints[i].name: robot.joints[i].limits.effort
        for i in robot.free
        if robot.joints[i].kind.nv == 1
    }
    errors = []
    for row in found.sums:
        joint, quantity, unit = row_of(meanings, row)
        limit = efforts.get(joint, math.inf) if quantity == "effort" else math.inf
        effort = limit if 0 < limit < math.inf else None
        scales = _scales(found, row)
        errors.append(CoordinateError(row, joint, unit, effort, scales, function))
    return errors


def _scales(found: Accuracy, row: str) -> dict[str, ScaleError]:
    """A row's errors at the scales of which there are states."""
    errors = {}
    for k, scale in enumerate(REPORTED):
        if found.sums[row][k].states:
            rms, largest = found.absolute(row, k)
            relative = found.error(row, k)
            # what it is at rest may be nothing, as of an axis along gravity
            known = math.isfinite(relative) and (scale in SCALES or found.moves(row, k))
            errors[scale.name] = ScaleError(relative if known else None, rms, largest)
    return errors


def worst_at(errors: Iterable[CoordinateError], scale: StateScale) -> CoordinateError | None:
    """The coordinate with the largest relative error at a scale, or, where no coordinate has any
    size there, the one that is off most; None where there are no states of it."""
    known = [own for own in errors if scale.name in own.scales]
    return max(
        known, key=lambda own: (own.relative(scale), own.scales[scale.name].rms), default=None
    )


def worst_share(errors: Iterable[CoordinateError]) -> float:
    """The largest error of all, over what its scale allows where 1 is allowed at the limits."""
    return max((own.relative(k) / k.times for own in errors for k in SCALES), default=0.0)


def brief(errors: Iterable[CoordinateError]) -> str:
    """``tau[6] 1.6e-02 | tau[0] 5.4e-03``: a function's worst coordinate at the limits, and at a
    tenth of them."""
    known = list(errors)
    parts = []
    for scale in SCALES:
        if worst := worst_at(known, scale):
            own = worst.scales[scale.name]
            absolute = f"{own.rms:.1e} {worst.unit}".rstrip()
            size = absolute if own.relative is None else f"{own.relative:.1e}"
            parts.append(f"{worst.row} {size}")
    return " | ".join(parts) or "-"


def said(error: CoordinateError, scale: StateScale) -> str:
    """``tau[6] ("wrist") off by 1.6e-02 at the limits (0.0055 N·m, 0.0001 of its effort limit)``,
    of its own size there."""
    own = error.scales[scale.name]
    whose = f' ("{error.joint}")' if error.joint else ""
    unit = f" {error.unit}" if error.unit else ""
    beside = f"{own.rms:.2g}{unit}"
    if error.effort:
        beside += f", {own.rms / error.effort:.1g} of its effort limit"
    if own.relative is None:
        return f"{error.name}{whose} off by {beside} {scale.name}"
    return f"{error.name}{whose} off by {own.relative:.1e} {scale.name} ({beside})"


def coordinate_table(
    errors: Iterable[CoordinateError],
) -> tuple[tuple[str, ...], list[list[str]]]:
    """A head, and a row for each coordinate."""
    head = (
        "",
        "joint",
        *(scale.name for scale in REPORTED),
        "RMS, at the limits",
        "of its effort limit",
    )
    limits = SCALES[0].name
    rows = []
    for error in errors:
        own = error.scales
        found = [own[s.name].relative if s.name in own else None for s in REPORTED]
        absolute, share = "-", "-"
        if limits in own:
            absolute = f"{own[limits].rms:.2g} {error.unit}".rstrip()
            share = f"{own[limits].rms / error.effort:.1g}" if error.effort else "-"
        relative = ("-" if x is None else f"{x:.1e}" for x in found)
        rows.append([error.name, error.joint or "-", *relative, absolute, share])
    return head, rows


def worst_lines(errors: Iterable[CoordinateError]) -> list[str]:
    """The worst coordinate of each scale, of its own size there, a line each."""
    known = list(errors)
    found = [(worst_at(known, scale), scale) for scale in REPORTED]
    return [said(own, scale) for own, scale in found if own]
