"""Proven ranges hold in ball arithmetic, and are nearly as small as they can be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import front_end
from rbdgen.graph.evaluate import intervals_of
from rbdgen.graph.fixed import evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.words.bounds import bounds, magnitudes
from rbdgen.words.proven_ranges import prove
from rbdgen.words.value_range import extents
from tests.support.balls import outside, states
from tests.support.proven import found_largest, made


@pytest.mark.parametrize(("robot", "function"), [("hyq", "id"), ("iiwa14", "id")])
def test_no_value_in_balls_is_outside(robot: str, function: str) -> None:
    fixed, given, _, limits = made(robot, function)
    claimed = bounds(fixed.graph, limits)
    n = len(next(iter(given.extremes.values())))
    for state in found_largest(given, max(1, n // 40)):
        assert not outside(fixed.graph, claimed, state)
    for k, state in enumerate(states(limits, 40, seed=1)):
        assert not outside(fixed.graph, claimed, state, radius=(0.0, 1e-6, 1e-3, 0.1)[k % 4])


@pytest.mark.parametrize(
    ("robot", "function", "of_outputs", "of_words"),
    [
        ("hyq", "id", 1.2, 1.0),
        ("iiwa14", "id", 3.4, 0.95),
        pytest.param("iiwa14", "did", 7.5, 0.94, marks=pytest.mark.slow),
        pytest.param("hyq", "did", 1.2, 1.0, marks=pytest.mark.slow),
    ],
)
def test_bounds_are_nearly_reached(
    robot: str, function: str, of_outputs: float, of_words: float
) -> None:
    """``of_outputs``: bound / largest value that was found; ``of_words``: with a bit or less."""
    fixed, given, proof, _ = made(robot, function)
    graph = fixed.graph
    seen = extents(graph, given.states).largest
    assert all(proof.largest[node] >= seen[node] for node in graph.nodes if node.op != Op.INPUT)
    for node in graph.outputs.values():
        assert proof.largest[node] <= of_outputs * seen[node] or not seen[node]
    able = [node for node in graph.nodes if fixed.overflowing(node)]
    near = [n for n in able if proof.largest[n] + proof.error[n] < 2 * fixed.formats[n].limits[1]]
    assert len(near) >= of_words * len(able)


def test_a_bound_halved_is_refuted() -> None:
    fixed, given, _, limits = made("hyq", "id")
    claimed = bounds(fixed.graph, limits)
    halved = {node: (low / 2, high / 2) for node, (low, high) in claimed.items()}
    refuted: set[Node] = set()
    for state in found_largest(given, 3):
        refuted.update(outside(fixed.graph, halved, state))
    varying = [n for n in fixed.graph.nodes if n.op not in (Op.CONST, Op.INPUT)]
    assert len(refuted.intersection(varying)) >= 0.95 * len(varying)


def test_a_proven_word_narrowed_by_a_bit_is_refused() -> None:
    """Of words whose bounds need the bit the proof is gone, and where states reach it, a flag
    rises in the integer model."""
    fixed, given, proof, limits = made("hyq", "id")
    inputs = {k: word.quantize(given.extremes[k]) for k, word in fixed.inputs.items()}
    seen = extents(fixed.graph, given.states).largest
    able = [node for node in fixed.graph.nodes if fixed.overflowing(node) and node in proof.holds]
    refused = 0
    for node in able[:: len(able) // 20]:
        word = fixed.formats[node]
        narrow = replace(word, width=word.width - 1)
        narrowed = replace(fixed, formats={**fixed.formats, node: narrow})
        largest, error = proof.largest[node], proof.error[node]
        holds = largest + error < narrow.limits[1]
        assert (node in prove(narrowed, limits).holds) == holds
        if seen[node] > narrow.limits[1]:
            assert not holds
            assert node in evaluate_fixed(narrowed, inputs).overflowed
            refused += 1
    assert refused >= 10


def test_what_turns_keeps_its_length() -> None:
    """A vector of length 1 turned at three joints one after the other, and back."""
    builder = Builder()
    x, y = builder.const(0.6), builder.const(0.8)
    turned: list[Node] = []
    for joint in range(3):
        with builder.region("forward", joint):
            q = builder.input(f"q[{joint}]")
            c, s = builder.cos(q), builder.sin(q)
            x, y = (
                builder.sub(builder.mul(c, x), builder.mul(s, y)),
                builder.add(builder.mul(s, x), builder.mul(c, y)),
            )
            turned += [x, y]
    graph = Graph(("q[0]", "q[1]", "q[2]"), {"x": x, "y": y})
    limits = dict.fromkeys(graph.inputs, (-4.0, 4.0))
    found = magnitudes(graph, limits)
    by_intervals = intervals_of(graph, limits)
    assert max(by_intervals[x]) > 2.5
    assert all(1.0 <= found[node] <= 1.05 for node in turned)


@pytest.mark.parametrize("seed", range(5))
def test_trigonometric_polynomials_stay_inside(seed: int) -> None:
    """Random sums of products of sines of two angles and of rates, against many states."""
    rng = np.random.default_rng(seed)
    builder = Builder()
    with builder.region("forward", 0):
        p, q, u, v = (builder.input(name) for name in "pquv")
        factors = [builder.sin(p), builder.cos(p), builder.sin(q), builder.cos(q), u, v]
        total = builder.const(float(rng.normal()))
        for _ in range(12):
            term = builder.const(float(rng.normal()))
            for k in rng.integers(0, 6, 4):
                term = builder.mul(term, factors[k])
            total = builder.add(total, term)
    graph = Graph(("p", "q", "u", "v"), {"total": total})
    limits = {"p": (-4.0, 4.0), "q": (-4.0, 4.0), "u": (-3.0, 3.0), "v": (0.5, 2.0)}
    claimed = bounds(graph, limits)
    given = {k: rng.uniform(*own, 20000) for k, own in limits.items()}
    given |= {k: rng.choice(limits[k], 20000) for k in "uv"}
    largest = extents(graph, given).largest
    assert all(largest[node] <= max(map(abs, claimed[node])) for node in graph.nodes)
    for state in states(limits, 20, seed):
        assert not outside(graph, claimed, state, radius=1e-4)


def turned_by_quaternion(builder: Builder, names: tuple[str, ...]) -> list[Node]:
    """A vector of length 1, (0.6, 0, 0.8), turned by a unit quaternion."""
    x, y, z, w = map(builder.input, names)

    def twice(*products: tuple[float, Node, Node]) -> Node:
        return builder.mul(2.0, sum((sign * (a * b) for sign, a, b in products), start=0.0))

    first = [1.0 - twice((1, y, y), (1, z, z)), twice((1, x, y), (1, z, w))]
    first += [twice((1, x, z), (-1, y, w))]
    third = [twice((1, x, z), (1, y, w)), twice((1, y, z), (-1, x, w))]
    third += [1.0 - twice((1, x, x), (1, y, y))]
    return [0.6 * a + 0.8 * c for a, c in zip(first, third, strict=True)]


def test_a_quaternion_turns_and_keeps_lengths() -> None:
    names = ("q[3]", "q[4]", "q[5]", "q[6]")
    builder = Builder()
    with builder.region("forward", 0):
        turned = turned_by_quaternion(builder, names)
    graph = Graph(names, {f"v[{k}]": node for k, node in enumerate(turned)})
    limits = dict.fromkeys(names, (-1.0, 1.0))
    claimed = bounds(graph, limits, [names])
    assert all(1.0 <= max(claimed[node]) <= 1.2 for node in turned)
    assert min(magnitudes(graph, limits)[node] for node in turned) > 2.0
    rng = np.random.default_rng(0)
    q = rng.normal(size=(400, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    for state in q[:60]:
        assert not outside(graph, claimed, dict(zip(names, map(float, state), strict=True)))
    largest = extents(graph, dict(zip(names, q.T, strict=True))).largest
    assert all(largest[n] <= max(map(abs, claimed[n])) + 1e-12 for n in graph.nodes)
    assert max(largest[node] for node in turned) > 0.99


def test_a_cosine_and_a_sine_that_come_in_are_of_one_angle() -> None:
    builder = Builder()
    with builder.region("forward", 0):
        c, s = builder.input("cos[0]"), builder.input("sin[0]")
        total = 0.6 * c + 0.8 * s
    graph = Graph(("cos[0]", "sin[0]"), {"total": total})
    limits = dict.fromkeys(graph.inputs, (-1.0, 1.0))
    assert magnitudes(graph, limits)[total] > 1.39
    assert 1.0 <= magnitudes(graph, limits, [("cos[0]", "sin[0]")])[total] < 1.01


def test_a_floating_base_is_proven() -> None:
    """Every word of a floating pendulum, and no state that was found is outside; of the base's
    orientation nothing is proven where its quaternion is four numbers."""
    words = FixedFunctions(front_end("pendulum", functions=("id",), base="floating", fit=False))
    ranges, fixed = words.whole
    given, _ = words.given.searched(fixed.graph)
    proof = prove(fixed, ranges.limits, ranges.units)
    seen = extents(fixed.graph, given.states).largest
    assert all(proof.largest[n] >= seen[n] for n in fixed.graph.nodes if n.op is not Op.INPUT)
    assert proof.holds == set(fixed.graph.nodes)
    without = prove(fixed, ranges.limits).holds
    assert any(node not in without for node in fixed.graph.nodes if node.region == ("forward", 0))


def test_smaller_windows_are_wider_and_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """As large graphs have them: of a joint alone."""
    fixed, given, proof, limits = made("hyq", "id")
    monkeypatch.setattr("rbdgen.words.windows.LARGE", (0, 0))
    found = magnitudes(fixed.graph, limits)
    seen = extents(fixed.graph, given.states).largest
    by_intervals = intervals_of(fixed.graph, limits)
    for node in fixed.graph.outputs.values():
        assert seen[node] <= proof.largest[node] < found[node] < max(by_intervals[node])
    assert all(found[node] >= seen[node] for node in fixed.graph.nodes if node.op != Op.INPUT)


def test_without_limits_there_is_no_proof() -> None:
    builder = Builder()
    with builder.region("forward", 0):
        q, m = builder.input("q[0]"), builder.input("Minv[0,0]")
        product = builder.mul(builder.sin(q), m)
        total = builder.add(product, builder.cos(q))
    graph = Graph(("q[0]", "Minv[0,0]"), {"total": total})
    found = magnitudes(graph, {"q[0]": (-4.0, 4.0), "Minv[0,0]": (-np.inf, np.inf)})
    assert found[total] == np.inf
