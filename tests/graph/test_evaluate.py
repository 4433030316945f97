"""Float evaluation against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rbdgen.dynamics.motion import RobotState
from rbdgen.dynamics.rnea import rnea
from rbdgen.dynamics.scalars import FloatScalars
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate, evaluate_mixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node
from rbdgen.robot.canonical import canonicalize
from tests.support.random_robots import random_robot


def test_each_operation_is_numpys() -> None:
    b = Builder()
    x, y, c = b.input("x"), b.input("y"), b.input("c")
    outputs = {
        "add": (x + y, np.add),
        "sub": (x - y, np.subtract),
        "neg": (-x, lambda x, y: -x),
        "mul": (x * y, np.multiply),
        "mulc": (0.3 * x, lambda x, y: 0.3 * x),
        "sin": (b.sin(x), lambda x, y: np.sin(x)),
        "cos": (b.cos(x), lambda x, y: np.cos(x)),
        "sin in turns": (b.sin(x, 1.0), lambda x, y: np.sin(math.tau * x)),
        "cos in turns": (b.cos(x, 1.0), lambda x, y: np.cos(math.tau * x)),
        "recip": (b.recip(x), lambda x, y: 1 / x),
        "mantissa": (b.mantissa(x), lambda x, y: np.array([2.0, -2.0, 2.0, 4 / 3])),
        "exponent": (b.exponent(x), lambda x, y: np.array([1.0, 2.0, 0.0, 2.0])),
        "scale": (b.scale(y, b.exponent(x)), lambda x, y: y / np.array([2.0, 4.0, 1.0, 4.0])),
        "select": (b.select(c, x, y), lambda x, y: np.array([y[0], y[1], x[2], x[3]])),
        "const": (b.const(3.5), lambda x, y: np.full(4, 3.5)),
    }
    states = {
        "x": np.array([1.0, -2.0, 0.5, 3.0]),
        "y": np.array([0.3, 0.7, -1.1, 9.0]),
        "c": np.array([0.0, 1.0, -1e-9, -5.0]),
    }
    values = evaluate(Graph(("x", "y", "c"), {k: n for k, (n, _) in outputs.items()}), states)
    for name, (_, expected) in outputs.items():
        np.testing.assert_array_equal(values[name], expected(states["x"], states["y"]), name)


def test_powers_of_two_are_exact() -> None:
    b = Builder()
    graph = Graph(("k",), {"y": b.scale(b.const(1.0), b.input("k"))})
    k = np.arange(-1000.0, 1000.0)
    np.testing.assert_array_equal(evaluate(graph, {"k": k})["y"], np.ldexp(1.0, -k.astype(int)))


def test_graph_of_an_algorithm_is_the_algorithm() -> None:
    """Interpreted on arrays and traced, RNEA is the same function."""
    robot = canonicalize(random_robot(np.random.default_rng(7), 7))
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, robot.nv, 10))
    computed = rnea(FloatScalars(), robot, RobotState(list(q), list(qd), list(qdd)))
    state = {
        f"{name}[{k}]": values[k]
        for name, values in (("q", q), ("qd", qd), ("qdd", qdd))
        for k in range(robot.nv)
    }
    traced = evaluate(trace(robot, ["id"]), state)
    for k, tau in enumerate(computed):
        np.testing.assert_allclose(traced[f"tau[{k}]"], tau, rtol=1e-11, atol=1e-10)


def test_watch_sees_every_live_node_once_and_in_order() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    b.recip(x)  # dead: evaluating it would divide by zero
    graph = Graph(("x", "y"), {"z": (x + y) * (x - y)})
    seen: list[Node] = []
    with np.errstate(all="raise"):
        evaluate(graph, {"x": np.zeros(2), "y": np.ones(2)}, lambda n, _: seen.append(n))
    assert tuple(seen) == graph.nodes


def test_a_batch_may_be_scalar_or_empty() -> None:
    b = Builder()
    graph = Graph(("x",), {"y": 2.0 * b.input("x"), "one": b.const(1.0)})
    assert evaluate(graph, {"x": np.float64(3.0)}) == {"y": 6.0, "one": 1.0}
    empty = evaluate(graph, {"x": np.zeros(0)})
    assert empty["y"].shape == empty["one"].shape == (0,)


def test_float_is_numpys_and_double_is_not_rounded() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    product = 0.1 * (x * y)
    graph = Graph(("x", "y"), {"sum": product + y, "over": b.recip(x), "one": b.const(0.1)})
    rng = np.random.default_rng(3)
    inputs = {name: rng.uniform(1, 2, 1000) for name in graph.inputs}
    a, c = (inputs[name].astype(np.float32) for name in "xy")
    found = evaluate_mixed(graph, inputs, ())
    np.testing.assert_array_equal(found["sum"], np.float32(0.1) * (a * c) + c)
    np.testing.assert_array_equal(found["over"], np.float32(1) / a)
    assert set(found["one"]) == {float(np.float32(0.1))}
    wide = evaluate_mixed(graph, inputs, {node for node in graph.nodes if node.args})
    exact = 0.1 * (a.astype(float) * c) + c
    np.testing.assert_array_equal(wide["sum"], exact.astype(np.float32))
    assert (wide["sum"] != found["sum"]).any()


@pytest.mark.parametrize("last", [False, True])
def test_what_float_reads_of_double_is_rounded(last: bool) -> None:
    b = Builder()
    x = b.input("x")
    square = x * x
    graph = Graph(("x",), {"y": square - 1.0})
    inputs = {"x": np.array([1.0 + 2.0**-20])}
    found = evaluate_mixed(graph, inputs, {square, *graph.nodes} if last else {square})
    assert found["y"][0] == (2.0**-19 + 2.0**-40 if last else 2.0**-19)
