"""Rotors, damping and friction in every traced function, against the golden model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.dynamics.interface import from_columns, random_inputs, to_columns
from rbdgen.dynamics.motion import RobotState
from rbdgen.dynamics.program import program
from rbdgen.dynamics.rnea import rnea
from rbdgen.dynamics.scalars import FloatScalars
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.word import array_of
from rbdgen.robot.canonical import canonicalize, stages
from rbdgen.robot.denavit_hartenberg import chained_frames
from rbdgen.robot.model import Array, JointKind, Robot
from tests.support.random_robots import SINGLE, geared, random_robot
from tests.support.recorded import STATES, computed, same
from tests.support.traced import expected, simplified

EXACT, INVERTED = 1e-12, 1e-9  # of the largest entry; of what goes through M⁻¹
FUNCTIONS = ("id", "fd", "m", "minv", "did", "dfd", "difd", "g", "nle")


def robot_of(seed: int, mimic: float = 0.0, base: bool = False) -> Robot:
    rng = np.random.default_rng(seed)
    robot = random_robot(
        rng, 5, SINGLE, branching=0.0 if mimic else 0.3, mimic=mimic, floating_base=base
    )
    return geared(robot, rng)


def states(robot: Robot, seed: int) -> dict[str, Array]:
    """Half of them slower than friction's widths."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = golden.random_state(robot, 12, rng, velocity=5.0, acceleration=10.0)
    qd[::2] *= 0.05
    f_ext = np.zeros((12, len(robot.moving), 6))
    tau, Minv = golden.rnea(robot, q, qd, qdd), golden.minv(robot, q)
    return {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "f_ext": f_ext, "Minv": Minv}


def assert_golden(graph: Graph, robot: Robot, functions: tuple[str, ...], seed: int) -> None:
    canonical, state = canonicalize(robot), states(robot, seed)
    columns = to_columns(canonical, graph.inputs, state)
    found = from_columns(evaluate(graph, columns), robot.nv)
    for function in functions:
        for name, wanted in expected(robot, function, state).items():
            inverts = not {"fd", "minv", "dfd", "difd"}.isdisjoint(functions)
            allowed = (INVERTED if inverts else EXACT) * np.abs(wanted).max()
            np.testing.assert_allclose(found[name], wanted, rtol=0, atol=allowed, err_msg=name)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("formulation", ["composite", "recursive", "logarithmic"])
def test_every_function(formulation: str, function: str) -> None:
    robot = robot_of(1)
    canonical = canonicalize(robot)
    graph = simplified(trace(canonical, [function], formulation=formulation), canonical)
    assert_golden(graph, robot, (function,), 1)


@pytest.mark.parametrize("formulation", ["linear", "lathrop-linear", "lathrop-log"])
def test_formulations_of_inverse_dynamics_alone(formulation: str) -> None:
    rng = np.random.default_rng(2)
    chain = random_robot(rng, 4, [JointKind.REVOLUTE], branching=0.0)
    robot = geared(chain, rng)
    canonical = canonicalize(robot)
    if formulation != "linear":  # which asks for centres of mass
        *_, (_, canonical) = stages(robot, bodies=True)
    graph = simplified(trace(canonical, ["id"], formulation=formulation), canonical)
    state = states(robot, 2)
    found = from_columns(evaluate(graph, to_columns(canonical, graph.inputs, state)))["tau"]
    np.testing.assert_allclose(found, state["tau"], atol=EXACT * np.abs(state["tau"]).max())


@pytest.mark.parametrize("factorisation", ["ltdl", "mminvgen", "blocks"])
def test_every_way_to_the_inverse(factorisation: str) -> None:
    robot = robot_of(3)
    canonical = canonicalize(robot)
    functions = ("minv", "dfd")
    graph = simplified(trace(canonical, functions, factorisation=factorisation), canonical)
    assert_golden(graph, robot, functions, 3)


@pytest.mark.parametrize(("seed", "mimic", "base"), [(4, 0.6, False), (5, 0.0, True)])
@pytest.mark.parametrize("formulation", ["composite", "logarithmic"])
def test_mimic_joints_and_floating_bases(
    formulation: str, seed: int, mimic: float, base: bool
) -> None:
    robot = robot_of(seed, mimic, base)
    canonical, functions = canonicalize(robot), ("did", "m", "dfd")
    graph = simplified(trace(canonical, functions, formulation=formulation), canonical)
    assert_golden(graph, robot, functions, seed)


@pytest.mark.parametrize("formulation", ["composite", "logarithmic"])
def test_a_base_whose_motion_is_given(formulation: str) -> None:
    robot = robot_of(6, base=True)
    canonical, state = canonicalize(robot), states(robot, 6)
    graph = trace(canonical, ["fd", "minv"], root="given", formulation=formulation)
    given = state | {"tau": state["tau"][:, 6:], "Minv": golden.joint_minv(robot, state["q"])}
    columns = to_columns(canonical, simplified(graph, canonical).inputs, given)
    found = from_columns(evaluate(graph, columns), robot.nv, 6)
    np.testing.assert_allclose(found["qdd"], state["qdd"][:, 6:], atol=1e-8)
    np.testing.assert_allclose(found["Minv"], given["Minv"], atol=1e-9 * given["Minv"].max())


def test_numbers_in_place_of_nodes() -> None:
    robot = robot_of(7)
    state = states(robot, 7)
    own = RobotState(*(list(state[name].T) for name in ("q", "qd", "qdd")))
    tau = np.stack(rnea(FloatScalars(), canonicalize(robot), own), axis=1)
    np.testing.assert_allclose(tau, state["tau"], atol=1e-12 * np.abs(tau).max())


@pytest.mark.parametrize("functions", [("id",), ("did", "m")])
def test_joints_in_turn(functions: tuple[str, ...]) -> None:
    rng = np.random.default_rng(8)
    robot = geared(random_robot(rng, 4, [JointKind.REVOLUTE], branching=0.0), rng)
    own = [
        replace(j.drivetrain, friction=0.0) if k == 1 else j.drivetrain
        for k, j in enumerate(robot.joints)
    ]
    robot = robot.with_joints(
        [replace(j, drivetrain=d) for j, d in zip(robot.joints, own, strict=True)]
    )
    canonical = canonicalize(robot)
    graph = trace(canonical, functions)
    assert_golden(graph, robot, functions, 8)
    inputs = random_inputs(canonical, graph.inputs, STATES, 8)
    visits = program(chained_frames(canonical), graph, 4)
    assert len(visits.of("driven")) == 4
    same(computed(visits, inputs), evaluate(graph, inputs), array_of(graph.outputs))


@pytest.mark.parametrize("functions", [("did", "minv"), ("minv", "fd")])
def test_joints_in_units_of_their_own(functions: tuple[str, ...]) -> None:
    rng = np.random.default_rng(8)
    canonical = canonicalize(geared(random_robot(rng, 4, [JointKind.REVOLUTE]), rng))
    graph = trace(canonical, functions)
    inputs = random_inputs(canonical, graph.inputs, STATES, 8)
    visits = program(chained_frames(canonical), graph, 4, states=inputs)
    assert len(visits.of("driven")) == 4
    same(computed(visits, inputs), evaluate(graph, inputs), array_of(graph.outputs))


def test_what_they_cost() -> None:
    """A joint's friction takes two products, and its slope none besides; the rest constants."""
    rng = np.random.default_rng(9)
    bare = random_robot(rng, 3, [JointKind.REVOLUTE])
    robot = geared(bare, rng)
    for functions in (["id"], ["did"]):
        before, after = (trace(canonicalize(r), functions).operations() for r in (bare, robot))
        assert after["mul"] == before["mul"] + 2 * 3
    assert (
        trace(canonicalize(bare), ["m"]).operations()["mul"]
        == trace(canonicalize(robot), ["m"]).operations()["mul"]
    )
