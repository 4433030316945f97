"""Traced graphs of random robots, beside the golden model."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from rbdgen import golden
from rbdgen.dynamics.interface import from_columns, random_inputs, to_columns
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import UNCOMPUTED
from rbdgen.graph.verify import verify
from rbdgen.passes.identities import identities
from rbdgen.passes.sums import factor
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.frames import frame_of
from rbdgen.robot.model import Array, Robot, RobotError
from tests.support.random_robots import random_robot

STATES = 4
TOLERANCE = 1e-9
FUNCTIONS = ("id", "fd", "m", "minv", "did", "dfd", "difd", "g", "nle")
State = dict[str, Array]


def drawn(robot: Robot, seed: int) -> State:
    rng = np.random.default_rng(seed)
    q, qd, qdd = golden.random_state(robot, STATES, rng, velocity=3.0, acceleration=10.0)
    state = {"q": q, "qd": qd, "qdd": qdd}
    state["f_ext"] = rng.normal(0.0, 10.0, (STATES, len(robot.moving), 6))
    state["tau"] = golden.rnea(robot, q, qd, qdd, state["f_ext"])
    state["Minv"] = golden.minv(robot, q)
    return state


def expected(robot: Robot, function: str, state: State) -> dict[str, Array]:
    q, qd, qdd, f_ext = (state[k] for k in ("q", "qd", "qdd", "f_ext"))
    inverse = golden.rnea_derivatives(robot, q, qd, qdd, f_ext)
    forward = {
        "dqdd_dq": -state["Minv"] @ inverse.dtau_dq,
        "dqdd_dqd": -state["Minv"] @ inverse.dtau_dqd,
    }
    match function:
        case "id":
            return {"tau": state["tau"]}
        case "fd":
            return {"qdd": qdd}
        case "m":
            return {"M": inverse.M}
        case "minv":
            return {"Minv": state["Minv"]}
        case "did":
            gradients = {"dtau_dq": inverse.dtau_dq, "dtau_dqd": inverse.dtau_dqd}
            return {"tau": state["tau"], **gradients}
        case "dfd":
            return {"qdd": qdd, **forward}
        case "g":
            return {"g": golden.rnea(robot, q, 0 * qd, 0 * qd)}
        case "nle":
            return {"nle": golden.rnea(robot, q, qd, 0 * qd)}
        case _:
            return forward


def assert_golden(graph: Graph, robot: Robot, canonical: Robot, functions: Any, seed: int) -> None:
    state = drawn(robot, seed)
    values = evaluate(graph, to_columns(canonical, graph.inputs, state))
    found = from_columns(values, robot.nv)
    wanted: dict[str, Array] = {}
    for function in functions:
        wanted |= expected(robot, function, state)
    assert set(found) <= set(wanted)
    for name, reference in wanted.items():
        actual = found.get(name, np.zeros_like(reference))
        scale = max(np.abs(reference).max(), 1e-3)  # less is rounding noise of zeros
        assert np.abs(actual - reference).max() <= TOLERANCE * scale, name


def simplified(graph: Graph, canonical: Robot) -> Graph:
    """After the exact passes; whatever is computed belongs to a region."""
    assert all(node.region for node in graph.nodes if node.op not in UNCOMPUTED)
    graph = identities(verify(graph), random_inputs(canonical, graph.inputs, 8, 0))
    return verify(factor(verify(graph)))


def some_robot(seed: int, **choices: Any) -> Robot:
    """With joints, and with a mass matrix that can be inverted."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 2 + seed % 5, **choices)
    return robot if canonicalize(robot).nv else some_robot(seed + 100, **choices)


def by_turns(robots: int) -> list[tuple[str, int]]:
    """Functions and seeds: half of the robots for each function, all functions on each two."""
    pairs = product(range(robots), enumerate(FUNCTIONS))
    return [(function, seed) for seed, (k, function) in pairs if (seed // 2 + seed + k) % 2 == 0]


def links_of(robot: Robot) -> list[str]:
    """The links that a joint moves, fixed ones among them."""
    found = []
    for joint in robot.joints:
        try:
            frame_of(robot, joint.body)
        except RobotError:
            continue
        found.append(joint.body)
    return found
