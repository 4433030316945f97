"""What is proven behind pivots: no state is outside, no word is farther, in balls and words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import FixedGraph, evaluate_fixed
from rbdgen.graph.graph import Multiple
from rbdgen.graph.node import Node, Op
from rbdgen.graph.reciprocal import Reciprocal
from rbdgen.graph.word import indices
from rbdgen.words.bounds import bounds
from rbdgen.words.factor_bounds import NO_BOUNDS
from rbdgen.words.factor_errors import factors_in, in_words
from rbdgen.words.proven_ranges import prove
from rbdgen.words.solved_errors import KnownSignals
from rbdgen.words.value_range import extents
from rbdgen.words.word_errors import of_reciprocal
from tests.support.balls import farther, outside, states
from tests.support.marks import slow
from tests.support.proven import found_largest, made_with_pivot_bounds


def pivots_of(fixed: FixedGraph) -> list[Node]:
    return [node.args[0] for node in fixed.graph.nodes if node.op is Op.EXPONENT]


@pytest.mark.parametrize("robot", ["pendulum", "iiwa14", slow("hyq")])
def test_pivots_are_proven(robot: str) -> None:
    """Their words hold all states, and so do the exponents of their reciprocals."""
    fixed, _, pivot_bounds, proof, limits = made_with_pivot_bounds(robot, "minv")
    assert pivots_of(fixed)
    assert proof.holds.issuperset(pivots_of(fixed))
    assert proof.holds.issuperset(n for n in fixed.graph.nodes if n.op is Op.EXPONENT)
    if robot == "iiwa14":  # by what joints feel, not by operands
        without = prove(fixed, limits).holds
        assert not without.issuperset(pivots_of(fixed))
        assert pivot_bounds.pivot.keys() == set(range(7))


@pytest.mark.parametrize("robot", ["pendulum", "iiwa14", "hyq"])
def test_no_value_in_balls_is_outside(robot: str) -> None:
    fixed, given, pivot_bounds, proof, limits = made_with_pivot_bounds(robot, "minv")
    factors, _ = factors_in(fixed, limits, (), pivot_bounds)
    claimed = bounds(fixed.graph, limits, (), KnownSignals(factors, fixed.graph))
    seen = extents(fixed.graph, given.states, pivots_of(fixed))
    for node, size in seen.largest.items():
        assert size <= proof.largest[node] or node.op is Op.INPUT
    for node, value in seen.smallest.items():
        assert value >= claimed[node][0] > 0
    n = len(next(iter(given.extremes.values())))
    for state in found_largest(given, max(1, n // 20)):
        assert not outside(fixed.graph, claimed, state)
    for k, state in enumerate(states(limits, 20, seed=1)):
        assert not outside(fixed.graph, claimed, state, radius=(0.0, 1e-6, 1e-3)[k % 3])


@pytest.mark.parametrize("robot", ["pendulum", "iiwa14", slow("hyq")])
def test_no_word_is_farther_than_proven(robot: str) -> None:
    fixed, given, _, proof, limits = made_with_pivot_bounds(robot, "minv")
    for state in states(limits, 20, seed=2):
        assert not farther(fixed, proof.error, state)
    n = len(next(iter(given.extremes.values())))
    for state in found_largest(given, max(1, n // 20)):
        assert not farther(fixed, proof.error, state)


@pytest.mark.parametrize(
    ("robot", "of_diagonal", "of_others"), [("hyq", 1.1, 1.25), ("iiwa14", 4.0, 34.0)]
)
def test_bounds_of_the_inverse_are_nearly_reached(
    robot: str, of_diagonal: float, of_others: float
) -> None:
    """Bound / largest that was found; errors are bounded at all."""
    fixed, given, _, proof, _ = made_with_pivot_bounds(robot, "minv")
    seen = extents(fixed.graph, given.states).largest
    for name, node in fixed.graph.outputs.items():
        i, j = indices(name)
        most = (of_diagonal if i == j else of_others) * seen[node]
        assert seen[node] <= proof.largest[node] <= most
        assert proof.error[node] < proof.largest[node]


def test_bounds_halved_are_refuted() -> None:
    """Of pivots and of what is divided by them: by the states in which they are largest."""
    fixed, given, pivot_bounds, proof, limits = made_with_pivot_bounds("hyq", "minv")
    seen = extents(fixed.graph, given.states).largest
    behind = [n for n in fixed.graph.nodes if n.region and n.region[0] == "factor"]
    assert all(proof.largest[n] / 2 < seen[n] for n in pivots_of(fixed))
    assert np.mean([proof.largest[n] / 2 < seen[n] for n in behind]) > 0.8
    # pivots that are pivot_bounds to be twice what they are
    wrong = replace(pivot_bounds, pivot={k: 2.5 * least for k, least in pivot_bounds.pivot.items()})
    factors, _ = factors_in(fixed, limits, (), wrong)
    claimed = bounds(fixed.graph, limits, (), KnownSignals(factors, fixed.graph))
    found = set[Node]()
    for state in found_largest(given, 5):
        found.update(outside(fixed.graph, claimed, state))
    assert found


def test_a_proven_word_narrowed_by_a_bit_is_refused() -> None:
    """Behind pivots, too: where states reach it a flag rises in the integer model."""
    fixed, given, pivot_bounds, proof, limits = made_with_pivot_bounds("hyq", "minv")
    inputs = {k: word.quantize(given.extremes[k]) for k, word in fixed.inputs.items()}
    seen = extents(fixed.graph, given.states).largest
    refused = 0
    for node in fixed.graph.nodes:
        if not (fixed.overflowing(node) and node in proof.holds and node.region):
            continue
        if node.region[0] not in ("factor", "inverse") or node.op is Op.EXPONENT:
            continue
        word = fixed.formats[node]
        narrow = replace(word, width=word.width - 1)
        if seen[node] > narrow.limits[1] and refused < 12:
            narrowed = replace(fixed, formats={**fixed.formats, node: narrow})
            assert node not in prove(narrowed, limits, (), pivot_bounds).holds
            assert node in evaluate_fixed(narrowed, inputs).overflowed
            refused += 1
    assert refused == 12


def test_exponents_hold_from_the_smallest_pivot_on() -> None:
    """A normalisation with too few steps is refused."""
    fixed, given, pivot_bounds, _, limits = made_with_pivot_bounds("iiwa14", "minv")
    seen = extents(fixed.graph, given.states, pivots_of(fixed)).smallest
    refused = 0
    for node in fixed.graph.nodes:
        if node.op is Op.EXPONENT:
            (pivot,) = node.args
            for steps in range(1, fixed.steps[pivot]):
                fewer = replace(fixed, steps={**fixed.steps, pivot: steps})
                if seen[pivot] < 2.0 ** (fewer.reciprocal(node).lowest - 1):
                    assert node not in prove(fewer, limits, (), pivot_bounds).holds
                    refused += 1
    assert refused


def test_names_that_are_wrong_prove_nothing() -> None:
    """What a graph is said to know is looked at: a share that is no part of a row makes it off."""
    fixed, _, pivot_bounds, _, limits = made_with_pivot_bounds("iiwa14", "minv")
    factors, _ = factors_in(fixed, limits, (), pivot_bounds)
    of = bounds(fixed.graph, limits, (), KnownSignals(factors, fixed.graph))
    assert in_words(fixed, of, factors).off.pivots[2] < 0.1
    known = dict(fixed.graph.known)
    known["share[4,2,2]"] = known["share[3,2,2]"]
    wrong = replace(fixed, graph=replace(fixed.graph, known=known))
    assert in_words(wrong, of, factors).off.pivots[2] == np.inf
    del known["share[4,2,2]"]
    wrong = replace(fixed, graph=replace(fixed.graph, known=known))
    assert in_words(wrong, of, factors).off.pivots[2] == np.inf


def test_words_from_elsewhere_have_no_factors() -> None:
    """Nobody knows what was moved there."""
    fixed, _, pivot_bounds, _, limits = made_with_pivot_bounds("iiwa14", "minv")
    assert not factors_in(replace(fixed, before=None), limits, (), pivot_bounds)[0].rows
    assert not factors_in(fixed, limits, (), NO_BOUNDS)[0].rows


def test_known_signals_are_what_they_are_called() -> None:
    """H, L and shares in the graph of words, in float."""
    fixed, given, _, _, _ = made_with_pivot_bounds("iiwa14", "minv")
    graph, few = fixed.graph, {k: v[:20] for k, v in given.samples.items()}
    values: dict[Node, np.ndarray] = {}
    evaluate(graph, few, lambda node, v: values.update({node: np.asarray(v)}))

    def value(own: Multiple) -> np.ndarray | float:
        return own.factor * (1.0 if own.of is None else values[own.of])

    known = {name: own for name, own in graph.known.items() if own.of is None or own.of in values}
    compared = 0
    for name, own in known.items():
        if name.startswith("share"):
            k, i, j = (int(x) for x in name[6:-1].split(","))
            names = f"L[{k},{i}]", f"H[{k},{j}]"
            if all(other in known for other in names):
                slope, entry = (value(known[other]) for other in names)
                assert value(own) == pytest.approx(slope * entry, rel=2e-3, abs=1e-7)
                compared += 1
    assert compared


@pytest.mark.parametrize("width", [12, 16, 18, 20, 24, 32])
@pytest.mark.parametrize("operand", [16, 30, 50])
def test_no_mantissa_is_farther_off(width: int, operand: int) -> None:
    unit = Reciprocal(operand, 3, 5 if operand > 16 else 3, width)
    rng = np.random.default_rng(width)
    lowest = 1 << max(operand - 2 - 2**unit.steps + 1, 0)
    words = np.exp(rng.uniform(np.log(lowest), np.log(2.0 ** (operand - 1) - 1), 20000))
    words = words.astype(np.int64)
    mantissa, exponent, outside_ = unit.compute(words)
    real = np.ldexp(words.astype(float), unit.top - operand + 1)
    exact = np.ldexp(1 / real, exponent)
    off = np.abs(np.ldexp(mantissa, 2 - width) - exact)[~outside_]
    assert off.max() <= of_reciprocal(unit) <= 2.0 ** (4 - width)


def test_a_core_says_so() -> None:
    core = compile_front(front_end("pendulum", functions=("minv",)))
    assert core.proof is not None
    assert core.proof.holds == set(core.plan.fixed.graph.nodes)
