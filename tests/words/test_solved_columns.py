"""What is proven of forward dynamics: of all efforts that accelerations within limits take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest
from flint import arb

from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.graph.evaluate import Interval
from rbdgen.graph.fixed import FixedGraph, evaluate_fixed
from rbdgen.graph.node import Node, Op
from rbdgen.words.bounds import bounds
from rbdgen.words.factor_bounds import PivotBounds
from rbdgen.words.factor_errors import factors_in, in_words
from rbdgen.words.input_domain import InputDomain
from rbdgen.words.proven_ranges import proof as proof_of
from rbdgen.words.proven_ranges import prove
from rbdgen.words.solved_errors import KnownSignals
from rbdgen.words.value_range import extents
from tests.support.balls import Ball, farther, outside, states, values
from tests.support.marks import fast_at
from tests.support.proven import found_largest, made_with_pivot_bounds

SOLVED = ("effort", "back", "out")


def claims(
    fixed: FixedGraph, limits: Mapping[str, Interval], pivot_bounds: PivotBounds
) -> dict[Node, Interval]:
    factors, _ = factors_in(fixed, limits, (), pivot_bounds)
    return bounds(fixed.graph, limits, (), KnownSignals(factors, fixed.graph))


def in_balls(given: InputDomain, n: int, seed: int, radius: float) -> Iterator[dict[str, Ball]]:
    """Inputs in boxes of that radius around states whose accelerations are within limits; the
    efforts that they take are balls, too."""
    assert given.domain is not None
    derived = given.domain.derived
    for state in states(given.domain.limits, n, seed):
        balls = {name: arb(x, radius) for name, x in state.items()}
        made = values(derived, balls)
        yield balls | {name: made[node] for name, node in derived.outputs.items()}


def at_limits(given: InputDomain, n: int, seed: int) -> Iterator[dict[str, float]]:
    """Inputs in such states."""
    assert given.domain is not None
    for state in states(given.domain.limits, n, seed):
        columns = {name: np.array([x]) for name, x in state.items()}
        found = given.domain.columns(columns, given.limits)
        yield {name: float(own[0]) for name, own in found.items()}


BOTH = [("pendulum", "fd"), ("pendulum", "dfd"), ("hyq", "fd"), ("iiwa14", "fd")]


@pytest.mark.parametrize(("robot", "function"), fast_at((0, 1), BOTH))
def test_no_value_in_balls_is_outside(robot: str, function: str) -> None:
    fixed, given, pivot_bounds, proof, limits = made_with_pivot_bounds(robot, function)
    claimed = claims(fixed, limits, pivot_bounds)
    seen = extents(fixed.graph, given.states).largest
    assert all(seen[n] <= proof.largest[n] for n in fixed.graph.nodes if n.op is not Op.INPUT)
    n = len(next(iter(given.extremes.values())))
    for state in found_largest(given, max(1, n // 10)):
        assert not outside(fixed.graph, claimed, state)
    for seed, radius in enumerate((0.0, 1e-9, 1e-6)):
        for balls in in_balls(given, 3, seed, radius):
            for node, ball in values(fixed.graph, balls).items():
                low, high = claimed[node]
                assert node.op is Op.INPUT or (ball.lower() <= high and ball.upper() >= low)


@pytest.mark.parametrize(("robot", "function"), BOTH)
def test_no_word_is_farther_than_proven(robot: str, function: str) -> None:
    fixed, given, _, proof, _ = made_with_pivot_bounds(robot, function)
    for state in at_limits(given, 10, seed=2):
        assert not farther(fixed, proof.error, state)
    n = len(next(iter(given.extremes.values())))
    for state in found_largest(given, max(1, n // 10)):
        assert not farther(fixed, proof.error, state)


@pytest.mark.parametrize(("robot", "unproven"), [("pendulum", 0), ("hyq", 13)])
def test_accelerations_are_proven(robot: str, unproven: int) -> None:
    """All that q̈ is solved by; and it is no larger than limits allow, but for the constants."""
    fixed, given, pivot_bounds, proof, _ = made_with_pivot_bounds(robot, "fd")
    solved = {n for n in fixed.graph.nodes if n.region and n.region[0] in SOLVED}
    assert solved and solved <= proof.holds
    assert len([n for n in fixed.graph.nodes if n not in proof.holds]) <= unproven
    for k, most in pivot_bounds.accelerations.items():
        node = fixed.graph.outputs[f"qdd[{k}]"]
        assert most * (1 - 1e-3) <= proof.largest[node] <= most * 1.03
    seen = extents(fixed.graph, given.states).largest
    assert all(proof.largest[n] <= 2 * seen[n] for n in solved)  # a mantissa is of 1 to 2
    assert np.mean([proof.largest[n] <= 1.2 * seen[n] for n in solved]) > 0.9


def test_claims_of_less_are_refuted() -> None:
    """Bounds halved, and accelerations that are less than they may be."""
    fixed, given, pivot_bounds, _, limits = made_with_pivot_bounds("hyq", "fd")
    claimed = claims(fixed, limits, pivot_bounds)
    less = {k: 0.9 * most for k, most in pivot_bounds.accelerations.items()}
    less_claimed = claims(fixed, limits, replace(pivot_bounds, accelerations=less))
    seen = extents(fixed.graph, given.states).largest
    solved = [n for n in fixed.graph.nodes if n.region and n.region[0] in SOLVED]
    assert np.mean([max(map(abs, claimed[n])) / 2 < seen[n] for n in solved]) > 0.95
    for node in fixed.graph.outputs.values():
        assert max(map(abs, less_claimed[node])) < seen[node]


def test_a_proven_word_narrowed_by_a_bit_is_refused() -> None:
    """Where states reach it a flag rises in the integer model."""
    fixed, given, pivot_bounds, proof, limits = made_with_pivot_bounds("hyq", "fd")
    inputs = {k: word.quantize(given.extremes[k]) for k, word in fixed.inputs.items()}
    seen = extents(fixed.graph, given.states).largest
    solved = [n for n in fixed.graph.nodes if n.region and n.region[0] in SOLVED]
    able = [n for n in solved if fixed.overflowing(n)]
    factors, _ = factors_in(fixed, limits, (), pivot_bounds)
    of = bounds(fixed.graph, limits, (), KnownSignals(factors, fixed.graph))
    refused = 0
    for node in able[:: len(able) // 12]:
        narrow = replace(fixed.formats[node], width=fixed.formats[node].width - 1)
        if seen[node] > narrow.limits[1]:
            narrowed = replace(fixed, formats={**fixed.formats, node: narrow})
            assert node in proof.holds
            assert node not in proof_of(narrowed, of, factors).holds
            assert node in evaluate_fixed(narrowed, inputs).overflowed
            refused += 1
    assert refused >= 8


def test_names_that_are_wrong_prove_no_words() -> None:
    """The sums that y and x are must be those of the factors, of the rows that they are named."""
    fixed, _, pivot_bounds, _, limits = made_with_pivot_bounds("hyq", "fd")
    factors, _ = factors_in(fixed, limits, (), pivot_bounds)
    of = bounds(fixed.graph, limits, (), KnownSignals(factors, fixed.graph))
    right = in_words(fixed, of, factors).columns.signals
    for kind, behind in (("b", "y"), ("y", "y"), ("x", "x"), ("z", "x")):
        known = {**fixed.graph.known, f"{kind}[0,1]": fixed.graph.known[f"{kind}[0,4]"]}
        wrong = replace(fixed, graph=replace(fixed.graph, known=known))
        assert np.isfinite(right[f"{behind}[0,1]"])
        assert np.isinf(in_words(wrong, of, factors).columns.signals[f"{behind}[0,1]"])


def test_efforts_within_limits_are_among_them() -> None:
    """With limits of efforts, states are those of accelerations within limits that take no more."""
    words = FixedFunctions(front_end("pendulum", functions=("fd",), effort=15.0))
    ranges, fixed = words.whole
    pivot_bounds, given = words.front.pivot_bounds, words.given.searched(fixed.graph)[0]
    proof = prove(fixed, ranges.limits, ranges.units, pivot_bounds)
    assert proof.holds.issuperset(fixed.graph.outputs.values())
    seen = extents(fixed.graph, given.states).largest
    assert all(seen[n] <= proof.largest[n] for n in fixed.graph.nodes if n.op is not Op.INPUT)


def test_words_of_forward_dynamics_are_made_for_proofs() -> None:
    core = compile_front(front_end("pendulum", functions=("fd",), proven="all"))
    assert core.proof is not None
    assert core.proof.holds == set(core.plan.fixed.graph.nodes)
    assert all(map(np.isfinite, core.output_errors.values()))


def test_joints_of_several_coordinates_are_named() -> None:
    """Nothing is proven behind their pivots; where their motion is given none are theirs."""
    notes = front_end("iiwa14", functions=("minv",), base="floating", fit=False).notes
    assert any(note.startswith("pivots: root_joint has several coordinates") for note in notes)
    given = front_end("pendulum", functions=("fd",), base="floating", root="given", fit=False)
    assert not any(note.startswith("pivots") for note in given.notes)
