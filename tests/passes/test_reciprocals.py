"""Reciprocals become mantissas and exponents; the formats around them keep what matters."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import FixedGraph
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Op
from rbdgen.graph.verify import verify, verify_fixed
from rbdgen.passes.identities import reciprocals
from rbdgen.words.ranges import RangeError, analyse
from rbdgen.words.wordlength import input_formats, least_exponent, wordlength
from tests.support.notation import graph, spelled


def check(before: Graph, after: Graph) -> None:
    assert spelled(reciprocals(before)) == spelled(after)


def test_a_product_is_scaled_last_and_anything_else_reads_the_reciprocal() -> None:
    parts = {"_m": "mantissa(a) @ backward 2", "_e": "exponent(a) @ backward 2"}
    check(
        graph(_r="recip(a) @ backward 2", y="x*_r @ forward 1", z="_r + y @ forward 1"),
        graph(
            **parts,
            _r="scale(_m, _e) @ backward 2",
            y="scale(x*_m, _e) @ forward 1",
            z="_r + y @ forward 1",
        ),
    )


def test_signs_and_constants_go_behind_the_shift() -> None:
    check(
        graph(_r="recip(a)", y="x*(4.0*-_r)", z="(0.3*_r)*x"),
        graph(_xr="scale(x*mantissa(a), exponent(a))", y="-(4.0*_xr)", z="0.3*_xr"),
    )


def test_longer_products_are_scaled_where_they_meet_the_reciprocal() -> None:
    b = Builder()
    a, x, y = (b.input(name) for name in "axy")
    r = b.recip(a)
    graph = Graph(("a", "x", "y"), {"p": (x * r) * y, "q": (x * y) * r, "square": r * r})
    assert graph.operations()["recip"] == 1
    after = verify(reciprocals(graph))
    assert after.operations() == graph.operations()
    assert not any(node.op is Op.RECIP for node in after.nodes)
    for node in after.nodes:
        if node.op is Op.SCALE:  # the product itself, read by nothing else
            assert node.args[0].op in (Op.MUL, Op.MANTISSA)
            assert node.args[0].op is Op.MANTISSA or after.users[node.args[0]] == (node,)
    rng = np.random.default_rng(0)
    states = {"a": rng.uniform(0.01, 9, 100), "x": rng.normal(size=100), "y": rng.normal(size=100)}
    old, new = evaluate(graph, states), evaluate(after, states)
    for name in graph.outputs:
        np.testing.assert_allclose(new[name], old[name], rtol=1e-14)


def fixed_of(graph: Graph, states: dict[str, np.ndarray], width: int = 18) -> FixedGraph:
    limits = {name: (float(v.min()), float(v.max())) for name, v in states.items()}
    graph = reciprocals(graph)
    ranges = analyse(graph, limits, states)
    return verify_fixed(wordlength(graph, ranges, width, input_formats(graph, limits, width)))


def difference() -> tuple[Graph, dict[str, np.ndarray]]:
    """l = h / D with D = m - h x, which spans five decades, small where h is."""
    rng = np.random.default_rng(4)
    pivot = 10 ** rng.uniform(-3, 2, 5000)
    h = rng.uniform(-1, 1, 5000) * pivot
    x = rng.uniform(-1, 1, 5000)
    states = {"m": pivot + h * x, "h": h, "x": x}
    b = Builder()
    nodes = {name: b.input(name) for name in "mhx"}
    d = nodes["m"] - nodes["h"] * nodes["x"]
    return Graph(("m", "h", "x"), {"l": nodes["h"] * b.recip(d), "r": b.recip(d)}), states


@pytest.mark.parametrize("width", [12, 18, 25, 32])
def test_formats_keep_the_bits_of_small_pivots(width: int) -> None:
    graph, states = difference()
    fixed = fixed_of(graph, states, width)
    mantissa, exponent = (
        next(n for n in fixed.graph.nodes if n.op is op) for op in (Op.MANTISSA, Op.EXPONENT)
    )
    (pivot,) = mantissa.args
    word = fixed.formats[pivot]
    product = next(n for n in fixed.graph.nodes if n.op is Op.MUL and n.args[1] is not mantissa)
    # all that its product gives, one bit below
    assert word.width > width
    assert fixed.formats[product].fraction >= word.fraction
    unit = fixed.reciprocal(exponent)
    smallest = evaluate(reciprocals(graph), states)["r"].max() ** -1
    assert 2.0**unit.lowest < smallest
    for node in fixed.graph.nodes:
        if node.op is Op.SCALE:
            assert fixed.formats[node].width <= width
            x = fixed.formats[node.args[0]]
            assert x.width <= 2 * width
            shift = x.fraction + unit.lowest - fixed.formats[node].fraction
            assert fixed.scale(node).shift == shift
            if node.args[0].op is Op.MUL:
                assert not x.rounded


def test_least_is_sampled_with_margin_or_proven() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    low, high = x + 2.0, x * y
    graph = Graph(("x", "y"), {"a": b.recip(low), "b": b.mantissa(high)})
    samples = {"x": np.array([0.5, 1.0]), "y": np.array([0.5, 1.0])}
    ranges = analyse(graph, {"x": (0.4, 1), "y": (-1, 1)}, samples, margin=0.25)
    assert set(ranges.least) == {low, high}
    assert ranges.least[low] == 2.4  # 2.5 / 1.25 = 2: the proof is tighter
    assert ranges.least[high] == 0.25 / 1.25
    assert least_exponent(ranges, high) == -3  # 0.2 = 0.8 · 2^-2, and a binade to spare


@pytest.mark.parametrize("value", [-0.5, 0.0, np.nan])
def test_a_pivot_that_is_not_positive_is_named(value: float) -> None:
    b = Builder()
    x = b.input("x")
    with b.region("backward", 3):
        y = b.recip(x * x - 1.0)
    graph = Graph(("x",), {"y": y})
    samples = {"x": np.sqrt(1 + np.array([1.0, value, 2.0]))}
    with pytest.raises(RangeError, match=r"region backward 3 .*node 3.*must be positive"):
        analyse(graph, {"x": (0, 2)}, samples)
    direct = Graph(("x",), {"y": b.recip(x)})
    with pytest.raises(RangeError, match=r"an input \(x\), which is -1"):
        analyse(direct, {"x": (-1, 1)}, {"x": np.array([1.0, -1.0])})
