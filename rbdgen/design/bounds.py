"""States that a design must serve: how far, how fast and how hard its joints move; random ones.

Range analysis, simulation and measurements of errors draw their batches here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..robot.model import Array, JointKind, Robot, RobotError
from ..robot.rotors import drivetrains
from ..robot.variations import PAYLOAD
from .design import Design
from .limits import joint_limits, wrench_limits
from .payload import ContactLimits, PayloadLimits, random_payloads


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
    force, moment = wrench_limits(design)
    payload = PayloadLimits.of(design)
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


State = dict[str, Array]
SLOW = 0.25  # of the states in which a joint with friction is within
REVERSING = 1.5  # of its friction's widths


def random_states(
    robot: Robot,
    box: Bounds,
    n: int,
    seed: int | list[int],
    extremes: float = 0.0,
    share: float = 1.0,
) -> State:
    """q (n, nq), qd, qdd (n, nv), f_ext (n, moving, 6), uniform within ``box``; payload (n, 10).

    Velocities, accelerations and forces are within that ``share`` of their limits.
    Floating bodies take every orientation alike, planar ones every angle. The share ``extremes``
    of the states has every velocity, acceleration and force at one of its two limits, chosen at
    random: there the sums of many joints are largest. Where joints have friction, each is in a
    quarter of the states so slow that its friction changes with its speed, or nearly.
    """
    rng = np.random.default_rng(seed)
    wrench = np.array([box.force] * 3 + [box.moment] * 3)
    state = {
        "q": rng.uniform(box.q_lower, box.q_upper, (n, robot.nq)),
        "qd": rng.uniform(-box.qd, box.qd, (n, robot.nv)),
        "qdd": rng.uniform(-box.qdd, box.qdd, (n, robot.nv)),
        "f_ext": rng.uniform(-wrench, wrench, (n, len(robot.moving), 6)),
    }
    for i, turn in turns(robot).items():
        if robot.joints[i].kind is JointKind.FLOATING:
            # normal in each component: no direction of the four is preferred
            quaternion = rng.normal(size=(n, 4))
            state["q"][:, turn] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
        else:
            angle = rng.uniform(-np.pi, np.pi, n)
            state["q"][:, turn] = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    at_limit = int(n * extremes)
    for name, limit in (("qd", box.qd), ("qdd", box.qdd), ("f_ext", wrench)):
        values = state[name][:at_limit]
        values[:] = np.where(values < 0, -limit, limit)
    for k, own in drivetrains(robot).items():
        if widths := [gears.width for gears in own if gears.friction]:
            slow = np.minimum(REVERSING * max(widths), box.qd[k])
            slowly = rng.random(n) < SLOW
            state["qd"][slowly, k] = rng.uniform(-slow, slow, int(slowly.sum()))
    for name in ("qd", "qdd", "f_ext"):
        state[name] *= share
    state[PAYLOAD] = random_payloads(box.payload, n, rng)
    return state


def turns(robot: Robot) -> dict[int, slice]:
    """Joint index → its entries of q that are a unit vector: quaternion, or (cos θ, sin θ)."""
    lengths = {JointKind.FLOATING: 3, JointKind.PLANAR: 2}
    found = {}
    for i in robot.free:
        kind = robot.joints[i].kind
        if kind in lengths:
            at = robot.q_slices[i]
            found[i] = slice(at.start + lengths[kind], at.stop)
    return found
