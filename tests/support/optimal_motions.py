"""Optimal motions of a pendulum, drawn at random: for the textbook's solver and the generated."""

from __future__ import annotations

import numpy as np

from rbdgen.golden import ilqr
from rbdgen.robot.model import Array

LINK = "lower_rod"
STIFFNESS = (1.0, 2.0, 0.02, 0.5)  # of limits of q, q̇, q̈ and τ


def drawn_problem(rng: np.random.Generator, steps: int, most: Array) -> ilqr.Problem:
    """Aims of every state and of the tool's pose, and limits ± ``most`` (4, 2) of q, q̇, q̈, τ."""
    aims = steps + 1
    R = np.linalg.qr(rng.normal(size=(aims, 3, 3)))[0]
    R *= np.sign(np.linalg.det(R))[:, None, None]  # no reflections
    state, weight = rng.uniform(-1, 1, (aims, 4)), rng.uniform(0, 1, (aims, 4))
    hold = rng.uniform(-1, 1, (steps, 2))
    effort, acceleration = rng.uniform(0.01, 0.1, (2, 2))
    p = rng.uniform(-1, 1, (aims, 3))
    tool = ilqr.ToolCost(LINK, p, R, rng.uniform(0, 1, (aims, 3)), rng.uniform(0, 1, aims))
    limits = ilqr.Limits(-most, most, np.array(STIFFNESS))
    return ilqr.Problem(0.05, state, weight, hold, effort, acceleration, tool, limits)
