"""Second derivatives, traced, against the golden model: any joints, bases and formulations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.design.functions import GIVES
from rbdgen.design.loading import load
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.dynamics.tangent_space import brackets
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.word import indices, kind_of
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import JointKind, Robot
from tests.support.random_robots import ALL_KINDS, SINGLE, geared
from tests.support.traced import State, drawn, simplified, some_robot

TOLERANCE = 1e-12
ARRAYS = GIVES["ddid"]


def check(robot: Robot, seed: int, **choices: Any) -> Graph:
    canonical = canonicalize(robot)
    graph = trace(canonical, ["ddid"], external_forces=canonical.moving, **choices)
    graph = simplified(graph, canonical)
    assert_golden(graph, robot, canonical, drawn(robot, seed))
    return graph


def assert_golden(graph: Graph, robot: Robot, canonical: Robot, state: State) -> None:
    found = from_columns(evaluate(graph, to_columns(canonical, graph.inputs, state)), robot.nv)
    given = (state[name] for name in ("q", "qd", "qdd", "f_ext"))
    wanted = golden.rnea_second_derivatives(robot, *given)._asdict()
    assert set(found) <= set(wanted)
    for name, expected in wanted.items():
        actual = found.get(name, np.zeros_like(expected))
        assert np.abs(actual - expected).max() <= TOLERANCE * max(np.abs(expected).max(), 1.0), name


CASES = [("composite", seed) for seed in range(5)]
CASES += [(formulation, seed) for formulation in ("recursive", "logarithmic") for seed in (2, 3)]


@pytest.mark.parametrize(("formulation", "seed"), CASES)
def test_any_joints(formulation: str, seed: int) -> None:
    """Revolute, prismatic, planar and floating joints anywhere; forces on every body."""
    robot = some_robot(seed, kinds=ALL_KINDS if seed % 2 else SINGLE, fixed=0.2)
    check(robot, seed, formulation=formulation)


@pytest.mark.parametrize("seed", range(4))
def test_floating_bases_and_angles_given_as_sines(seed: int) -> None:
    check(some_robot(seed, floating_base=True), seed, sincos_inputs=seed % 2 == 1)


@pytest.mark.parametrize("seed", range(3))
def test_mimic_joints_with_rotors_and_friction(seed: int) -> None:
    robot = geared(some_robot(seed + 3, mimic=0.4), np.random.default_rng(seed))
    check(robot, seed)


def test_beside_other_functions() -> None:
    robot = some_robot(2, kinds=ALL_KINDS)
    canonical = canonicalize(robot)
    functions = ["did", "m", "dfd", "ddid"]
    together = trace(canonical, functions, external_forces=canonical.moving)
    alone = [trace(canonical, [name], external_forces=canonical.moving) for name in functions]
    assert set(together.outputs) == {name for graph in alone for name in graph.outputs}
    second = Graph(
        together.inputs, {n: x for n, x in together.outputs.items() if kind_of(n) in ARRAYS}
    )
    assert_golden(simplified(second, canonical), robot, canonical, drawn(robot, 2))
    assert together.operations()["mul"] < sum(graph.operations()["mul"] for graph in alone)


def test_a_given_base_leaves_its_rows_and_columns_out() -> None:
    design, robot = load("hyq", base="floating")
    canonical = canonicalize(robot, design.snap)
    graph = simplified(trace(canonical, ["ddid"], root="given"), canonical)
    assert min(k for name in graph.outputs for k in indices(name)) == 6
    state = drawn(robot, 0)
    state["f_ext"] = 0.0 * state["f_ext"]
    values = evaluate(graph, to_columns(canonical, graph.inputs, state))
    found = from_columns(values, robot.nv, 6)
    given = (state[name] for name in ("q", "qd", "qdd"))
    for name, expected in golden.rnea_second_derivatives(robot, *given)._asdict().items():
        np.testing.assert_allclose(found[name], expected[:, 6:, 6:, 6:], rtol=0, atol=1e-10)


@pytest.mark.parametrize(("name", "base"), [("iiwa14", "fixed"), ("hyq", "fixed")])
def test_zeros_are_of_the_structure_and_equal_entries_one_node(name: str, base: str) -> None:
    """An entry is there only if its three joints lie on one way to the base."""
    design, robot = load(name, base=base)
    canonical = canonicalize(robot, design.snap)
    graph = simplified(trace(canonical, ["ddid"]), canonical)
    ways: dict[int, set[int]] = {}
    for i, joint in enumerate(canonical.joints):
        ways[i] = {i} | ways.get(joint.parent, set())
    owner = {canonical.v_slices[i].start: i for i in canonical.free}
    for output, node in graph.outputs.items():
        kind, (i, j, k) = kind_of(output), indices(output)
        a, b, c = sorted(owner[n] for n in (i, j, k))
        assert {a, b, c} <= ways[c], output
        if kind in ("d2tau_dq2", "d2tau_dqd2"):
            assert graph.outputs[f"{kind}[{i},{k},{j}]"] is node
        elif kind == "dM_dq":
            assert graph.outputs[f"{kind}[{j},{i},{k}]"] is node
            assert k > min(i, j)  # what carries both turns them together
        else:
            assert not (i == k and j < i)


# At most as many; fewer is better, more is a defect. The tangents of ΔID's and M's graph along q
# and q̇, of each entry once: 2989 + 779 of iiwa 14, 4293 + 2394 of HyQ.
CEILINGS = [("iiwa14", "fixed", 2450, 605)]


@pytest.mark.parametrize(("name", "base", "mul", "mulc"), CEILINGS)
def test_operation_counts(name: str, base: str, mul: int, mulc: int) -> None:
    design, robot = load(name, base=base)
    canonical = canonicalize(robot, design.snap)
    count = simplified(trace(canonical, ["ddid"]), canonical).operations()
    assert count["mul"] <= mul
    assert count["mulc"] <= mulc


@pytest.mark.parametrize("kind", [JointKind.FLOATING, JointKind.PLANAR, JointKind.REVOLUTE])
def test_brackets_are_those_of_a_group(kind: JointKind) -> None:
    """Antisymmetric, with Jacobi's identity."""
    g = np.array(brackets(kind))
    assert (g == -g.swapaxes(1, 2)).all()
    # [e_i, [e_j, e_k]] and cyclic
    nested = np.einsum("mil,ljk->mijk", g, g)
    assert not (nested + nested.transpose(0, 2, 3, 1) + nested.transpose(0, 3, 1, 2)).any()
