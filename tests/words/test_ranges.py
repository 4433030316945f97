"""Bounds hold: proven ones for every state, all of them for the states that were asked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import INTERVAL, Interval, evaluate, intervals_of
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.robot.canonical import canonicalize
from rbdgen.words.ranges import analyse
from tests.support.random_robots import random_robot

# Each operation, as a graph of three inputs.
OPERATIONS: dict[Op, Callable[[Builder, Node, Node, Node], Node]] = {
    Op.ADD: lambda b, x, y, c: x + y,
    Op.SUB: lambda b, x, y, c: x - y,
    Op.NEG: lambda b, x, y, c: -x,
    Op.MUL: lambda b, x, y, c: x * y,
    Op.MULC: lambda b, x, y, c: 0.7 * x,
    Op.SIN: lambda b, x, y, c: b.sin(x),
    Op.COS: lambda b, x, y, c: b.cos(x),
    Op.RECIP: lambda b, x, y, c: b.recip(x),
    Op.MANTISSA: lambda b, x, y, c: b.mantissa(x),
    Op.EXPONENT: lambda b, x, y, c: b.exponent(x),
    Op.SCALE: lambda b, x, y, c: b.scale(x, y),
    Op.SELECT: lambda b, x, y, c: b.select(c, x, y),
    Op.SATURATE: lambda b, x, y, c: b.saturate(x, 0.7),
}


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("seed", range(8))
def test_intervals_contain_every_value(op: Op, seed: int) -> None:
    rng = np.random.default_rng(seed)
    limits = {name: tuple(sorted(rng.normal(0, 2, 2))) for name in "xyc"}
    states = {name: rng.uniform(*limits[name], 500) for name in "xyc"}
    for name in "xyc":
        states[name][:2] = limits[name]
    b = Builder()
    node = OPERATIONS[op](b, *(b.input(name) for name in "xyc"))
    assert node.op is op
    low, high = INTERVAL[op](node, *(limits[a.name] for a in node.args))
    values = evaluate(Graph(("x", "y", "c"), {"z": node}), states)["z"]
    assert low <= values.min()
    assert values.max() <= high
    if op in (Op.ADD, Op.SUB, Op.NEG, Op.MUL, Op.MULC):  # these are tight at the corners
        corners = np.array(np.meshgrid(limits["x"], limits["y"], [0.0])).reshape(3, -1)
        reached = evaluate(
            Graph(("x", "y", "c"), {"z": node}), dict(zip("xyc", corners, strict=True))
        )["z"]
        np.testing.assert_allclose([reached.min(), reached.max()], [low, high])


@pytest.mark.parametrize(
    ("interval", "square"),
    [((-2.0, 1.0), (0.0, 4.0)), ((1.0, 3.0), (1.0, 9.0)), ((-3.0, -1.0), (1.0, 9.0))],
)
def test_a_square_is_never_negative(interval: Interval, square: Interval) -> None:
    x = Builder().input("x")
    assert INTERVAL[Op.MUL](x * x, interval, interval) == square


def test_reciprocals_of_intervals_about_zero_are_unbounded() -> None:
    node = Builder().input("x")
    assert INTERVAL[Op.RECIP](node, (-1.0, 2.0)) == (-np.inf, np.inf)
    assert INTERVAL[Op.RECIP](node, (0.0, 2.0)) == (-np.inf, np.inf)
    assert INTERVAL[Op.RECIP](node, (2.0, 4.0)) == (0.25, 0.5)


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_for_other_states_of_a_robot(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = trace(canonicalize(random_robot(rng, 5)), ["id"])
    limits = dict.fromkeys(graph.inputs, (-2.0, 2.0))

    def states(n: int) -> dict[str, np.ndarray]:
        return {name: rng.uniform(-2, 2, n) for name in graph.inputs}

    ranges = analyse(graph, limits, states(5_000))
    assert set(ranges.bound) == set(graph.nodes)
    assert ranges.proven
    assert ranges.proven < set(graph.nodes)

    largest: dict[Node, float] = {}
    other = states(5_000)
    # at the corners of the box too, where intervals are reached
    for values in other.values():
        values[:1000] = np.where(values[:1000] < 0, -2.0, 2.0)
    evaluate(graph, other, lambda n, v: largest.update({n: float(np.abs(v).max())}))
    for node in ranges.proven:
        assert largest[node] <= ranges.bound[node] * (1 + 1e-12)


def test_the_smaller_of_proof_and_sample_counts() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    graph = Graph(("x", "y"), {"sum": x + y, "none": (x + y) - (y + 1.0) - x})
    samples = {"x": np.array([-1.0, 1.0]), "y": np.array([-1.0, 1.0])}
    ranges = analyse(graph, {"x": (-1, 1), "y": (-1, 1)}, samples, margin=0.25)
    total, none = graph.outputs["sum"], graph.outputs["none"]
    assert ranges.bound[total] == 2.0  # 2.5 with the margin: the proof is tighter
    assert total in ranges.proven
    assert ranges.bound[none] == 1.25  # the interval says 5
    assert none not in ranges.proven


def test_a_wider_margin_never_tightens_and_inputs_keep_their_limits() -> None:
    b = Builder()
    x = b.input("x")
    graph = Graph(("x",), {"y": b.sin(x) * x})
    samples = {"x": np.linspace(-1, 1, 50)}
    tight, loose = (analyse(graph, {"x": (-3, 1)}, samples, margin=m).bound for m in (0.0, 0.5))
    assert all(tight[n] <= loose[n] for n in graph.nodes)
    assert tight[x] == 3.0


def test_a_product_with_a_mantissa_has_room_for_its_jump() -> None:
    """Samples just above a power of two say nothing of the state just below."""
    builder = Builder()
    x, pivot = builder.input("x"), builder.input("d")
    product = builder.mul(x, builder.node(Op.MANTISSA, pivot))
    graph = Graph(("x", "d"), {"y": product})
    samples = {"x": np.array([-10.0, 10.0]), "d": np.array([1.9, 1.99])}
    ranges = analyse(graph, {"x": (-10.0, 10.0), "d": (0.5, 2.0)}, samples)
    jumped = evaluate(graph, {"x": np.array([10.0]), "d": np.array([1.01])})["y"]
    assert np.abs(jumped).max() > 1.2 * 10 / 0.95
    assert np.abs(jumped).max() <= ranges.bound[product]


def test_a_value_that_is_clipped_is_proven() -> None:
    """Where x is compared with a constant, x itself is chosen on its side of it only."""
    builder = Builder()
    x = builder.input("x")
    least = builder.select(x - 0.5, x, 0.5)
    clipped = builder.select(least + 0.25, -0.25, least)
    other = builder.select(x - 0.5, 2.0 * x, 0.5)
    graph = Graph(("x",), {"square": clipped * clipped, "other": other})
    found = intervals_of(graph, {"x": (-10.0, 10.0)})
    assert found[clipped] == (-0.25, 0.5)
    assert found[graph.outputs["square"]] == (0.0, 0.25)
    assert found[other] == (-20.0, 20.0)  # not compared itself
    for low, high in ((0.0, 0.3), (1.0, 2.0), (-3.0, -1.0)):
        interval = intervals_of(graph, {"x": (low, high)})[clipped]
        inside = np.clip([low, high], -0.25, 0.5)
        assert -0.25 <= interval[0] <= inside[0] <= inside[1] <= interval[1] <= 0.5
