"""The states that a design must serve: how far, how fast and how hard its joints move."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .design import Design, MotionLimits
from .model import Array, JointKind, Limits, Robot, RobotError
from .wrapping import periods

# Where neither the design nor the URDF says: a brisk arm or leg.
DEFAULT_VELOCITY = {"angular": 10.0, "linear": 2.0}  # rad/s, m/s
DEFAULT_ACCELERATION = {"angular": 10.0, "linear": 10.0}  # rad/s², m/s²
DEFAULT_TRAVEL = (-1.0, 1.0)  # m
FARTHEST = 16 * math.pi  # rad; a limit of an angle beyond it is a way to say "none"
DEFAULT_FORCE, DEFAULT_MOMENT = 200.0, 50.0  # N, N·m, each component


@dataclass(frozen=True, eq=False)
class Bounds:
    """Box of states that a design must serve: q in [q_lower, q_upper] (nq,), |qd| ≤ qd (nv,),
    |qdd| ≤ qdd (nv,), |tau| ≤ effort (nv,), infinite where nobody says; components of external
    forces within ``force`` and ``moment``. SI units."""

    q_lower: Array
    q_upper: Array
    qd: Array
    qdd: Array
    effort: Array
    force: float
    moment: float


def bounds(design: Design, robot: Robot) -> Bounds:
    """The states that the hardware's number formats must hold.

    An angle spans the whole turn unless the design says less: it enters by sine and cosine only,
    and a joint at its stop must not overflow. One that another joint follows at a fraction of its
    rate spans the URDF's limits, too. A slide has the range of the design, else of the
    URDF, else ``DEFAULT_TRAVEL``. Velocities come from the design, else the URDF, else defaults.
    """
    rows: list[list[tuple[float, float]]] = []
    rates: list[list[tuple[float, float, float]]] = []
    around = periods(robot)
    for i in robot.free:
        joint = robot.joints[i]
        own = design.joint_limits.get(joint.name, MotionLimits())
        turns = around.get(robot.q_slices[i].start) == 1
        rows.append(_positions(joint.kind, own, design.limits, joint.limits, turns))
        rates.append(
            [
                (
                    _first(own.velocity, design.limits.velocity, joint.limits.velocity)
                    or DEFAULT_VELOCITY[motion],
                    _first(own.acceleration, design.limits.acceleration)
                    or DEFAULT_ACCELERATION[motion],
                    joint.limits.effort,
                )
                for motion in _motions(joint.kind)
            ]
        )
    q = np.array([row for joint_rows in rows for row in joint_rows]).reshape(-1, 2)
    v = np.array([rate for joint_rates in rates for rate in joint_rates]).reshape(-1, 3)
    force = design.limits.force or DEFAULT_FORCE
    moment = design.limits.moment or DEFAULT_MOMENT
    return Bounds(q[:, 0], q[:, 1], v[:, 0], v[:, 1], v[:, 2], force, moment)


def _positions(
    kind: JointKind, own: MotionLimits, every: MotionLimits, file: Limits, turns: bool
) -> list[tuple[float, float]]:
    """Range of each of the joint's position coordinates; ``turns``: angles are modulo 2π."""
    travel = own.position or every.position
    if kind is JointKind.REVOLUTE:
        lower, upper = own.position or (-math.pi, math.pi)
        if turns and upper - lower >= 2 * math.pi:
            return [(-math.pi, math.pi)]
        farthest = max(abs(file.lower), abs(file.upper))
        if not turns and own.position is None and farthest <= FARTHEST:
            return [(min(lower, file.lower), max(upper, file.upper))]
        return [(lower, upper)]
    if kind is JointKind.PRISMATIC:
        finite = math.isfinite(file.lower) and math.isfinite(file.upper)
        if finite and own.position is None:
            return [(file.lower, file.upper)]
        return [travel or DEFAULT_TRAVEL]
    lengths = 3 if kind is JointKind.FLOATING else 2
    return [travel or DEFAULT_TRAVEL] * lengths + [(-1.0, 1.0)] * (kind.nq - lengths)


def _motions(kind: JointKind) -> list[str]:
    return {
        JointKind.REVOLUTE: ["angular"],
        JointKind.PRISMATIC: ["linear"],
        JointKind.FLOATING: ["linear"] * 3 + ["angular"] * 3,
        JointKind.PLANAR: ["linear"] * 2 + ["angular"],
        JointKind.FIXED: [],
    }[kind]


def _first(*values: float | None) -> float | None:
    """The first value that says something: neither None nor infinite."""
    return next((v for v in values if v is not None and math.isfinite(v)), None)


def whole_turns(design: Design, robot: Robot) -> dict[int, bool]:
    """Which coordinates of a rollout are angles that stay within ±π; RobotError if it has none.

    None are those of joints whose positions are not numbers.
    """
    if design.angles == "sincos" or any(joint.mimic for joint in robot.joints):
        what = "sines that are given" if design.angles == "sincos" else "mimic joints"
        raise RobotError(f"{robot.name}: rollouts cannot have {what}")
    box, found = bounds(design, robot), {}
    for i in robot.free:
        joint, k = robot.joints[i], robot.v_slices[i].start
        if joint.kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC):
            raise RobotError(
                f'{robot.name}: joint "{joint.name}": rollouts are for joints that turn or slide; '
                f"this one is {joint.kind.value}"
            )
        found[k] = joint.kind is JointKind.REVOLUTE and bool(box.q_upper[k] >= math.pi)
    return found


def within_a_turn(angles: Array) -> Array:
    """The same angles, from -π up to π."""
    return np.remainder(angles + math.pi, 2 * math.pi) - math.pi
