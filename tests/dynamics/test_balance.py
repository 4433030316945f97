"""Units of joints: powers of two; what visits give stays what the graph gives."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from rbdgen.dynamics.interface import random_inputs
from rbdgen.dynamics.program import program
from rbdgen.dynamics.trace import trace
from rbdgen.graph.visits import Program, VisitResult, factored
from rbdgen.graph.word import indices, kind_of
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.denavit_hartenberg import chained_frames
from rbdgen.robot.model import JointKind
from tests.support.random_robots import ALL_KINDS, SINGLE, geared, lighter, random_robot
from tests.support.recorded import assert_same


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("functions", [("id",), ("did", "m"), ("minv", "fd")])
def test_any_tree(seed: int, functions: tuple[str, ...]) -> None:
    """Joints of every kind, some that mimic others, with forces and rotors."""
    rng = np.random.default_rng(73 + 2 * seed)
    robot = geared(random_robot(rng, 4, ALL_KINDS, branching=0.6, mimic=0.6 * seed), rng)
    robot = chained_frames(canonicalize(robot))
    graph = trace(robot, functions, external_forces=robot.moving)
    states = random_inputs(robot, graph.inputs, 64, seed)
    visits = program(robot, graph, 4, states=states)
    assert_same(visits, graph, robot)
    ends = [factored(s) for own in visits.reads.values() for s in own.values()]
    shifts = {by for word, by in ends if isinstance(word, VisitResult)}
    assert all(by > 0 and math.frexp(by)[0] == 0.5 for by in shifts)
    assert len(shifts) > 1


def test_a_chain_whose_links_grow_lighter() -> None:
    """Each link weighs a hundredth of the one before: units follow, and on the way to the base
    no child's words are read in a finer unit than their own."""
    rng = np.random.default_rng(7)
    robot = random_robot(rng, 4, [JointKind.REVOLUTE], branching=0.0)
    robot = chained_frames(canonicalize(lighter(robot, 100.0)))
    graph = trace(robot, ("did",))
    inputs = random_inputs(robot, graph.inputs, 256, 3)
    visits = program(robot, graph, 4, states=inputs)
    units = [units_of(visits)[k] for k in range(4)]
    assert all(after >= 8 * before for before, after in pairwise(units))
    shifts = [
        by
        for visit, own in visits.reads.items()
        for word, by in map(factored, own.values())
        if isinstance(word, VisitResult) and word.visit.template == visit.template
    ]
    assert max(shifts) <= 1 and min(shifts) < 1


@pytest.mark.parametrize("formulation", ["lathrop-linear", "lathrop-log"])
def test_a_chain_in_lathrops_recursions(formulation: str) -> None:
    rng = np.random.default_rng(8)
    robot = lighter(random_robot(rng, 4, SINGLE, branching=0.0), 10.0)
    robot = chained_frames(canonicalize(geared(robot, rng)))
    graph = trace(robot, ("id",), formulation=formulation)
    inputs = random_inputs(robot, graph.inputs, 64, 3)
    visits = program(robot, graph, 4, states=inputs, formulation=formulation)
    assert_same(visits, graph, robot)
    assert visits.shifted and len({*units_of(visits).values()}) > 1


def units_of(visits: Program) -> dict[int, float]:
    """Coordinate → the unit that its effort has where it is computed."""
    return {
        indices(name)[0]: 1 / factored(source)[1]
        for name, source in visits.outputs.items()
        if kind_of(name) == "tau"
    }
