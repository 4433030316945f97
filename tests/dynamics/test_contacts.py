"""Forward dynamics while frames are held, traced, against the golden model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.verify import verify
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.frames import frame_of
from rbdgen.robot.model import Robot
from tests.support.random_robots import ALL_KINDS, SINGLE
from tests.support.traced import links_of, simplified, some_robot

TOLERANCE = 1e-10
WALKER = str(Path(__file__).parents[1] / "robots" / "walker.urdf")
FEET = ("lf_foot", "rf_foot", "lh_foot", "rh_foot")


def check(
    robot: Robot,
    links: tuple[str, ...],
    axes: int,
    damping: float,
    seed: int,
    functions: tuple[str, ...] = ("cfd", "osim"),
    **choices: Any,
) -> None:
    canonical = canonicalize(robot)
    frames = [frame_of(canonical, link) for link in links]
    held = axes, damping
    graph = verify(trace(canonical, functions, frames=frames, held=held, **choices))
    graph = simplified(graph, canonical)
    rng = np.random.default_rng(seed)
    q, qd, _ = golden.random_state(robot, 3, rng, 3.0)
    tau = rng.normal(0.0, 3.0, qd.shape)
    values = evaluate(graph, to_columns(canonical, graph.inputs, {"q": q, "qd": qd, "tau": tau}))
    found = from_columns(values, robot.nv, frames=len(links))
    motion = golden.constraint_dynamics(robot, q, qd, tau, links, axes, damping)
    wanted = {"qdd_c": motion.qdd, "lambda_c": motion.forces}
    if "osim" in functions:
        wanted["Lambda"] = golden.operational_inertia(robot, q, links, axes, damping)
    if "dcfd" in functions:
        slopes = golden.constraint_derivatives(robot, q, qd, tau, links, axes, damping)
        wanted |= slopes._asdict()
    for name, expected in wanted.items():
        scale = max(np.abs(expected).max(), 1.0)
        array = found.get(name, np.zeros_like(expected))
        np.testing.assert_allclose(array, expected, rtol=0, atol=TOLERANCE * scale)


@pytest.mark.parametrize("axes", [3, 6])
@pytest.mark.parametrize("seed", range(4))
def test_any_joints(axes: int, seed: int) -> None:
    """Contacts anywhere, more than there is freedom for, two on one body: damped."""
    kinds = ALL_KINDS if seed % 2 else SINGLE
    robot = some_robot(seed, kinds=kinds, fixed=0.3, floating_base=seed > 1)
    links = links_of(robot)
    check(robot, (links[-1], links[0], links[len(links) // 2]), axes, 0.1, seed)


@pytest.mark.parametrize(("seed", "axes", "base"), [(0, 6, False), (5, 3, False), (1, 3, True)])
def test_gradients(seed: int, axes: int, base: bool) -> None:
    robot = some_robot(seed, kinds=ALL_KINDS if seed % 2 else SINGLE, floating_base=base, mimic=0.4)
    links = links_of(robot)
    check(robot, (links[-1], links[0]), axes, 0.1, seed, ("dcfd",))


@pytest.mark.parametrize("formulation", ["logarithmic", "recursive"])
def test_gradients_of_other_formulations(formulation: str) -> None:
    _, robot = load(WALKER, base="floating")
    check(robot, ("left", "right"), 3, 0.01, 2, ("dcfd",), formulation=formulation)


@pytest.mark.parametrize("formulation", ["composite", "logarithmic"])
def test_feet_that_stand(formulation: str) -> None:
    _, robot = load("hyq", base="floating")
    check(robot, FEET[:3], 3, 0.0, seed=5, formulation=formulation)


def test_held_feet_do_not_accelerate() -> None:
    """J q̈ + J̇ q̇ = 0, which nothing of the algorithm is used for."""
    _, robot = load("hyq", base="floating")
    rng = np.random.default_rng(2)
    q, qd, _ = golden.random_state(robot, 5, rng, 2.0)
    tau = rng.normal(0.0, 30.0, qd.shape)
    qdd = golden.constraint_dynamics(robot, q, qd, tau, FEET).qdd
    J, drift = golden.frame_jacobians(robot, q, FEET), golden.frame_drifts(robot, q, qd, FEET)
    left = (np.einsum("nfij,nj->nfi", J, qdd) + drift)[..., :3]
    np.testing.assert_allclose(left, 0.0, rtol=0, atol=1e-8 * np.abs(drift).max())
