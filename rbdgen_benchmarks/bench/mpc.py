"""Optimal motions by the generated controller, beside crocoddyl's: costs and times."""

from __future__ import annotations

import os
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from rbdgen.api.results import Mismatch
from rbdgen.design.loading import load
from rbdgen.system.quoting import Progress
from rbdgen_host.driver.predictive import PredictiveController

from . import mpc_problems as problems
from .cpu import processor
from .measurement import Row, measurement
from .solvers import INSTALL

ROBOT, REACHES, ALONG, STEPS = "iiwa14", 16, 63, 32
RUNS = 20  # solves of each, which alternate; the least counts
CLOSE = 1e-6  # costs, relative to each other
TOLERANCE = 1e-10
HEAD = (
    *("problem", "steps", "beside", "iterations", "of the peer", "cost", "the peer's, relative"),
    *("µs an iteration", "the peer's", "gain"),
)
FORWARD, INVERSE = "FDDP over forward dynamics", "FDDP over inverse dynamics"


def _legend() -> str:
    return (
        f"{ROBOT}; µs of CPU time of one thread by iterations, the least of {RUNS} solves that "
        "alternate. An iteration of ours has four step lengths; the evaluation before the first "
        f"one is part of a solve. crocoddyl and Pinocchio as PyPI has them. {processor()}, load "
        f"{os.getloadavg()[1]:.1f}."
    )


@measurement("mpc", "minutes", HEAD, legend=_legend, page=True)
def mpc(place: Path, progress: Progress) -> Generator[Row, None, str | None]:
    """Optimal motions of an arm by the generated controller, beside crocoddyl's FDDP."""
    _, robot = load(ROBOT)
    if find_spec("crocoddyl") is None:
        return f"crocoddyl is not here: {INSTALL['crocoddyl']}"
    controller = PredictiveController(ROBOT, STEPS, progress)
    start, problem = problems.reach(robot.nv, STEPS)
    own = problems.ours(controller, start, problem)
    for beside in (FORWARD, INVERSE):
        theirs = problems.crocoddyls(ROBOT, start, problem, beside == INVERSE)
        yield _row("all joints by 0.6 rad", STEPS, beside, own, theirs)
    controller = PredictiveController(ROBOT, ALONG, progress)
    for name, (start, problem) in problems.tasks(robot, range(REACHES)).items():
        own = problems.ours(controller, start, problem)
        theirs = problems.crocoddyls(ROBOT, start, problem)
        yield _row(name, ALONG, FORWARD, own, theirs)
    return None


def _row(name: str, steps: int, beside: str, own: problems.Solve, theirs: problems.Solve) -> Row:
    """The row of a problem; Mismatch where costs differ."""
    found = [solve(TOLERANCE) for solve in (own, theirs)]
    costs = [one.cost for one in found]
    off = (costs[1] - costs[0]) / costs[0]
    if abs(off) > CLOSE:
        raise Mismatch(f"{name}: a cost of {costs[0]:.9g}, beside {costs[1]:.9g}")
    least = [np.inf, np.inf]
    for _ in range(RUNS):
        for k, solve in enumerate((own, theirs)):
            one = solve(TOLERANCE)
            least[k] = min(least[k], 1e6 * one.took / one.iterations)
    gain = round(least[1] / least[0], 1)
    numbers = *(one.iterations for one in found), f"{costs[0]:.9g}", f"{off:.0e}"
    return name, steps, beside, *numbers, *(round(took, 1) for took in least), gain
