"""The numbers that a robot of a model has to itself, and what all robots of the model share.

Two robots of one model are built alike: zeros, right angles, signs of axes and which joint carries
which are the same, and masses, lengths and inertias are nearly so. The first we call *structure*.
What it is, is found by trying: each parameter of the robot is made larger and smaller, and an entry
of the canonical robot that never moves is structure. How far the others move says how large they
may get, to first order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..graph.node import Node, Op
from ..graph.word import spell
from .canonical import merge_fixed
from .frames import align_axes
from .model import Array, Drivetrain, Inertia, Joint, Robot, RobotError, Transform
from .variations import ENTRIES, payload_of, variations, varied

Key = tuple[int, str]  # joint, which of its numbers
Entries = dict[Key, float]
Canonical = Callable[[Robot], Robot]

NUMBER = "number"  # the array of them
DRAWN, SEED = 32, 23  # robots of a model that states at random are of
AXES = "xyz"
INERTIA = (
    "mass",
    *(f"first moment {x}" for x in AXES),
    *(f"inertia {AXES[i]}{AXES[j]}" for i, j in ENTRIES),
)
# a regrouped body is flat, J_zz = J_xx + J_yy: its J_zz is no number of its own
ROD = "inertia zz less xx and yy"
SHIFT = tuple(f"place {x}" for x in AXES)
# a placement is Rz(γ) Rx(α) where its frame's axes allow it
TURNS = ("cos γ", "sin γ", "cos α", "sin α")
OFFSET = "offset"  # of a revolute joint's angle
DRIVE = ("armature", "damping", "friction", "friction width")
UNITS = {"mass": "kg", "first": "kg m", "inertia": "kg m²", "place": "m", OFFSET: "rad"}
UNITS |= {"armature": "kg m²", "damping": "N m s", "friction": "N m", "link": "m"}
EXACT = 1e-9  # of the largest entry of its kind: nearer is the same
SPARE, SQUARES = 0.05, 2.0  # beyond first order


@dataclass(frozen=True)
class Number:
    """One number that a robot has to itself: ``joint`` and ``what`` name it; its ``value``, and
    the ``lower`` and ``upper`` end of what words are made for [SI units]."""

    joint: str
    what: str
    value: float
    lower: float
    upper: float

    @property
    def unit(self) -> str:
        """Empty for sines and cosines."""
        return UNITS.get(self.what.split()[0], "")


@dataclass(frozen=True, eq=False)
class ModelParameters:
    """The numbers in which a canonical ``robot`` may differ from others; all else is structure.

    ``keys``: which entries those are, in the order of `table`. ``frames``: whether the frames that
    the file gave the links belong to it. ``slopes`` (K, P): how far a parameter of the file takes a
    number where it is off by the tolerance, to first order. ``drawn``: several robots of the
    model, the deviations (N, P) of their parameters in units of the tolerance, and their numbers
    (N, K).
    """

    robot: Robot
    keys: tuple[Key, ...]
    table: tuple[Number, ...]
    frames: bool
    slopes: Array
    drawn: tuple[Array, Array]

    @cached_property
    def values(self) -> Array:
        """(K,) of the robot itself."""
        return np.array([number.value for number in self.table])

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """The lower and the upper ends (K,)."""
        rows = np.array([(n.lower, n.upper) for n in self.table]).reshape(-1, 2)
        return rows[:, 0], rows[:, 1]

    def columns(self) -> dict[str, Array]:
        """The graph inputs (1,) that stand for them, of the robot itself."""
        return {number_name(k): np.array([value]) for k, value in enumerate(self.values)}

    def with_values(self, values: Any) -> Robot:
        """The robot with these numbers (K,), or with any other scalars in their place."""
        return _substituted(self.robot, dict(zip(self.keys, values, strict=True)))

    def of(self, other: Robot) -> Array:
        """The numbers (K,) of another canonical robot of the same structure.

        RobotError, naming joint and figure, for one that is built otherwise, or whose numbers are
        not among those that words are made for.
        """
        _refuse_other_tree(self.robot, other, self.frames)
        table, sizes = dict(zip(self.keys, self.table, strict=True)), _sizes(self.robot)
        own = entries(self.robot, self.frames)
        found = _turned_near(entries(other, self.frames), own)
        for key in sorted(own, key=_first_wrong):
            if key in table:
                _refuse_beyond(other, table[key], found[key])
            elif abs(found[key] - own[key]) > EXACT * max(sizes[_kind(key)], abs(own[key])):
                joint = self.robot.joints[key[0]]
                raise RobotError(
                    f'{other.name}: joint "{joint.name}": {key[1]} is {found[key]:.6g}, and '
                    f"{own[key]:.6g} in every robot of the design's structure"
                )
        return np.array([found[key] for key in self.keys])


def number_name(k: int) -> str:
    """The graph input that stands for the k-th number."""
    return spell(NUMBER, k)


def numbers_of(
    robot: Robot, canonical: Canonical, tolerance: float, frames: bool
) -> ModelParameters:
    """The numbers in which robots of a model may differ, as the robot's file has them.

    ``canonical`` rewrites it. ``tolerance``: by how much parameters may differ: masses and
    moments of inertia, rotors, damping and friction by a part of their own; centres of mass and
    places of joints, along each axis along which they have any, by a part of their longest entry;
    angles in radians.
    """
    rigid = align_axes(merge_fixed(robot))
    own = canonical(rigid)
    nominal, sizes = entries(own, frames), _sizes(own)
    names = list(nominal)
    values = np.array(list(nominal.values()))

    def numbers(other: Robot) -> Array:
        return np.array(list(_turned_near(entries(canonical(other), frames), nominal).values()))

    slopes = np.zeros((len(names), 0))
    if there := [numbers(other) - values for other in variations(rigid, tolerance)]:
        slopes = np.stack(there, axis=1)
    reach = np.abs(slopes).sum(axis=1)
    least = np.array([EXACT * sizes[_kind(key)] for key in names])
    found = np.flatnonzero(reach > least)
    keys = tuple(names[k] for k in found)
    deviations = _deviations(slopes.shape[1])
    drawn = np.stack([numbers(varied(rigid, tolerance * row))[found] for row in deviations])
    second = _second_order(own, rigid)
    table = []
    for k, (row, key) in enumerate(zip(found, keys, strict=True)):
        by = (1 + SPARE) * reach[row] + tolerance**2 * second.get((key[0], _kind(key)), 0.0)
        value, seen = nominal[key], drawn[:, k]
        ends = min(value - by, float(seen.min())), max(value + by, float(seen.max()))
        table.append(Number(own.joints[key[0]].name, key[1], value, *ends))
    return ModelParameters(own, keys, tuple(table), frames, slopes[found], (deviations, drawn))


def _second_order(own: Robot, rigid: Robot) -> dict[tuple[int, str], float]:
    """The factors of squared deviations, by joint and kind of entry.

    An entry of the file's body may be larger than what rewrites leave of it: the larger counts.
    """
    found: dict[tuple[int, str], float] = {}
    for robot in (own, rigid):
        for key, value in entries(robot, False).items():
            of = key[0], _kind(key)
            found[of] = max(found.get(of, 0.0), SQUARES * abs(value))
    return found


def _deviations(n: int) -> Array:
    """(DRAWN, n) of n parameters: none, some anywhere, half of them at corners."""
    rng = np.random.default_rng(SEED)
    rows = rng.uniform(-1.0, 1.0, (DRAWN, n))
    rows[DRAWN // 2 :] = np.sign(rows[DRAWN // 2 :])
    rows[0] = 0.0
    return rows


def entries(robot: Robot, frames: bool) -> Entries:
    """Every number of a canonical robot; ``frames``: of its links' frames, too."""
    found: Entries = {}
    for i, joint in enumerate(robot.joints):
        named: dict[str, Any] = dict(zip(INERTIA, payload_of(joint.inertia), strict=True))
        named[ROD] = named.pop("inertia zz") - named["inertia xx"] - named["inertia yy"]
        named |= dict(zip(SHIFT, joint.placement.translation, strict=True))
        named |= _turn_entries(joint.placement.rotation)
        named[OFFSET] = joint.offset
        own = joint.drivetrain
        named |= dict(zip(DRIVE, (own.armature, own.damping, own.friction, own.width), strict=True))
        if frames:
            pose = joint.link_frame
            named |= {f"link frame {x}": v for x, v in zip(AXES, pose.translation, strict=True)}
            named |= {f"link frame {k}": v for k, v in _nine(pose.rotation).items()}
        found |= {(i, name): float(value) for name, value in named.items()}
    return found


def _turned_near(found: Entries, own: Entries) -> Entries:
    """The entries with angles whole turns off, so that each is the nearest to a robot's ``own``."""
    return {
        key: value - math.tau * round((value - own[key]) / math.tau) if key[1] == OFFSET else value
        for key, value in found.items()
    }


def _turn_entries(R: Array) -> dict[str, float]:
    """The four of Rz(γ) Rx(α), or all nine with those of no meaning zero."""
    oblique = abs(R[2, 0]) > EXACT
    four = (0.0,) * 4 if oblique else (R[0, 0], R[1, 0], R[2, 2], R[2, 1])
    nine = _nine(R) if oblique else dict.fromkeys(_nine(R), 0.0)
    return dict(zip(TURNS, four, strict=True)) | nine


def _nine(R: Array) -> dict[str, float]:
    return {f"axes {AXES[i]}{AXES[j]}": float(R[i, j]) for i in range(3) for j in range(3)}


def _kind(key: Key) -> str:
    """The kind of an entry, the first word of its name: entries of a kind share a unit."""
    return key[1].split()[0]


def _sizes(robot: Robot) -> dict[str, float]:
    """The largest entry of each kind."""
    found: dict[str, float] = {}
    for key, value in entries(robot, True).items():
        kind = _kind(key)
        found[kind] = max(found.get(kind, 0.0), abs(value), 1e-12)
    found |= dict.fromkeys(("cos", "sin", "axes", OFFSET, "link"), 1.0)
    return found


def _substituted(robot: Robot, own: Mapping[Key, Any]) -> Robot:
    joints = []
    for i, joint in enumerate(robot.joints):
        at = {name: value for (k, name), value in own.items() if k == i}
        joints.append(_with(joint, at) if at else joint)
    return robot.with_joints(joints)


def _with(joint: Joint, own: Mapping[str, Any]) -> Joint:
    was = dict(zip(INERTIA, payload_of(joint.inertia).tolist(), strict=True))
    ten = [own.get(name, value) for name, value in was.items()]
    rod = was["inertia zz"] - was["inertia xx"] - was["inertia yy"]
    rod = own.get(ROD, 0.0 if abs(rod) <= EXACT * abs(was["inertia zz"]) else rod)
    ten[-1] = (ten[4] + ten[6]) + rod
    J: list[list[Any]] = [[0.0] * 3 for _ in range(3)]
    for (i, j), entry in zip(ENTRIES, ten[4:], strict=True):
        J[i][j] = J[j][i] = entry
    shift = joint.placement.translation.tolist()
    shift = [own.get(n, v) for n, v in zip(SHIFT, shift, strict=True)]
    gears = {
        name: own.get(said, getattr(joint.drivetrain, name))
        for name, said in zip(("armature", "damping", "friction", "width"), DRIVE, strict=True)
    }
    pose = joint.link_frame
    at = [
        own.get(f"link frame {x}", v) for x, v in zip(AXES, pose.translation.tolist(), strict=True)
    ]
    turned = {name.removeprefix("link frame "): v for name, v in own.items() if "link" in name}
    return replace(
        joint,
        inertia=Inertia(ten[0], np.array(ten[1:4]), np.array(J)),
        placement=Transform(_rotation(joint.placement.rotation, own), np.array(shift)),
        offset=own.get(OFFSET, joint.offset),
        drivetrain=Drivetrain(**gears),
        link_frame=Transform(_by_nine(pose.rotation, turned), np.array(at)),
    )


def _rotation(R: Array, own: Mapping[str, Any]) -> Any:
    if not any(name in own for name in TURNS):
        return _by_nine(R, own)
    values = _turn_entries(R)
    cg, sg, ca, sa = (own.get(name, values[name]) for name in TURNS)
    rows = [[cg, -(sg * ca), sg * sa], [sg, cg * ca, -(cg * sa)], [0.0, sa, ca]]
    return np.array([[_plain(entry) for entry in row] for row in rows])


def _plain(entry: Any) -> Any:
    """A number where an entry over numbers of the robot is the same for all, as 0 times any is."""
    constant = isinstance(entry, Node) and entry.op is Op.CONST
    return entry.value if constant else entry


def _by_nine(R: Array, own: Mapping[str, Any]) -> Any:
    named = _nine(R)
    rows = [[own.get(f"axes {a}{b}", named[f"axes {a}{b}"]) for b in AXES] for a in AXES]
    return np.array(rows)


def _first_wrong(key: Key) -> tuple[bool, int]:
    """Geometry first, from the base, then inertias, to the base: what is wrong makes others so."""
    i, what = key
    return (True, -i) if what.startswith(("mass", "first", "inertia")) else (False, i)


def _refuse_beyond(other: Robot, number: Number, value: float) -> None:
    """RobotError for what words have no room for."""
    slack = EXACT * max(abs(number.lower), abs(number.upper))
    if number.lower - slack <= value <= number.upper + slack:
        return
    unit = f" {number.unit}" if number.unit else ""
    raise RobotError(
        f'{other.name}: joint "{number.joint}": {number.what} {value:.6g}{unit}, beyond '
        f"{number.lower:.6g} to {number.upper:.6g}, which the words are made for; generate with a "
        "larger --tolerance"
    )


def _refuse_other_tree(own: Robot, other: Robot, frames: bool) -> None:
    """RobotError for one whose joints are others, or the links fixed to its bodies."""
    if len(own.joints) != len(other.joints):
        raise RobotError(
            f"{other.name}: {len(other.joints)} joints; the design's robot has {len(own.joints)}"
        )
    for a, b in zip(own.joints, other.joints, strict=True):
        for what, one, two in (
            ("is called", a.name, b.name),
            ("moves link", a.body, b.body),
            ("is", a.kind.value, b.kind.value),
            ("is carried by joint", a.parent, b.parent),
            ("follows", _followed(a), _followed(b)),
        ):
            if one != two:
                raise RobotError(
                    f'{other.name}: joint "{b.name}" {what} {two}, and {one} in the design: '
                    "another structure"
                )
    for f, g in zip(own.merged, other.merged, strict=False) if frames else ():
        off = max(
            np.abs(f.pose.rotation - g.pose.rotation).max(),
            np.abs(f.pose.translation - g.pose.translation).max(),
        )
        if f.link != g.link or off > EXACT:
            raise RobotError(
                f'{other.name}: link "{g.link}" is fixed elsewhere than in the design, where its '
                "frame is structure"
            )
    if not np.array_equal(own.gravity, other.gravity):
        raise RobotError(f"{other.name}: its gravity is another than the design's")


def _followed(joint: Joint) -> str:
    mimic = joint.mimic
    return f"{mimic.joint} times {mimic.multiplier:g} and {mimic.offset:g}" if mimic else "no other"
