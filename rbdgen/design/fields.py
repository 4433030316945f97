"""The joints, frames and units of an interface's scalars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..graph.word import FRAMES, SHAPES, Q, V, Word, X, first_of, parse
from ..robot.base_parameters import SIZE, base_columns
from ..robot.model import JointKind, Robot
from ..robot.variations import PAYLOAD
from ..system.records import NamedWord, Scaled
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
}
# Array → the quantity of its first index, then those by which one divides, one for each index of v
ARRAYS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("q", "q_next", "p", "com"), ("position",)),
    **dict.fromkeys(("qd", "qd_next", "twist"), ("velocity",)),
    **dict.fromkeys(("qdd", "qdd_c", "drift"), ("acceleration",)),
    **dict.fromkeys(("tau", "bias", "g", "nle", "lambda_c"), ("effort",)),
    **dict.fromkeys(("J", "Jcom"), ("velocity", "velocity")),
    "hg": ("momentum",),
    "Ag": ("momentum", "velocity"),
    "M": ("effort", "acceleration"),
    "Minv": ("acceleration", "effort"),
    "dtau_dq": ("effort", "position"),
    "dtau_dqd": ("effort", "velocity"),
    "dqdd_dq": ("acceleration", "position"),
    "dqdd_dqd": ("acceleration", "velocity"),
    **{
        f"d{array}_d{name}": (of, by)
        for array, of in (("qdd_c", "acceleration"), ("lambda_c", "effort"))
        for name, by in (("q", "position"), ("qd", "velocity"), ("tau", "effort"))
    },
    "dM_dq": ("effort", "acceleration", "position"),
    "d2tau_dq2": ("effort", "position", "position"),
    "d2tau_dqd2": ("effort", "velocity", "velocity"),
    "d2tau_dq_dqd": ("effort", "position", "velocity"),
}
NUMBERS = {"kinetic": "J", "potential": "J", "h": "s"}
PURE = ("R", "far", "root", "steps")  # numbers without a unit
PAYLOAD_UNITS = ("kg", *("kg·m",) * 3, *("kg·m²",) * 6)
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
            return (self.robot.joints[word.indices[0]].name, "1")
        if word.kind == "f_ext":
            link = self.robot.joints[self.robot.moving[word.indices[0]]].body
            return (link, "N" if word.axis.startswith("f") else "N·m")
        if word.kind == PAYLOAD:
            return (self.payload, PAYLOAD_UNITS[word.indices[0]])
        if word.kind in NUMBERS:
            return ("", NUMBERS[word.kind])
        if word.kind in ("Y", "Yb"):
            return self._regressed(word)
        quantities = self._quantities(word)
        if not quantities and word.kind not in PURE:
            return "", ""
        places = list(self._places(word))
        owners = ", ".join(dict.fromkeys(owner for owner, _ in places if owner))
        moved = [motion for _, motion in places if motion]
        return owners, unit_of(quantities, moved) if quantities else "1"

    def _regressed(self, word: Word) -> tuple[str, str]:
        """The joint and the body of a regressor's entry, and its unit."""
        row, column = word.indices
        body, k = self.robot.moving[column // SIZE], column % SIZE
        if word.kind == "Yb":
            body, k = base_columns(self.robot, given_coordinates(self.design, self.robot))[column]
        joint, motion = self.v[row]
        powers = Unit(FORCE[motion])
        powers.subtract({"kg": 1, "m": 0 if k == 0 else 1 if k < 4 else 2})
        return f"{joint}, {self.robot.joints[body].body}", _spelt(powers)

    def _quantities(self, word: Word) -> tuple[str, ...]:
        """The quantities of an array, or of a part of A and B: q's change, then q̇'s."""
        if word.kind not in ("A", "B"):
            return ARRAYS.get(word.kind, ())
        row, column = ("velocity" if k >= len(self.v) else "position" for k in word.indices)
        return row, "effort" if word.kind == "B" else column

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
    return _spelt(powers)


def _spelt(powers: Unit) -> str:
    """``N·m/rad²``."""
    above = [f"{unit}{POWERS.get(n, '')}" for unit, n in powers.items() if n > 0]
    below = [f"{unit}{POWERS.get(-n, '')}" for unit, n in powers.items() if n < 0]
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
