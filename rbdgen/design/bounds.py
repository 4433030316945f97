"""The states that a design must serve: how far, how fast and how hard its joints move."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..robot.model import Array, JointKind, Robot, RobotError
from .contacts import ContactLimits
from .design import Design
from .limits import joint_limits
from .payload import PayloadLimits

DEFAULT_FORCE, DEFAULT_MOMENT = 200.0, 50.0  # N, N·m, each component


@dataclass(frozen=True, eq=False)
class Bounds:
    """Box of states that a design must serve: q in [q_lower, q_upper] (nq,), |qd| ≤ qd (nv,),
    |qdd| ≤ qdd (nv,), |tau| ≤ effort (nv,), infinite where nobody says; components of external
    forces within ``force`` and ``moment``, a payload within ``payload``, what holds a frame within
    ``contact``. SI units."""

    q_lower: Array
    q_upper: Array
    qd: Array
    qdd: Array
    effort: Array
    force: float
    moment: float
    payload: PayloadLimits
    contact: ContactLimits


def bounds(design: Design, robot: Robot) -> Bounds:
    """The states that the hardware's number formats must hold.

    An angle spans the whole turn unless the design says less: it enters by sine and cosine only,
    and a joint at its stop must not overflow. One that another joint follows at a fraction of its
    rate spans the URDF's limits, too. A slide has the range of the design, else of the
    URDF, else ``DEFAULT_TRAVEL``. Velocities come from the design, else the URDF, else defaults;
    efforts from the design, and bound what forward dynamics takes (`joint_limits`).
    """
    rows = joint_limits(design, robot)
    q = np.array([interval for row in rows for interval in row.positions]).reshape(-1, 2)
    rates = [
        (row.velocity[0], row.acceleration[0], row.effort[0])
        for row in rows
        for _ in range(row.count)
    ]
    v = np.array(rates).reshape(-1, 3)
    force = design.limits.force or DEFAULT_FORCE
    moment = design.limits.moment or DEFAULT_MOMENT
    payload = PayloadLimits.of(design.limits)
    contact = ContactLimits.of(design, robot, force)
    return Bounds(q[:, 0], q[:, 1], v[:, 0], v[:, 1], v[:, 2], force, moment, payload, contact)


def whole_turns(design: Design, robot: Robot) -> dict[int, bool]:
    """Which coordinates of a rollout are angles that stay within ±π; RobotError if it has none.

    None are those of joints whose positions are not numbers.
    """
    if any(joint.mimic for joint in robot.joints):
        raise RobotError(f"{robot.name}: rollouts cannot have mimic joints")
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
