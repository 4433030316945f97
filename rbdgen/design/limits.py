"""How fast and how hard each joint of a design moves, and who said so."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..graph.evaluate import Interval
from ..robot.angles import endless, periods
from ..robot.model import FASTEST, JointKind, Limits, Robot
from ..robot.unsupported import SHOWN, few
from ..system.records import Record
from .arrays import needs
from .checks import by_joint
from .design import Design
from .functions import LAWS
from .nested import MotionLimits

# Where neither the design nor the URDF says: a brisk arm or leg.
DEFAULT_VELOCITY = {"angular": 10.0, "linear": 2.0}  # rad/s, m/s
DEFAULT_ACCELERATION = {"angular": 10.0, "linear": 10.0}  # rad/s², m/s²
DEFAULT_TRAVEL = (-1.0, 1.0)  # m
DEFAULT_FORCE, DEFAULT_MOMENT = 200.0, 50.0  # N, N·m, each component
# rad, m; a file's limit of a position beyond it is a way to say "none"
FARTHEST = {"angular": 16 * math.pi, "linear": 1000.0}
IN_DEGREES = 720.0  # rad/s: up to it a velocity may be that of an arm's joint in degrees a second
OPTIONS = ("velocity", "acceleration", "effort")
OPTION, FILE, URDF, DEFAULT = "option", "design file", "URDF", "default"
UNITS = {
    "position": {"angular": "rad", "linear": "m"},
    "velocity": {"angular": "rad/s", "linear": "m/s"},
    "acceleration": {"angular": "rad/s²", "linear": "m/s²"},
    "effort": {"angular": "N·m", "linear": "N"},
}
Said = tuple[float, str]  # a limit, and who said it


@dataclass(frozen=True)
class JointLimits:
    """The limits of one motion of a joint, "angular" or "linear": of |rates|, infinite where none.

    ``positions``: of each coordinate; entries of quaternions and (cos, sin) are within ±1.
    """

    joint: str
    motion: str
    count: int  # coordinates of v
    positions: tuple[Interval, ...]
    position_from: str
    velocity: Said
    acceleration: Said
    effort: Said


def joint_limits(design: Design, robot: Robot) -> list[JointLimits]:
    """The limits of a design, in the order of v; a floating joint has two rows, as a planar one.

    Options win over a joint's own limits in the design's file, those over what the file says of
    all joints, those over the URDF's, those over defaults. Efforts are the design's alone.
    """
    asked = {key: by_joint(v) for key in OPTIONS if (v := getattr(design, key)) is not None}
    around = periods_of(design, robot)
    found = []
    for i in robot.free:
        joint = robot.joints[i]
        own = design.joint_limits.get(joint.name, MotionLimits())
        turns = around.get(robot.q_slices[i].start) == 1
        for motion, count in motions(joint.kind):
            positions, said = _positions(
                joint.kind, motion, (own, design.limits), joint.limits, turns
            )
            options = {k: v.get(joint.name, v.get("")) for k, v in asked.items()}
            if joint.kind.nv > 1 and joint.name not in asked.get("effort", {}):
                options["effort"] = None  # nobody drives a floating base
            velocity, acceleration, effort = (
                _first(
                    (options.get(key), OPTION),
                    (getattr(own, key), FILE),
                    (
                        getattr(design.limits, key)
                        if key != "effort" or joint.kind.nv == 1
                        else None,
                        FILE,
                    ),
                    (joint.limits.speed if key == "velocity" else None, URDF),
                    (defaults[motion], DEFAULT),
                )
                for key, defaults in DEFAULTS.items()
            )
            found.append(
                JointLimits(
                    joint.name, motion, count, positions, said, velocity, acceleration, effort
                )
            )
    return found


def periods_of(design: Design, robot: Robot) -> dict[int, int]:
    """Coordinates of q → after how many whole turns what the design computes is the same again.

    To a controller a joint with limits is elsewhere after a turn: the way back is the one it came.
    """
    if set(LAWS).isdisjoint(design.functions):
        return periods(robot)
    return dict.fromkeys(sorted(endless(robot)), 1)


def wrench_limits(design: Design) -> tuple[float, float]:
    """The largest component of an external force [N], and of a moment [N·m]."""
    return design.limits.force or DEFAULT_FORCE, design.limits.moment or DEFAULT_MOMENT


def known_limits(design: Design, robot: Robot) -> dict[str, tuple[float, ...]]:
    """The limits that the design or the robot's file has, infinite where neither has one.

    ``position_lower`` and ``position_upper`` (nq,), ``velocity_limit``, ``acceleration_limit`` and
    ``effort_limit`` (nv,), SI units. Efforts are the file's where the design does not say.
    """
    files = {robot.joints[i].name: robot.joints[i].limits for i in robot.free}
    names = ("lower", "upper", *OPTIONS)
    found: dict[str, list[float]] = {name: [] for name in names}
    for row in joint_limits(design, robot):
        file = files[row.joint]
        positions = row.positions
        if len(positions) == row.count and row.position_from != FILE:
            known = row.position_from == URDF or _farthest(file) <= FARTHEST[row.motion]
            positions = ((file.lower, file.upper) if known else (-math.inf, math.inf),) * row.count
        found["lower"] += [lower for lower, _ in positions]
        found["upper"] += [upper for _, upper in positions]
        for name, (value, source) in (
            ("velocity", row.velocity),
            ("acceleration", row.acceleration),
            ("effort", row.effort),
        ):
            known = source != DEFAULT
            found[name] += [value if known else math.inf] * row.count
        if row.effort[1] == DEFAULT and file.effort > 0:
            found["effort"][-row.count :] = [file.effort] * row.count
    return {
        (f"position_{name}" if k < 2 else f"{name}_limit"): tuple(found[name])
        for k, name in enumerate(names)
    }


DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "velocity": DEFAULT_VELOCITY,
    "acceleration": DEFAULT_ACCELERATION,
    "effort": {"angular": math.inf, "linear": math.inf},
}


def _first(*said: tuple[float | None, str]) -> Said:
    """The first that says something: neither None nor infinite; the last, if none does."""
    for value, source in said:
        if value is not None and math.isfinite(value):
            return value, source
    return math.inf, said[-1][1]


def motions(kind: JointKind) -> list[tuple[str, int]]:
    """The motions of a joint, in the order of v, and how many coordinates of v each has."""
    return {
        JointKind.REVOLUTE: [("angular", 1)],
        JointKind.PRISMATIC: [("linear", 1)],
        JointKind.FLOATING: [("linear", 3), ("angular", 3)],
        JointKind.PLANAR: [("linear", 2), ("angular", 1)],
        JointKind.FIXED: [],
    }[kind]


def _positions(
    kind: JointKind, motion: str, said: tuple[MotionLimits, MotionLimits], file: Limits, turns: bool
) -> tuple[tuple[Interval, ...], str]:
    """Range of each of the motion's position coordinates; ``turns``: an angle is modulo 2π."""
    own, every = said[0].position, said[1].position
    if kind is JointKind.REVOLUTE:
        lower, upper = own or (-math.pi, math.pi)
        source = FILE if own else DEFAULT
        if turns and upper - lower >= 2 * math.pi:
            return ((-math.pi, math.pi),), source
        if not turns and own is None and math.pi < _farthest(file) <= FARTHEST["angular"]:
            return ((min(lower, file.lower), max(upper, file.upper)),), URDF
        return ((lower, upper),), source
    if kind is JointKind.PRISMATIC and own is None and _farthest(file) <= FARTHEST["linear"]:
        return ((file.lower, file.upper),), URDF
    if motion == "angular":
        return ((-1.0, 1.0),) * (4 if kind is JointKind.FLOATING else 2), DEFAULT
    travel = own or every
    count = {JointKind.FLOATING: 3, JointKind.PLANAR: 2}.get(kind, 1)
    return (travel or DEFAULT_TRAVEL,) * count, FILE if travel else DEFAULT


def no_limits(design: Design, robot: Robot) -> list[str]:
    """Notes where limits of the robot's file are a way to say "none", and none were chosen: one of
    all velocities, and one of each slide's way."""
    rows = {row.joint: row for row in joint_limits(design, robot)}
    files = {robot.joints[i].name: robot.joints[i].limits for i in robot.free}
    return [*_no_velocities(rows, files), *_no_ways(rows, files)]


def _no_velocities(rows: Mapping[str, JointLimits], files: Mapping[str, Limits]) -> Iterator[str]:
    said = {
        name: file.velocity
        for name, file in files.items()
        if math.isfinite(file.velocity) and rows[name].velocity[1] == DEFAULT
    }
    if not said:
        return
    values = [f"{value:g}" for value in sorted(set(said.values()))]
    shown = ", ".join(values[:SHOWN]) + (" …" if len(values) > SHOWN else "")
    turning = [value for name, value in said.items() if rows[name].motion == "angular"]
    degrees = any(FASTEST < value <= IN_DEGREES for value in turning)
    asked = " (in degrees? URDF's are rad/s)" if degrees else ""
    units = dict.fromkeys((rows[name].motion, rows[name].velocity[0]) for name in said)
    taken = " and ".join(f"{value:g} {UNITS['velocity'][motion]}" for motion, value in units)
    yield (
        f"velocity {shown} of {few(list(said))} taken for none{asked}: {taken}; --velocity says "
        "another"
    )


def _no_ways(rows: Mapping[str, JointLimits], files: Mapping[str, Limits]) -> Iterator[str]:
    for name, file in files.items():
        row, far = rows[name], FARTHEST["linear"] < _farthest(file) < math.inf
        if row.motion == "linear" and far and row.position_from == DEFAULT:
            lower, upper = row.positions[0]
            yield (
                f"position {file.lower:g} to {file.upper:g} m of {few([name])} taken for none: "
                f"{lower:g} to {upper:g} m; position in a design file's limits says another"
            )


def _farthest(file: Limits) -> float:
    return max(abs(file.lower), abs(file.upper))


def unused_limits(design: Design, robot: Robot) -> list[str]:
    """A note where efforts are limited and nothing takes any."""
    limited = any(math.isfinite(row.effort[0]) for row in joint_limits(design, robot))
    if not limited or "tau" in needs(design) or not set(LAWS).isdisjoint(design.functions):
        return []
    functions = ", ".join(design.functions)
    return [f"effort: bounds what forward dynamics takes; {functions} takes none, and is not less"]


@dataclass(frozen=True)
class Limit(Record):
    """A limit, or None, and who said it."""

    value: float | None
    unit: str
    from_: str


@dataclass(frozen=True)
class Travel(Record):
    """A range of positions; None of a direction, which may be any."""

    lower: float | None
    upper: float | None
    unit: str
    from_: str


@dataclass(frozen=True)
class LimitRow(Record):
    """The limits of a motion of a joint, as a report has them.

    Efforts are None where forward dynamics takes whatever the other limits make of it.
    """

    joint: str
    motion: str
    position: Travel
    velocity: Limit
    acceleration: Limit
    effort: Limit


def limits_table(design: Design, robot: Robot) -> tuple[LimitRow, ...]:
    """The limits, a row for each motion of each joint."""
    rows = []
    for row in joint_limits(design, robot):
        lower, upper = row.positions[0] if len(row.positions) <= row.count else (None, None)
        travel = Travel(lower, upper, UNITS["position"][row.motion], row.position_from)
        limits = {
            key: Limit(value if math.isfinite(value) else None, UNITS[key][row.motion], source)
            for key, (value, source) in (
                ("velocity", row.velocity),
                ("acceleration", row.acceleration),
                ("effort", row.effort),
            )
        }
        rows.append(LimitRow(row.joint, row.motion, travel, **limits))
    return tuple(rows)
