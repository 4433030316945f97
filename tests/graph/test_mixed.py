"""Float among double, as NumPy's own float has it."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.graph.graph import Graph
from rbdgen.graph.mixed import evaluate_mixed
from rbdgen.graph.node import Builder


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
