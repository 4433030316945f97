"""M⁻¹, q̈ and its gradients as visits: the traced graph's values, and no more products than its."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.compile.flow import front_end
from rbdgen.dynamics.elimination import Pattern
from rbdgen.dynamics.interface import random_inputs
from rbdgen.dynamics.program import program
from rbdgen.dynamics.trace import trace
from rbdgen.graph.visits import Scaled
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.denavit_hartenberg import chained_frames
from rbdgen.words.order import EXACT, run
from tests.support.marks import fast_at, slow
from tests.support.random_robots import ALL_KINDS, random_robot
from tests.support.recorded import assert_same, inlined, visits_of


@pytest.mark.parametrize("seed", fast_at((0, 1), range(4)))
def test_any_tree(seed: int) -> None:
    """Joints of every kind; of those that mimic others L has more entries than the tree."""
    rng = np.random.default_rng(60 + seed)
    robot = canonicalize(random_robot(rng, 5, ALL_KINDS, branching=0.6, mimic=0.6 * (seed % 2)))
    graph = trace(robot, ["minv", "dfd", "step"])
    assert_same(program(robot, graph, 4), graph, robot)


def test_a_base_whose_motion_is_given() -> None:
    """Its rows and columns are left out."""
    made = front_end("hyq", base="floating", root="given", functions=("minv", "dfd"))
    assert_same(visits_of(made), made.graph, made.canonical)


@pytest.mark.parametrize(
    ("robot", "base"),
    [
        ("gantry", "fixed"),
        slow(("iiwa14", "fixed")),
        slow(("tiago_like", "fixed")),
    ],
)
def test_joints_in_units_of_their_own(robot: str, base: str) -> None:
    """For words; the outputs are in the robot's units."""
    for functions in (("m", "minv", "dfd"), ("did", "minv", "difd")):
        made = front_end(robot, functions=functions, base=base, external_forces=("all",))
        own = chained_frames(made.canonical)
        states = random_inputs(made.canonical, made.graph.inputs, 64, seed=5)
        visits = program(own, made.graph, 4, states=states)
        assert any(isinstance(s, Scaled) for read in visits.reads.values() for s in read.values())
        assert_same(visits, made.graph, made.canonical)


def test_a_payload_in_units_of_its_joint() -> None:
    made = front_end("iiwa14", functions=("fd",), payload="link_7")
    states = random_inputs(made.canonical, made.graph.inputs, 64, seed=5)
    visits = program(chained_frames(made.canonical), made.graph, 4, "link_7", states)
    assert_same(visits, made.graph, made.canonical)


@pytest.mark.parametrize(
    ("functions", "robot", "base", "more"),
    [
        ("minv", "iiwa14", "fixed", 0),
        ("minv", "hyq", "floating", -50),  # legs' entries are found once for all of the base
        slow(("minv", "tiago_like", "fixed", 26)),  # of a planar base, where others are zero
        ("fd", "iiwa14", "fixed", 1),
        slow(("fd", "hyq", "floating", 0)),
        ("fd", "gantry", "fixed", 0),
        ("dfd", "pendulum", "fixed", 0),
        slow(("dfd", "hyq", "fixed", 0)),
        slow(("dfd", "hyq", "floating", 0)),
        slow(("dfd", "tiago_like", "fixed", 7)),
        ("id,did,dfd", "pendulum", "fixed", 0),
        ("did,fd", "gantry", "fixed", 0),
        slow(("difd,fd", "iiwa14", "fixed", 0)),
        slow(("step", "iiwa14", "fixed", 0)),
        ("step,dfd", "gantry", "fixed", 0),
    ],
)
def test_values_and_products_of_all_visits(
    functions: str, robot: str, base: str, more: int
) -> None:
    """Their values, and beside the products of the traced graph theirs."""
    own = tuple(functions.split(","))
    made = front_end(robot, functions=own, base=base, factorisation="ltdl")
    visits = visits_of(made)
    assert_same(visits, made.graph, made.canonical)
    whole = inlined(visits, made.graph)
    states = random_inputs(made.canonical, made.graph.inputs, 4, 3)
    found, wanted = run(EXACT, whole, states).operations(), made.graph.operations()
    assert found["recip"] == wanted["recip"]
    assert found["mul"] <= wanted["mul"] + more


@pytest.mark.slow
@pytest.mark.parametrize(("functions", "template"), [("dfd", "slope"), ("difd", "product")])
def test_columns_of_legs_have_the_same_zeros(functions: str, template: str) -> None:
    """Of HyQ on a floating base: nothing is there for the nine joints of other legs."""
    visits = visits_of(front_end("hyq", base="floating", functions=(functions,)))
    hips = [v for v in visits.of(f"{template}_of18") if v.key[1] in (6, 9, 12, 15)]
    assert len(hips) == 8
    zeros = [{port for port, read in visits.reads[v].items() if read == 0.0} for v in hips]
    assert all(own == zeros[0] for own in zeros)
    assert len(zeros[0]) >= 9


def test_the_pattern_of_a_tree() -> None:
    """Two limbs on a base of one coordinate, of which one has two."""
    M = [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]]
    found = Pattern.of(M, dict.fromkeys(range(4), 0))
    assert found.above == {0: [], 1: [0], 2: [1, 0], 3: [0]}
    assert found.below == {0: [1, 3], 1: [2], 2: [], 3: []}
    assert found.hanging == {0: [0, 1, 2, 3], 1: [1, 2], 2: [2], 3: [3]}
    assert [found.room(k) for k in range(4)] == [4, 2, 2, 1]
    assert found.longest == 3
