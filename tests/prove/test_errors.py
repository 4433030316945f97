"""No word is farther from its real number than is proven: integers against balls."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import evaluate_fixed
from rbdgen.graph.sincos import SinCos
from rbdgen.prove.errors import of_parts, of_unit
from tests.balls import farther, states
from tests.proven import made


@pytest.mark.parametrize(("robot", "function"), [("hyq", "id"), ("iiwa14", "id")])
def test_no_word_is_farther_than_proven(robot: str, function: str) -> None:
    fixed, _, proof, limits = made(robot, function)
    for state in states(limits, 30, seed=3):
        assert not farther(fixed, proof.error, state)


def test_a_few_times_what_is_measured() -> None:
    fixed, given, proof, _ = made("hyq", "id")
    graph = fixed.graph
    words = {k: word.quantize(given.samples[k]) for k, word in fixed.inputs.items()}
    found, exact = evaluate_fixed(fixed, words).outputs, evaluate(graph, given.samples)
    for name, node in graph.outputs.items():
        measured = np.abs(fixed.formats[node].real(found[name]) - exact[name]).max()
        assert measured <= proof.error[node] <= 16 * measured


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
