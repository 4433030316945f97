"""The same formulations as graphs: their values, their networks, their depth."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log2

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.dynamics.networks import NETWORKS
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.robot.model import Array, Drivetrain, Robot, RobotError
from rbdgen_host.parallel import FORWARD, INVERSE, traced
from rbdgen_host.parallel.chains import random_chain
from rbdgen_host.parallel.depth import depth, longest
from tests.support.random_robots import ALL_KINDS, random_robot

TREE = random_robot(np.random.default_rng(4), 7, ALL_KINDS, branching=0.5, floating_base=True)
MIMICS = random_robot(np.random.default_rng(1), 5, branching=0.4, mimic=0.4)


def values(graph: Graph, name: str, **state: Array) -> Array:
    """The vector ``name`` (N, nv) at a batch of states."""
    columns = {f"{kind}[{k}]": x[:, k] for kind, x in state.items() for k in range(x.shape[1])}
    found = evaluate(graph, {name: columns[name] for name in graph.inputs})
    return np.stack([found[f"{name}[{k}]"] for k in range(len(found))], 1)


def off(found: Array, expected: Array) -> float:
    return float((np.abs(found - expected).max(1) / np.abs(expected).max(1)).max())


@pytest.mark.parametrize("robot", [load("iiwa14")[1], load("hyq")[1], TREE, MIMICS])
@pytest.mark.parametrize("method", INVERSE)
def test_inverse_dynamics(robot: Robot, method: str) -> None:
    state = golden.random_state(robot, 3, np.random.default_rng(1))
    found = values(traced(robot, "id", method), "tau", **state._asdict())
    assert off(found, golden.rnea(robot, *state)) < 1e-12


@pytest.mark.parametrize("method", FORWARD)
@pytest.mark.parametrize("robot", [load("iiwa14")[1], load("hyq")[1], TREE, MIMICS])
def test_forward_dynamics(robot: Robot, method: str) -> None:
    state = golden.random_state(robot, 3, np.random.default_rng(2))
    tau = golden.rnea(robot, *state)
    if (robot is MIMICS and method != "jsiia") or (robot is TREE and method == "cfa"):
        with pytest.raises(RobotError):
            traced(robot, "fd", method)
        return
    found = values(traced(robot, "fd", method), "qdd", q=state.q, qd=state.qd, tau=tau)
    assert off(found, state.qdd) < 1e-10


@pytest.mark.parametrize("method", ["jsiia", "hybrid_abia"])
def test_rotors_damping_and_friction(method: str) -> None:
    rng = np.random.default_rng(3)
    robot = random_robot(rng, 3, branching=0.4)
    gears = [Drivetrain(*rng.uniform(0.1, 2.0, 3), width=0.5) for _ in robot.joints]
    moved = [replace(j, drivetrain=g) for j, g in zip(robot.joints, gears, strict=True)]
    robot = robot.with_joints(moved)
    q, qd, qdd = golden.random_state(robot, 6, rng)
    tau = golden.rnea(robot, q, qd, qdd)
    found = values(traced(robot, "id", "axes"), "tau", q=q, qd=qd, qdd=qdd)
    assert off(found, tau) < 1e-12
    found = values(traced(robot, "fd", method), "qdd", q=q, qd=qd, tau=tau)
    assert off(found, qdd) < 1e-10


def test_networks_serve_trees() -> None:
    robot = load("baxter")[1]
    state = golden.random_state(robot, 2, np.random.default_rng(1))
    for network in (*NETWORKS, "serial"):
        found = values(traced(robot, "id", "axes", network), "tau", **state._asdict())
        assert off(found, golden.rnea(robot, *state)) < 1e-12


def test_depth_of_a_sum() -> None:
    """Terms in the order in which they arrive, shifts and signs for nothing."""
    b = Builder()
    x = [b.input(f"x[{k}]") for k in range(5)]
    late = x[0] * x[1] * x[2]
    graph = Graph(tuple(f"x[{k}]" for k in range(5)), {"y": x[3] + (x[4] + (2.0 * x[0] - late))})
    found = depth(graph)
    assert (found.operations, found.multiplications, found.divisions) == (3, 2, 0)
    assert found.additions == 2
    assert longest(graph, {}) == 0


@pytest.mark.parametrize("n", [4, 7, 16])
def test_depth(n: int) -> None:
    """L = ⌈log₂ n⌉ levels of a network; in a row everything is n times."""
    L, robot = ceil(log2(n)), random_chain(n)
    axes = depth(traced(robot, "id", "axes"))
    assert axes.operations <= 9 * L + 16
    assert axes.multiplications <= L + 7
    link = depth(traced(robot, "id", "link"))
    assert link.operations <= 11 * L + 10
    assert link.multiplications <= 2 * L + 5
    assert depth(traced(robot, "m", "composite")).operations <= 5 * L + 23
    assert 7 * n < depth(traced(robot, "id", "serial")).operations <= 10 * n
    if n < 16:
        assert depth(traced(robot, "fd", "cfa", bias=None)).operations <= 33 * L + 46
