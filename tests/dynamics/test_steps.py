"""Visits compute what the traced graph does: over real numbers, function by function."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from rbdgen.compile.flow import Front, front_end
from rbdgen.dynamics.interface import random_inputs
from rbdgen.dynamics.program import program
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.verify import verify
from rbdgen.graph.visits import Visit, VisitResult
from rbdgen.graph.word import array_of
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.denavit_hartenberg import chained_frames
from rbdgen.robot.model import JointKind
from tests.support.marks import fast_at, slow
from tests.support.random_robots import ALL_KINDS, random_robot
from tests.support.recorded import STATES, computed, same, visits_of

FUNCTIONS = ["id", "did", "m", "did,m"]


@cache
def front(robot: str, functions: str) -> Front:
    return front_end(robot, functions=tuple(functions.split(",")))


@pytest.mark.parametrize(
    ("robot", "functions", "rotation"),
    [
        (slow if robot == "baxter" else tuple)((robot, functions, 3 + (k + at) % 2))
        for k, robot in enumerate(["iiwa14", "hyq", "baxter"])
        for at, functions in enumerate(FUNCTIONS)
    ],
)
def test_visits_compute_the_function(robot: str, functions: str, rotation: int) -> None:
    made = front(robot, functions)
    inputs = random_inputs(made.canonical, made.graph.inputs, STATES, 9)
    actual = computed(visits_of(made, rotation), inputs)
    same(actual, evaluate(made.graph, inputs), array_of(made.graph.outputs))


@pytest.mark.parametrize("seed", range(6))
def test_any_chain(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = canonicalize(random_robot(rng, 1 + seed, [JointKind.REVOLUTE], branching=0.0))
    graph = trace(robot, ["did", "m"])
    inputs = random_inputs(robot, graph.inputs, STATES, seed)
    actual = computed(program(chained_frames(robot), graph, 4), inputs)
    same(actual, evaluate(graph, inputs), array_of(graph.outputs))


@pytest.mark.parametrize(
    ("robot", "base"),
    [("gantry", "fixed"), slow(("tiago_like", "fixed")), ("hyq", "floating")],
    ids=["prismatic", "planar base, mimic", "floating base, branches"],
)
def test_any_joint(robot: str, base: str) -> None:
    """Recorded as it is, in frames of any placement, and with most placements about x."""
    made = front_end(robot, functions=("did", "m"), base=base)
    inputs = random_inputs(made.canonical, made.graph.inputs, STATES, 9)
    for visits in (program(made.canonical, made.graph, 4), visits_of(made)):
        actual = computed(visits, inputs)
        same(actual, evaluate(made.graph, inputs), array_of(made.graph.outputs))


@pytest.mark.parametrize("seed", fast_at(range(3), range(6)))
def test_any_tree(seed: int) -> None:
    """Joints of every kind, of which some mimic others."""
    rng = np.random.default_rng(50 + seed)
    robot = canonicalize(random_robot(rng, 5, ALL_KINDS, branching=0.6, mimic=0.6))
    graph = trace(robot, ["did", "m"])
    inputs = random_inputs(robot, graph.inputs, STATES, seed)
    actual = computed(program(chained_frames(robot), graph, 4), inputs)
    same(actual, evaluate(graph, inputs), array_of(graph.outputs))


@pytest.mark.parametrize(
    ("robot", "base", "links", "bodies"),
    [
        ("iiwa14", "fixed", ["link_3", "link_7"], 2),
        ("hyq", "floating", ["trunk", "lf_shin", "rh_shin"], 3),
        ("gantry", "fixed", ["all"], 5),
    ],
)
def test_external_forces(robot: str, base: str, links: list[str], bodies: int) -> None:
    """On some of the bodies that share a template, or on all."""
    made = front_end(robot, functions=("did",), base=base, external_forces=tuple(links))
    inputs = random_inputs(made.canonical, made.graph.inputs, STATES, 9)
    visits = visits_of(made)
    same(computed(visits, inputs), evaluate(made.graph, inputs), array_of(made.graph.outputs))
    assert sum(visit.template.startswith("external") for visit in visits.reads) == bodies


@pytest.mark.parametrize("functions", FUNCTIONS)
def test_templates_are_as_they_say(functions: str) -> None:
    """Verified graphs; each input read, each output asked for, no input one number in all."""
    visits = visits_of(front("baxter", functions))
    wanted = {
        (source.visit.template, source.name)
        for source in [s for reads in visits.reads.values() for s in reads.values()]
        + list(visits.outputs.values())
        if isinstance(source, VisitResult)
    }
    for name, graph in visits.templates.items():
        verify(graph)
        assert all(set(visits.reads[visit]) == set(graph.inputs) for visit in visits.of(name))
        assert {(name, result) for result in graph.outputs} <= wanted
        for port in graph.inputs:
            sources = {visits.reads[visit][port] for visit in visits.of(name)}
            assert len(sources) > 1 or not isinstance(sources.pop(), float), (name, port)


def test_visits_read_of_those_before_them() -> None:
    seen: set[Visit] = set()
    for visit, sources in visits_of(front("hyq", "did,m")).reads.items():
        assert {s.visit for s in sources.values() if isinstance(s, VisitResult)} <= seen
        seen.add(visit)


def test_every_joint_and_pair_is_visited_once() -> None:
    """iiwa14: 7 joints in a row, 21 pairs, the last one's way back without a child."""
    visits = visits_of(front("iiwa14", "did"))
    number = {name: len(visits.of(name)) for name in visits.templates}
    assert number["out"] == number["back"] == 6
    assert number["out_base"] == number["back_base"] == 1
    assert number["column"] == 15
    assert number["column_base"] == 6
    assert len({(v.template, v.key) for v in visits.reads}) == sum(number.values())


@pytest.mark.parametrize(
    ("functions", "rotation", "products"),
    [
        ("id", 4, {"out": 52, "back": 10}),
        ("did", 4, {"out": 54, "back": 110, "column": 47, "column_base": 10}),
        ("did", 3, {"out": 51, "back": 101, "column": 40, "column_base": 10}),
        ("m", 4, {"back": 17, "column": 10, "column_base": 2}),
    ],
)
def test_products_stay_few(functions: str, rotation: int, products: dict[str, int]) -> None:
    """Ceilings for the templates of iiwa14; others have none. Lower is better."""
    visits = visits_of(front("iiwa14", functions), rotation)
    for name, graph in visits.templates.items():
        assert graph.operations()["mul"] <= products.get(name, 0), name
