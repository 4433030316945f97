"""Programs of visits, computed and beside the graphs they were recorded with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rbdgen.compile.flow import Front
from rbdgen.dynamics.interface import random_inputs
from rbdgen.dynamics.program import program
from rbdgen.graph.evaluate import Array, evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.verify import verify
from rbdgen.graph.visits import Program, Source, Visit, VisitResult, factored
from rbdgen.graph.word import array_of
from rbdgen.robot.denavit_hartenberg import chained_frames
from rbdgen.robot.model import Robot

STATES = 8
TOLERANCE = 1e-9  # of the largest entry of an array, in units of their own
EXACT = 1e-12  # and in the same units


def visits_of(made: Front, rotation: int = 4) -> Program:
    return program(chained_frames(made.canonical), made.graph, rotation)


def computed(visits: Program, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Visit by visit, in their order."""
    found: dict[Visit, dict[str, Array]] = {}

    def read(source: Source) -> Array:
        word, by = factored(source)
        if isinstance(word, VisitResult):
            return by * found[word.visit][word.name]
        return by * (inputs[word] if isinstance(word, str) else np.full(STATES, word))

    for visit, sources in visits.reads.items():
        words = {port: read(source) for port, source in sources.items()}
        found[visit] = evaluate(visits.templates[visit.template], words)
    return {name: read(source) for name, source in visits.outputs.items()}


def same(actual: Mapping[str, Array], expected: Mapping[str, Array], names: dict[str, str]) -> None:
    assert set(actual) == set(expected)
    largest: dict[str, float] = {}
    for name, column in expected.items():
        array = names[name]
        largest[array] = max(largest.get(array, 0.0), float(np.abs(column).max()))
    for name, column in expected.items():
        error = float(np.abs(actual[name] - column).max())
        assert error <= TOLERANCE * largest[names[name]], name


def assert_same(visits: Program, graph: Graph, robot: Robot) -> None:
    inputs = random_inputs(robot, graph.inputs, STATES, 9)
    found, wanted = computed(visits, inputs), evaluate(graph, inputs)
    assert found.keys() == wanted.keys()
    arrays, largest = array_of(wanted), dict[str, float]()
    for name, column in wanted.items():
        largest[arrays[name]] = max(largest.get(arrays[name], 0.0), np.abs(column).max())
    for name, column in wanted.items():
        assert np.abs(found[name] - column).max() <= EXACT * largest[arrays[name]], name


def inlined(visits: Program, graph: Graph) -> Graph:
    """All visits in one graph."""
    builder = Builder()
    results: dict[VisitResult, Node] = {}

    def read(source: Source) -> Node:
        if isinstance(source, VisitResult):
            return results[source]
        assert isinstance(source, str | float)
        return builder.input(source) if isinstance(source, str) else builder.const(source)

    for visit, reads in visits.reads.items():
        template, made = visits.templates[visit.template], dict[Node, Node]()
        for node in template.nodes:
            of = [made[a] for a in node.args]
            made[node] = read(reads[node.name]) if node.op is Op.INPUT else builder.same(node, of)
        results |= {VisitResult(visit, name): made[node] for name, node in template.outputs.items()}
    return verify(Graph(graph.inputs, {name: read(s) for name, s in visits.outputs.items()}))
