"""Sums in one frame for each tree against the golden model, and what a network may do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from rbdgen.compile.flow import front_end
from rbdgen.compile.front import Front, frame_index
from rbdgen.design.loading import load
from rbdgen.dynamics.common_frame import centre, joined_roots, rerooted, roots, trees
from rbdgen.dynamics.interface import random_inputs
from rbdgen.dynamics.networks import NETWORKS, levels, plus, scan, subtree_sums
from rbdgen.dynamics.program import program
from rbdgen.dynamics.trace import trace
from rbdgen.graph.node import Node, Op
from rbdgen.graph.verify import verify
from rbdgen.graph.visits import Program
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import Joint, JointKind, Robot, RobotError, Transform, frozen
from rbdgen.words.order import EXACT, run
from tests.support.marks import slow
from tests.support.random_robots import ALL_KINDS, random_inertia, random_robot
from tests.support.recorded import assert_same, inlined
from tests.support.traced import FUNCTIONS, assert_golden, by_turns, simplified, some_robot


@pytest.mark.parametrize("network", [*NETWORKS, "threes", "serial"])
@pytest.mark.parametrize("places", [1, 2, 3, 7, 8, 19, 33])
def test_networks_give_every_prefix(network: str, places: int) -> None:
    """In order, each place once; in as many levels as the network is known for."""
    parent = {i: i - 1 for i in range(places)}
    items = {i: (i,) for i in range(places)}
    found = scan(items, parent, lambda _, a, b: a + b, network)
    assert found == {i: tuple(range(i + 1)) for i in range(places)}
    log = (places - 1).bit_length()
    count = len(list(levels(network, places)))
    most = {"brent-kung": max(2 * log - 1, 0), "threes": -(-log * 2 // 3) + 1, "serial": places - 1}
    assert count <= most.get(network, log)
    assert all(levels(network, places))
    with pytest.raises(ValueError, match="no network 'none'"):
        levels("none", places)


def test_sums_of_trees() -> None:
    """Of paths from the roots of a forest, and of subtrees."""
    parent = {0: -1, 1: 0, 2: 1, 3: 1, 4: 0, 5: -1, 6: 3, 7: 6, 8: 7}
    ones = {i: [1.0] for i in parent}
    below = subtree_sums(ones, parent, lambda _, a, b: plus(a, b))
    assert [int(n) for (n,) in below.values()] == [8, 6, 1, 4, 1, 1, 3, 2, 1]
    items = {i: (i,) for i in parent}
    paths = scan(items, parent, lambda _, a, b: a + b, "sklansky")
    assert paths[8] == (0, 1, 3, 6, 7, 8)
    assert paths[5] == (5,)


def test_the_frame_is_in_the_middle() -> None:
    robot = canonicalize(load("iiwa14")[1])
    (tree,) = trees(robot)
    assert centre(robot, tree) == 3
    assert rerooted(robot, tree, 3) == {3: -1, 2: 3, 4: 3, 1: 2, 5: 4, 0: 1, 6: 5}
    assert len(trees(canonicalize(load("hyq")[1]))) == 4


@pytest.mark.parametrize(("function", "seed"), by_turns(4))
def test_any_joints(function: str, seed: int) -> None:
    """Revolute, prismatic, planar and floating joints anywhere; forces on every body."""
    robot = some_robot(seed, kinds=ALL_KINDS, fixed=0.2)
    check(robot, function, seed)


@pytest.mark.parametrize("function", ["id", "did", "dfd"])
@pytest.mark.parametrize("seed", range(3))
def test_mimic_joints_and_floating_bases(function: str, seed: int) -> None:
    check(some_robot(seed + 3, mimic=0.4, floating_base=seed > 0), function, seed)


@pytest.mark.parametrize("choices", [{}, {"factorisation": "blocks"}])
def test_mimic_joints_join_trees(choices: dict[str, Any]) -> None:
    """Their sums are one region, and blocks of M⁻¹ may be of all limbs at once."""
    for seed in (1, 18, 51):
        robot = random_robot(np.random.default_rng(seed), 9, branching=0.4, mimic=0.3)
        first, root = joined_roots(robot), roots(robot)
        assert any(first[i] != root[i] for i in root)
        check(robot, "did,dfd", seed, **choices)


@pytest.mark.parametrize("functions", ["id,fd", "did,dfd,m", ",".join(FUNCTIONS)])
def test_several_share_one_graph(functions: str) -> None:
    check(some_robot(2, kinds=ALL_KINDS), functions, 2)
    check(some_robot(4, mimic=0.5), functions, 4)


@pytest.mark.parametrize("network", NETWORKS)
def test_any_network_and_any_frame(network: str) -> None:
    robot = some_robot(4)
    frames = range(len(canonicalize(robot).joints))
    for frame in frames[NETWORKS.index(network) :: len(NETWORKS)]:
        check(robot, "did", 4, network=network, frame=frame)


@pytest.mark.parametrize("functions", ["did,m", "dfd", "did,dfd"])
@pytest.mark.parametrize("choices", [{"kinds": ALL_KINDS}, {"mimic": 0.4, "floating_base": True}])
def test_products_in_pairs(functions: str, choices: dict[str, Any]) -> None:
    """Powers of two change nothing but words."""
    rng = np.random.default_rng(3)

    def largest(nodes: Sequence[Node]) -> list[float]:
        return [float(x) for x in rng.uniform(0.01, 100.0, len(nodes))]

    check(some_robot(5, **choices), functions, 5, largest=largest)


@pytest.mark.parametrize("name", ["iiwa14", "hyq", "baxter", "gantry"])
@pytest.mark.parametrize("functions", ["id", "did,m"])
def test_shipped_robots(name: str, functions: str) -> None:
    check(load(name)[1], functions, 0)


@pytest.mark.parametrize("functions", ["dfd", "fd,minv"])
@pytest.mark.parametrize("seed", range(3))
def test_blocks(functions: str, seed: int) -> None:
    """M⁻¹ by cofactors, of trees with several limbs, floating bases and mimicking joints."""
    choices = {"mimic": 0.4} if seed == 1 else {"floating_base": True}
    check(some_robot(seed + 4, **choices), functions, seed, factorisation="blocks")


def check(robot: Any, functions: str, seed: int, **choices: Any) -> None:
    canonical, names = canonicalize(robot), functions.split(",")
    graph = verify(
        trace(
            canonical,
            names,
            formulation="logarithmic",
            external_forces=canonical.moving,
            **choices,
        )
    )
    assert_golden(simplified(graph, canonical), robot, canonical, names, seed)


@pytest.mark.parametrize(
    ("name", "functions", "choices"),
    [
        ("iiwa14", "id", {"network": "brent-kung", "frame": "link_2"}),
        ("gantry", "did", {"external_forces": ("all",)}),
        ("gantry", "id,fd,minv", {}),
        slow(("iiwa14", "fd", {"payload": "link_7"})),
        slow(("hyq", "did,m", {"base": "floating"})),
        slow(("hyq", "minv,dfd", {})),
        slow(("iiwa14", "difd,id", {})),
        ("gantry", "step", {}),
    ],
)
def test_visits(name: str, functions: str, choices: dict[str, Any]) -> None:
    """As they are recorded: the traced graph's values, and inlined its operations."""
    made = front_end(
        name,
        functions=tuple(functions.split(",")),
        formulation="logarithmic",
        factorisation="ltdl",
        **choices,
    )
    visits = recorded(made)
    assert_same(visits, made.graph, made.canonical)
    states = random_inputs(made.canonical, made.graph.inputs, 4, 3)
    found = run(EXACT, inlined(visits, made.graph), states).operations()
    wanted = made.graph.operations()
    assert found["mul"] <= wanted["mul"] and found["recip"] == wanted["recip"]
    if not {"minv", "fd", "dfd", "step"}.intersection(made.design.functions):
        assert found["add"] <= wanted["add"] + 2
        assert found["mulc"] <= wanted["mulc"] + wanted["sincos"]  # visits have angles in turns


def recorded(made: Front) -> Program:
    design = made.design
    return program(
        made.canonical,
        made.graph,
        design.rotation,
        design.payload,
        formulation="logarithmic",
        network=design.network,
        frame=frame_index(design, made.canonical),
        step=design.step,
    )


@pytest.mark.parametrize("seed", [0, slow(1)])
def test_visits_of_any_tree(seed: int) -> None:
    """Joints of every kind, of which some mimic others; forces on every body."""
    rng = np.random.default_rng(71 + seed)
    robot = canonicalize(random_robot(rng, 4, ALL_KINDS, branching=0.6, mimic=0.6 * seed))
    for functions in (["id"], ["minv", "dfd"]):
        graph = trace(robot, functions, formulation="logarithmic", external_forces=robot.moving)
        assert_same(program(robot, graph, 4, formulation="logarithmic"), graph, robot)


# What the references of these forms take; fewer is better, more is a defect.
CEILINGS = [
    ("iiwa14", "id", 349, 120),
    ("iiwa14", "did", 1345, 180),
    ("iiwa14", "difd", 1870, 175),
    ("hyq", "id", 300, 224),
    ("hyq", "did", 810, 444),
    ("baxter", "id", 910, 381),
]


@pytest.mark.parametrize(("name", "function", "mul", "mulc"), CEILINGS)
def test_operation_counts(name: str, function: str, mul: int, mulc: int) -> None:
    design, robot = load(name)
    canonical = canonicalize(robot, design.snap)
    graph = simplified(trace(canonical, [function], formulation="logarithmic"), canonical)
    count = graph.operations()
    assert count["mul"] <= mul
    assert count["mulc"] <= mulc


@pytest.mark.parametrize("n", [4, 8, 16, 32])
def test_depth_of_chains(n: int) -> None:
    """Oblique axes and bodies of any shape: products of words in a row, and how many there are."""
    rng = np.random.default_rng(1)
    joints = []
    for i in range(n):
        angle, a, d = rng.uniform(-3, 3), *rng.uniform(0.05, 0.4, 2)
        c, s = np.cos(angle), np.sin(angle)
        place = Transform(np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]]), frozen([a, 0, d]))
        joints.append(
            Joint(
                f"j{i}",
                JointKind.REVOLUTE,
                i - 1,
                place if i else Transform(),
                f"l{i}",
                random_inertia(rng),
            )
        )
    chain = canonicalize(Robot("chain", tuple(joints)), 1e-9)
    graph = simplified(trace(chain, ["id"], formulation="logarithmic"), chain)
    depth: dict[Node, int] = {}
    for node in graph.nodes:
        depth[node] = max((depth[a] for a in node.args), default=0) + (node.op is Op.MUL)
    assert max(depth[node] for node in graph.outputs.values()) <= (n - 1).bit_length() + 4
    if n == 8:
        assert graph.operations()["mul"] <= 740
        assert graph.operations()["mulc"] <= 380


def test_refused() -> None:
    choices = {"formulation": "logarithmic", "factorisation": "mminvgen"}
    with pytest.raises(RobotError, match="mminvgen recurses from link to link"):
        front_end("iiwa14", functions=("minv",), **choices)
    with pytest.raises(RobotError, match="network: brent-kung is for formulation logarithmic"):
        load("iiwa14", network="brent-kung")
