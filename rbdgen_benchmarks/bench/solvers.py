"""Solvers over our dynamics, and over their own or a peer's: times of iterations and calls."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from rbdgen.api.results import Mismatch
from rbdgen.design.loading import load
from rbdgen.system.quoting import Progress
from rbdgen_host.driver import Dynamics

from .cpu import processor
from .measurement import Row, measurement
from .python import _least

RUNS = 40  # solves of each, which alternate; the least counts
CLOSE = 1e-6  # costs, relative to each other
HEAD = (
    *("solver", "problem", "beside", "iterations", "of the peer", "cost"),
    *("µs of", "ours", "the peer's", "gain"),
)
# The solver's package, the problem.
CASES = (
    ("crocoddyl", "iiwa14 reaches a state"),
    ("crocoddyl", "iiwa14 places its flange"),
    ("crocoddyl", "hyq turns in flight"),
    ("crocoddyl", "hyq sinks on its feet"),
    ("casadi", "iiwa14 reaches a state"),
    ("mujoco", "iiwa14 by computed torque"),
)
NEEDS = {"casadi": ("casadi", "adam"), "crocoddyl": ("crocoddyl",), "mujoco": ("mujoco",)}
INSTALL = {
    "crocoddyl": "pip install '.[solvers]'",
    "casadi": "pip install casadi",
    "adam": "pip install adam-robotics liecasadi",
    "mujoco": "pip install '.[robots]'",
}


def _legend() -> str:
    return (
        f"µs of CPU time of one thread, the least of {RUNS} solves that alternate, or of calls; an "
        "iteration: a whole solve by its knots and iterations, and one more for the evaluation "
        f"before them. {processor()}, load {os.getloadavg()[1]:.1f}."
    )


@measurement("solvers", "minutes", HEAD, cases=lambda: CASES, legend=_legend, page=True)
def solvers(
    place: Path, progress: Progress, solver: str, problem: str
) -> Generator[Row, None, str | None]:
    """Solvers over our dynamics, beside their own: µs of an iteration and of a call."""
    for package in NEEDS[solver]:
        if find_spec(package) is None:
            return f"{solver}, {problem}: no {package} here: {INSTALL[package]}"
    progress(f"{solver}: {problem}")
    if solver == "crocoddyl":
        from .crocoddyl_problems import PROBLEMS

        yield from _crocoddyl(problem, *PROBLEMS[problem](progress))
    elif solver == "casadi":
        yield from _casadi(problem, progress)
    else:
        yield from _mujoco(problem, progress)
    return None


def _crocoddyl(problem: str, knots: int, ours: Any, theirs: Any) -> Iterator[Row]:
    """A solve by FDDP of each; Mismatch where costs differ."""
    from .crocoddyl_problems import OWN

    took = alternating([ours, theirs])
    found = [own() for own in (ours, theirs)]
    iterations, costs = [own.iter for own in found], [own.cost for own in found]
    yield solved("FDDP", problem, OWN, iterations, costs, took, knots)

    def evaluation(solver: Any) -> Callable[[], Any]:
        task, xs, us = solver.problem, list(solver.xs), list(solver.us)
        return lambda: (task.calc(xs, us), task.calcDiff(xs, us))

    of, each = "an evaluation of a knot", [evaluation(own) for own in found]
    yield called("crocoddyl", problem, OWN, of, each, knots)


def _casadi(problem: str, progress: Progress) -> Iterator[Row]:
    """Calls of value and Jacobian, then a solve by IPOPT; Mismatch where values or costs differ."""
    from . import casadi_problems as problems

    both = problems.ours(progress), problems.theirs(progress)
    size = both[0].size1_in(0)
    state = list(np.random.default_rng(1).uniform(-1, 1, (3, size)))
    values = [np.array(own(*state))[:, 0] for own in both]
    if not np.allclose(values[0], values[1], rtol=1e-9):
        raise Mismatch(f"{problem}: accelerations are not the peer's")
    said = "casadi", problem, problems.BESIDE
    yield called(*said, "a value", [problems.call(own, state) for own in both])
    slopes = [problems.call(own.jacobian(), [*state, values[0]]) for own in both]
    yield called(*said, "a Jacobian", slopes)
    solves = [problems.reach(own, size) for own in both]
    counts, costs, _ = zip(*(own() for own in solves), strict=True)
    yield solved("IPOPT", *said[1:], counts, costs, alternating(solves), problems.NODES)


def solved(
    solver: str,
    problem: str,
    beside: str,
    iterations: Sequence[int],
    costs: Sequence[float],
    took: Sequence[float],
    knots: int,
) -> Row:
    """The row of a solve, ours and the peer's; Mismatch where costs differ."""
    if abs(costs[0] - costs[1]) > CLOSE * abs(costs[1]):
        raise Mismatch(f"{solver}, {problem}: a cost of {costs[0]:.9g}, beside {costs[1]:.9g}")
    each = [1e6 * t / (n + 1) / knots for t, n in zip(took, iterations, strict=True)]
    gain = round(took[1] / took[0], 2)
    said = f"{costs[0]:.6g}", "an iteration and knot"
    return (solver, problem, beside, *iterations, *said, *(round(x, 2) for x in each), gain)


def called(
    solver: str,
    problem: str,
    beside: str,
    of: str,
    calls: Sequence[Callable[[], Any]],
    knots: int = 1,
) -> Row:
    """The row of a call, ours and the peer's, of so many knots."""
    ours, theirs = (x / 1e3 / knots for x in _least(list(calls), runs=max(1, RUNS // 2)))
    gain = round(theirs / ours, 1)
    return (solver, problem, beside, "", "", "", of, round(ours, 3), round(theirs, 3), gain)


def alternating(solves: Sequence[Callable[[], Any]]) -> list[float]:
    """Seconds of CPU time of each: the least of solves that alternate."""
    least = [np.inf] * len(solves)
    for _ in range(RUNS):
        for k, own in enumerate(solves):
            start = time.process_time()
            own()
            least[k] = min(least[k], time.process_time() - start)
    return least


def _mujoco(problem: str, progress: Progress) -> Iterator[Row]:
    """Efforts and accelerations of one state; Mismatch where they differ."""
    import mujoco

    from rbdgen_host.driver.mujoco_states import MujocoStates

    robot, _, _ = problem.partition(" ")
    model = mujoco.MjModel.from_xml_path(load(robot)[0].robot)
    data = mujoco.MjData(model)
    dynamics = Dynamics(robot, "cpp", functions=("id", "fd"), progress=progress)
    states = MujocoStates(model, dynamics)
    data.qpos[:], data.qvel[:], data.qacc[:] = np.random.default_rng(1).uniform(
        -1, 1, (3, model.nv)
    )
    q, v = states.state(data)
    a, tau = data.qacc, np.empty(model.nv)
    mujoco.mj_inverse(model, data)
    if not np.allclose(dynamics.rnea(q, v, a), data.qfrc_inverse, rtol=1e-9):
        raise Mismatch("rnea is not mj_inverse")
    said = "mujoco", problem
    inverse = lambda: dynamics.rnea(q, v, a, out=tau), lambda: mujoco.mj_inverse(model, data)
    yield called(*said, "mj_inverse", "rnea", inverse)
    data.qfrc_applied[:] = tau
    forward = lambda: dynamics.aba(q, v, tau, out=a), lambda: mujoco.mj_forward(model, data)
    yield called(*said, "mj_forward", "aba", forward)
    other = mujoco.MjData(model)  # where the peer computes the efforts of a state that goes on
    stepping = [
        lambda: (dynamics.rnea(q, v, a, out=tau), mujoco.mj_step(model, data)),
        lambda: (mujoco.mj_inverse(model, other), mujoco.mj_step(model, data)),
    ]
    yield called(*said, "mj_inverse", "efforts and mj_step", stepping)
