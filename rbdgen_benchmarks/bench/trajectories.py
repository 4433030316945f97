"""Trajectories of the arm and the legs: reaches, a figure eight, trotting in place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rbdgen import golden
from rbdgen.golden.tree import joint_pose, position
from rbdgen.robot.model import Array, Robot

from .ilqr import KNOTS, STEP, Tasks

TROTS = 8
EFFORT = 1e-4  # 1 / (N·m)²
TIP = np.array([0.0, 0.0, 0.1])  # m, of a tool in the last link's frame
EIGHT = np.array([0.06, 0.15, 0.05])  # m: half its extent in x and y; in z the whole
POSTURE = np.array([0.3, 0.6, 0.0, -1.4, 0.0, 1.0, 0.0])  # rad, where it begins
VIA = 9  # knots from one point of a path to the next where it is held to it: seven of them
SHARE = 0.02  # of the posture, where the tool leaves joints free
STANDING = (-0.2, 0.75, -1.5)  # rad: abduction, flexion, knee of each of HyQ's legs
LIFT, PERIOD = 0.3, 0.5  # rad that a hip flexes, s of a step of both diagonals


def arm(robot: Robot, reaches: Iterable[int]) -> Tasks:
    """A figure eight of the tool, and reaches of 0.3 to 1.2 rad a joint in a second, by seed."""
    starts, aims, weights = [], [], []
    n, reaches = robot.nv, tuple(reaches)
    path = eight(robot)
    starts.append(path[0])
    aims.append(_moving(path))
    weights.append(_weights(n, (1e-2, 1e-3), (1e3, 1e-1), VIA))
    for seed in reaches:
        rng = np.random.default_rng(seed)
        start = rng.uniform(-1.2, 1.2, n)
        goal = start + rng.uniform(0.3, 1.2, n) * rng.choice([-1, 1], n)
        starts.append(start)
        aims.append(np.tile(np.concatenate([goal, np.zeros(n)]), (KNOTS, 1)))
        weights.append(_weights(n, (1e-2, 1e-3), (1e3, 1e1)))
    names = ("figure eight", *(f"reach {seed}" for seed in reaches))
    return _tasks(robot, names, starts, aims, weights)


def legs(robot: Robot, trots: int = TROTS) -> Tasks:
    """Trotting in place with the trunk held: diagonal legs swing in turn, from seeded postures."""
    starts, aims, weights = [], [], []
    t = STEP * np.arange(KNOTS)
    standing = np.tile(STANDING, robot.nv // len(STANDING))
    phase = {"lf": 0.0, "rh": 0.0, "rf": 0.5, "lh": 0.5}
    for seed in range(trots):
        rng = np.random.default_rng(seed)
        lift = LIFT * rng.uniform(0.7, 1.3)
        path = np.tile(standing, (KNOTS, 1))
        for k, name in enumerate(robot.joint_names):
            # a leg swings in one half of the period, and stands in the other
            wave = np.sin(2 * np.pi * (t / PERIOD + phase[name[:2]]))
            swing = lift * np.maximum(wave, 0.0) ** 2
            if k % len(STANDING) == 1:
                path[:, k] += swing
            if k % len(STANDING) == 2:
                path[:, k] -= 2 * swing
        starts.append(standing + rng.uniform(-0.15, 0.15, robot.nv))
        aims.append(_moving(path))
        weights.append(_weights(robot.nv, (1e-2, 1e-3), (1e3, 1e-1), VIA))
    names = tuple(f"trot {seed}" for seed in range(trots))
    return _tasks(robot, names, starts, aims, weights)


def eight(robot: Robot) -> Array:
    """Joints (KNOTS, nq) whose tool runs a figure eight once: damped least squares on its path."""
    turn = np.linspace(0.0, 2 * np.pi, KNOTS)
    shape = np.stack([np.sin(2 * turn), np.sin(turn), 1 - np.cos(turn)], axis=1)
    path = tool(robot, POSTURE[None]) + EIGHT * shape
    q = np.tile(POSTURE, (KNOTS, 1))
    step = 1e-6
    for _ in range(100):
        miss = path - tool(robot, q)
        columns = [
            (tool(robot, q + step * e) - tool(robot, q - step * e)) / (2 * step)
            for e in np.eye(robot.nv)
        ]
        J = np.stack(columns, axis=2)
        # (JᵀJ + ε 1) δ = Jᵀ miss + ε (posture − q)
        left = np.swapaxes(J, 1, 2) @ J + SHARE**2 * np.eye(robot.nv)
        right = np.einsum("kij,ki->kj", J, miss) + SHARE**2 * (POSTURE - q)
        q = q + np.linalg.solve(left, right[:, :, None])[:, :, 0]
    return q


def tool(robot: Robot, q: Array) -> Array:
    """Where the tool of a chain is, (N, 3) in the base's frame, at q (N, nq)."""
    R, p = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    for i, joint in enumerate(robot.joints):
        p = p + R @ joint.placement.translation
        turned, moved = joint_pose(joint, position(robot, i, q))
        R = R @ joint.placement.rotation
        p = p + np.einsum("kij,kj->ki", R, moved)
        R = R @ turned
    found: Array = p + R @ TIP
    return found


def _moving(path: Array) -> Array:
    """States (KNOTS, 2n) that follow a path."""
    return np.concatenate([path, np.gradient(path, STEP, axis=0)], axis=1)


def _weights(
    n: int, along: tuple[float, float], there: tuple[float, float], every: int = KNOTS - 1
) -> Array:
    """Weights of q and of q̇ (KNOTS, 2n): those on the way, and at every ``every``-th knot."""
    found = np.tile(np.repeat(along, n), (KNOTS, 1))
    found[every::every] = np.repeat(there, n)
    return found


def _tasks(
    robot: Robot,
    names: tuple[str, ...],
    starts: Sequence[Array],
    aims: Sequence[Array],
    weights: Sequence[Array],
) -> Tasks:
    q, still = np.array(starts), np.zeros((len(starts), robot.nv))
    hold = golden.rnea(robot, q, still, still)
    start = np.concatenate([q, still], axis=1)
    return Tasks(names, start, np.array(aims), np.array(weights), hold[:, None], EFFORT)
