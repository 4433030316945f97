"""Every traced function against the golden model: any tree, any joints, each formulation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen.compile.flow import front_end
from rbdgen.design.loading import load
from rbdgen.dynamics.trace import trace
from rbdgen.graph.node import Op
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import RobotError
from tests.support.marks import fast_at
from tests.support.random_robots import ALL_KINDS, SINGLE, random_robot
from tests.support.traced import FUNCTIONS, assert_golden, by_turns, simplified, some_robot


@pytest.mark.parametrize(("function", "seed"), by_turns(8))
def test_any_joints(function: str, seed: int) -> None:
    """Revolute, prismatic, planar and floating joints anywhere; forces on every body."""
    robot = some_robot(seed, kinds=ALL_KINDS if seed % 2 else SINGLE, fixed=0.2)
    canonical = canonicalize(robot)
    graph = trace(canonical, [function], external_forces=canonical.moving)
    assert_golden(simplified(graph, canonical), robot, canonical, [function], seed)


@pytest.mark.parametrize(("function", "seed"), by_turns(6))
def test_mimic_joints(function: str, seed: int) -> None:
    robot = some_robot(seed + 3, mimic=0.4, fixed=0.1)
    canonical = canonicalize(robot)
    graph = trace(canonical, [function], external_forces=canonical.moving)
    assert_golden(simplified(graph, canonical), robot, canonical, [function], seed)


@pytest.mark.parametrize("functions", [("did", "m"), ("id", "fd"), ("dfd", "minv"), FUNCTIONS])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), 2])
def test_several_share_one_graph(functions: tuple[str, ...], seed: int) -> None:
    robot = some_robot(seed, kinds=ALL_KINDS)
    canonical = canonicalize(robot)
    # τ is an input of one and an output of the other, whose names are apart
    graph = trace(canonical, functions, external_forces=canonical.moving)
    assert_golden(simplified(graph, canonical), robot, canonical, functions, seed)
    alone = [trace(canonical, [f]).operations()["mul"] for f in functions]
    assert graph.operations()["mul"] < sum(alone) or sum(map(bool, alone)) == 1


@pytest.mark.parametrize("formulation", ["composite", "recursive"])
@pytest.mark.parametrize("factorisation", ["ltdl", "mminvgen", "blocks"])
@pytest.mark.parametrize("seed", fast_at((0, 3), range(4)))
def test_formulations(formulation: str, factorisation: str, seed: int) -> None:
    robot = some_robot(seed, kinds=ALL_KINDS)
    canonical = canonicalize(robot)
    for functions in (("did",), ("dfd",), ("minv",), ("fd",)):
        graph = trace(
            canonical,
            functions,
            formulation=formulation,
            factorisation=factorisation,
            external_forces=canonical.moving,
        )
        assert_golden(simplified(graph, canonical), robot, canonical, functions, seed)


@pytest.mark.parametrize("multiplications", [3, 4])
@pytest.mark.parametrize("sincos_inputs", [False, True])
def test_variants_of_turns(multiplications: int, sincos_inputs: bool) -> None:
    robot = some_robot(4)
    canonical = canonicalize(robot)
    graph = trace(
        canonical,
        ["did", "m"],
        multiplications=multiplications,
        sincos_inputs=sincos_inputs,
        external_forces=canonical.moving,
    )
    assert_golden(simplified(graph, canonical), robot, canonical, ["did", "m"], 4)


# At most as many as were counted; fewer is better, more is a defect.
CEILINGS = [
    ("iiwa14", "fixed", "did", {}, 718, 183),
    ("iiwa14", "fixed", "did", {"formulation": "recursive"}, 1513, 755),
    ("iiwa14", "fixed", "did,m", {}, 732, 183),
    ("iiwa14", "fixed", "dfd", {}, 1406, 249),
    ("iiwa14", "fixed", "fd", {}, 321, 104),
    ("iiwa14", "fixed", "minv", {}, 262, 22),
    ("hyq", "fixed", "did", {}, 552, 460),
    ("hyq", "floating", "did", {}, 1867, 980),
    pytest.param("hyq", "floating", "dfd", {}, 6553, 1195, marks=pytest.mark.slow),
    ("humanoid", "fixed", "did", {}, 5848, 1964),
]


@pytest.mark.parametrize(("name", "base", "functions", "choices", "mul", "mulc"), CEILINGS)
def test_operation_counts(
    name: str, base: str, functions: str, choices: dict[str, str], mul: int, mulc: int
) -> None:
    design, robot = load(name, base=base)
    canonical = canonicalize(robot, design.snap)
    graph = simplified(trace(canonical, functions.split(","), **choices), canonical)
    count = graph.operations()
    assert count["mul"] <= mul
    assert count["mulc"] <= mulc


def test_a_branch_keeps_to_itself() -> None:
    """What legs on a fixed base do not share is neither computed nor given."""
    design, robot = load("hyq")
    canonical = canonicalize(robot, design.snap)
    graph = trace(canonical, ["minv", "m", "did"])
    for name in graph.outputs:
        if "," in name:
            i, j = (int(k) for k in name[name.index("[") + 1 : -1].split(","))
            assert i // 3 == j // 3, name


def test_a_given_base_leaves_its_rows_and_columns_out() -> None:
    design, robot = load("hyq", base="floating")
    canonical = canonicalize(robot, design.snap)
    graph = trace(canonical, ["dfd", "m"], root="given")
    places = [name for name in graph.outputs if "," in name or name.startswith("qdd")]
    assert all(int(k) >= 6 for n in places for k in n[n.index("[") + 1 : -1].split(","))
    assert "qdd[5]" in graph.inputs
    assert "qdd[6]" not in graph.inputs


def test_mminvgen_refuses_what_it_cannot_do() -> None:
    rng = np.random.default_rng(0)
    mimics = canonicalize(random_robot(rng, 8, mimic=0.6))
    assert any(joint.mimic for joint in mimics.joints)
    with pytest.raises(RobotError, match="mminvgen cannot have joints that mimic"):
        trace(mimics, ["minv"], factorisation="mminvgen")
    design, robot = load("hyq", base="floating")
    with pytest.raises(RobotError, match="mminvgen cannot have a base"):
        trace(canonicalize(robot, design.snap), ["fd"], factorisation="mminvgen", root="given")


def test_a_floating_base_is_cheaper_as_one_joint() -> None:
    """Six products of the quaternion, six of ω × v, six of ωωᵀ as in any body; no rotation."""
    robot = str(Path(__file__).parents[1] / "robots" / "quadruped.urdf")
    graph = front_end(robot, base="floating").graph
    out = [n for n in graph.nodes if n.region == ("forward", 0) and n.op is Op.MUL]
    back = [n for n in graph.nodes if n.region == ("backward", 0) and n.op is Op.MUL]
    assert (len(out), len(back)) == (18, 0)
