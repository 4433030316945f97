"""Traced inverse dynamics against the golden model, on any tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.compile.flow import front_end
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Op
from rbdgen.graph.verify import verify
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import Array, Joint, JointKind, Robot, Transform
from tests.support.random_robots import random_robot

STATES = 8
TOLERANCE = 1e-10  # of the norm of a state's tau

State = dict[str, Array]


def random_state(robot: Robot, rng: np.random.Generator) -> State:
    q, qd, qdd = golden.random_state(robot, STATES, rng, velocity=3.0, acceleration=10.0)
    f_ext = rng.normal(0.0, 10.0, (STATES, len(robot.moving), 6))
    return {"q": q, "qd": qd, "qdd": qdd, "f_ext": f_ext}


def tau_of(graph: Graph, canonical: Robot, state: State) -> Array:
    columns = evaluate(graph, to_columns(canonical, graph.inputs, state))
    return from_columns(columns, canonical.nv)["tau"]


def assert_same(actual: Array, expected: Array, tolerance: float = TOLERANCE) -> None:
    error = np.linalg.norm(actual - expected, axis=1)
    assert np.all(error <= tolerance * np.linalg.norm(expected, axis=1)), error.max()


@pytest.mark.parametrize("branching", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(15))
def test_random_trees(seed: int, branching: float) -> None:
    """Revolute, prismatic, fixed and mimic joints, oblique gravity."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 1 + seed, branching=branching, mimic=0.2, fixed=0.2)
    canonical = canonicalize(robot)
    if not canonical.nv:
        canonical = canonicalize(robot := random_robot(rng, 1))
    state = random_state(robot, rng)
    graph = verify(trace(canonical, ["id"]))
    expected = golden.rnea(robot, state["q"], state["qd"], state["qdd"])
    assert_same(tau_of(graph, canonical, state), expected)


@pytest.mark.parametrize("seed", range(10))
def test_external_forces(seed: int) -> None:
    """On some bodies, in the frames that the robot was given in, not in the canonical ones."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 8, mimic=0.2)
    canonical = canonicalize(robot)
    pushed = [i for i in canonical.moving if rng.random() < 0.5] or [canonical.moving[-1]]
    state = random_state(robot, rng)
    for k, i in enumerate(canonical.moving):
        if i not in pushed:
            state["f_ext"][:, k] = 0.0
    graph = verify(trace(canonical, ["id"], external_forces=pushed))
    named = {name for name in graph.inputs if name.startswith("f_ext")}
    assert len(named) == 6 * len(pushed)
    expected = golden.rnea(robot, state["q"], state["qd"], state["qdd"], state["f_ext"])
    assert_same(tau_of(graph, canonical, state), expected)
    still = golden.rnea(robot, state["q"], state["qd"], state["qdd"])
    assert np.abs(expected - still).max() > 1.0


@pytest.mark.parametrize("seed", range(6))
def test_three_multiplications_a_turn_give_what_four_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = canonicalize(random_robot(rng, 7))
    state = random_state(robot, rng)
    four, three = (trace(robot, ["id"], multiplications=m) for m in (4, 3))
    assert_same(tau_of(verify(three), robot, state), tau_of(four, robot, state))


def test_three_multiplications_a_turn_are_fewer() -> None:
    robot = front_end("iiwa14").canonical
    four, three = (trace(robot, ["id"], multiplications=m).operations() for m in (4, 3))
    assert three["mul"] < four["mul"]
    assert three["add"] > four["add"]


@pytest.mark.parametrize("seed", range(6))
def test_sines_may_come_in(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = canonicalize(random_robot(rng, 7, mimic=0.2))
    state = random_state(robot, rng)
    angles, sines = (trace(robot, ["id"], sincos_inputs=s) for s in (False, True))
    assert_same(tau_of(verify(sines), robot, state), tau_of(angles, robot, state))
    assert not any(n.op in (Op.SIN, Op.COS) for n in sines.nodes)
    turning = [i for i, j in enumerate(robot.joints) if j.kind is JointKind.REVOLUTE]
    for i in turning:
        assert {f"sin[{i}]", f"cos[{i}]"} <= set(sines.inputs)
    assert len(set(sines.inputs)) == len(sines.inputs)


def test_every_rewrite_keeps_tau() -> None:
    """A frame moved by hand in place of the canonical one: the trace needs z axes only."""
    rng = np.random.default_rng(3)
    joints = [
        Joint(
            name=f"j{i}",
            kind=JointKind.REVOLUTE if i % 2 else JointKind.PRISMATIC,
            parent=i - 1,
            placement=j.placement,
            body=f"b{i}",
            inertia=j.inertia,
            link_frame=Transform(j.placement.rotation, [0.1, -0.2, 0.3]),
        )
        for i, j in enumerate(random_robot(rng, 5, branching=0.0).joints)
    ]
    robot = replace(random_robot(rng, 1), joints=tuple(joints))
    state = random_state(robot, rng)
    expected = golden.rnea(robot, *(state[k] for k in ("q", "qd", "qdd", "f_ext")))
    for form in (robot, canonicalize(robot)):
        graph = trace(form, ["id"], external_forces=form.moving)
        assert_same(tau_of(graph, form, state), expected)


def test_gravity_alone_holds_a_robot_up() -> None:
    """At rest tau balances gravity, and without gravity it vanishes."""
    rng = np.random.default_rng(0)
    robot = canonicalize(random_robot(rng, 5, plain=0.0))  # oblique: gravity moves each joint
    state = random_state(robot, rng)
    state["qd"][:] = state["qdd"][:] = 0.0
    assert np.abs(tau_of(trace(robot, ["id"]), robot, state)).min() > 0
    weightless = replace(robot, gravity=np.zeros(3))
    assert np.abs(tau_of(trace(weightless, ["id"]), weightless, state)).max() == 0


@pytest.mark.parametrize(
    ("robot", "mul", "mulc"),
    [("iiwa14", 124, 91), ("hyq", 156, 200), ("humanoid", 702, 641), ("gantry", 27, 31)],
)
def test_operations_stay_few(robot: str, mul: int, mulc: int) -> None:
    """Ceilings: lower is better."""
    count = front_end(robot).graph.operations()
    assert count["mul"] <= mul
    assert count["mulc"] <= mulc


def test_rewrites_take_operations_away() -> None:
    front = front_end("iiwa14")
    cost = [operations["mul"] + operations["mulc"] for _, operations in front.rewrites]
    assert cost == sorted(cost, reverse=True)
    assert cost[-1] < 0.75 * cost[0]


def test_regions_are_one_out_and_one_back_per_joint() -> None:
    robot = front_end("hyq").canonical
    graph = trace(robot, ["id"])
    regions = {node.region for node in graph.nodes if node.op not in (Op.INPUT, Op.CONST)}
    joints = range(len(robot.joints))
    assert regions <= {(kind, i) for kind in ("forward", "backward") for i in joints}
    # nothing on the way out needs anything from the way back, and children follow parents
    for node in graph.nodes:
        for arg in node.args:
            if node.region and arg.region and node.region[0] == "forward":
                assert arg.region[0] == "forward"
                assert arg.region[1] <= node.region[1]
            if node.region and arg.region and arg.region[0] == "backward":
                assert node.region[1] <= arg.region[1]
