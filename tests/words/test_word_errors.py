"""No word is farther from its real number than is proven: integers against balls."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rbdgen.compile.flow import front_end
from rbdgen.graph.derivative import DERIVATIVE
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.sincos import SinCos
from rbdgen.words.bounds import magnitudes
from rbdgen.words.constant_multiply import constant_multiply, moved
from rbdgen.words.proven_ranges import output_errors
from rbdgen.words.word_errors import gains, moving, of_parts, of_unit, summed
from tests.support.balls import farther, states
from tests.support.proven import made


@pytest.mark.parametrize(("robot", "function"), [("hyq", "id"), ("iiwa14", "id")])
def test_no_word_is_farther_than_proven(robot: str, function: str) -> None:
    fixed, _, proof, limits = made(robot, function)
    for state in states(limits, 30, seed=3):
        assert not farther(fixed, proof.error, state)


@pytest.mark.parametrize(
    ("robot", "most"), [("hyq", 9.0), pytest.param("iiwa14", 25.0, marks=pytest.mark.slow)]
)
def test_outputs_are_no_farther_from_the_traced_graph(robot: str, most: float) -> None:
    """Constants that were moved count, too. ``most``: the bound / the largest that is measured."""
    fixed, given, _, limits = made(robot, "id")
    bound = output_errors(fixed, limits)
    real = front_end(robot, functions=("id",)).graph
    words = {k: word.quantize(given.samples[k]) for k, word in fixed.inputs.items()}
    found, exact = evaluate_fixed(fixed, words).outputs, evaluate(real, given.samples)
    for name, node in fixed.graph.outputs.items():
        measured = np.abs(fixed.formats[node].real(found[name]) - exact[name]).max()
        assert measured <= bound[name] <= most * measured


def test_of_words_from_elsewhere_nothing_is_known() -> None:
    fixed, _, _, limits = made("hyq", "id")
    bound = output_errors(replace(fixed, before=None), limits)
    assert set(bound.values()) == {math.inf}


def test_a_moved_constant_is_off_by_what_is_said() -> None:
    builder = Builder()
    x = builder.input("x")
    products = [builder.mul(c, x) for c in (0.7853, 1e-7, 0.25)]
    graph = Graph(("x",), {str(k): node for k, node in enumerate(products)})
    slack = dict.fromkeys(products, 1e-4)
    by = moved(graph, slack)
    inputs = {"x": np.array([3.0])}
    before, after = evaluate(graph, inputs), evaluate(constant_multiply(graph, slack), inputs)
    for name, node in graph.outputs.items():
        assert abs(before[name] - after[name]) == pytest.approx(3 * by[node], abs=1e-15)
    assert 0 < by[products[0]] <= 1e-4
    assert by[products[1]] == 1e-7
    assert by[products[2]] == 0


def test_gains_are_derivatives() -> None:
    """Of an output by every node: against reverse mode on numbers."""
    fixed, given, _, _ = made("hyq", "id")
    graph = fixed.graph
    few = {name: values[:50] for name, values in given.samples.items()}
    output = graph.outputs["tau[1]"]
    made_graph, slopes = gains(graph, output)
    found = evaluate(made_graph, few)
    names = {node: name for name, node in made_graph.outputs.items()}
    values: dict[Node, np.ndarray] = {}
    evaluate(graph, few, lambda node, v: values.update({node: np.asarray(v)}))
    back: dict[Node, np.ndarray] = {output: np.ones(50)}
    for node in reversed(graph.nodes):
        if node in back:
            assert found[names[slopes[node]]] == pytest.approx(back[node], rel=1e-9, abs=1e-9)
            args = (values[a] for a in node.args)
            by = DERIVATIVE[node.op].slopes(node, values[node], *args)
            for arg, slope in zip(node.args, by, strict=True):
                back[arg] = back.get(arg, np.zeros(50)) + back[node] * slope


@pytest.mark.parametrize("width", [12, 16, 18, 20])
def test_a_sine_units_parts_are_no_less_than_all_of_its_angles(width: int) -> None:
    unit = SinCos(width + 3, width)
    assert of_unit(unit) <= of_parts(unit) <= 4 * of_unit(unit)


@pytest.mark.parametrize("width", [21, 24, 28, 32])
def test_wide_sine_units_are_within_the_sum_of_their_parts(width: int) -> None:
    unit = SinCos(width + 3, width)
    angle = np.random.default_rng(width).integers(0, 1 << unit.phase, 1 << 18)
    angle[:1024] = np.arange(1024) << (unit.phase - 10)
    turn = angle * (math.tau / 2.0**unit.phase)
    for words, exact in zip(unit.compute(angle), (np.sin(turn), np.cos(turn)), strict=True):
        assert np.abs(np.ldexp(words, 1 - width) - exact).max() <= of_parts(unit)


def test_constants_that_are_moved_multiply_errors() -> None:
    """Of 3 · 7 x, both moved by a tenth: 1.1² - 1 of it, not a fifth."""
    builder = Builder()
    inner = builder.mul(7.0, builder.input("x"))
    outer = builder.mul(3.0, builder.add(inner, builder.input("y")))
    graph = Graph(("x", "y"), {"z": outer})
    largest = magnitudes(graph, {"x": (-2.0, 2.0), "y": (0.0, 0.0)})
    by = {node: node.value / 10 for node in graph.nodes if node.op is Op.MULC}
    found = summed(graph, largest, moving(graph, largest, by), moved=by)
    assert 0.21 * 42 <= found[outer] <= 0.2101 * 42
