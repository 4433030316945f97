"""Batches of random states within a design's limits: for ranges, simulation and error figures."""

from __future__ import annotations

import numpy as np

from ..robot.model import Array, JointKind, Robot
from ..robot.payload import PAYLOAD
from ..robot.rotors import drivetrains
from .bounds import Bounds
from .payload import random_payloads

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
