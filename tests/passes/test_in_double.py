"""What is in double among floats: no more than the error takes, and the error is kept."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.graph.evaluate import evaluate, evaluate_mixed, to_float
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.passes.mixed_precision import KEPT, computing, in_double


def cancelling() -> tuple[Graph, dict[str, np.ndarray]]:
    """An output that is a small difference of large products, and one that is not."""
    b = Builder()
    x, y = b.input("x"), b.input("y")
    small = 1000.0 * (x * x - y * y)
    graph = Graph(("x", "y"), {"qdd[0]": small, "tau[0]": b.sin(x) * y, "tau[1]": x + y})
    rng = np.random.default_rng(5)
    base = to_float(rng.uniform(1, 2, 3000))
    return graph, {"x": base, "y": to_float(base + rng.uniform(-1e-3, 1e-3, 3000))}


def test_only_what_cancels_is_in_double() -> None:
    graph, samples = cancelling()
    found = in_double(graph, samples, 1e-6)
    assert found.alone > 1e-5 and found.reached <= KEPT * 1e-6 and found.states == 3000
    assert 3 <= len(found.nodes) <= 4
    assert graph.outputs["tau[1]"] not in found.nodes
    rng = np.random.default_rng(6)
    x = to_float(rng.uniform(1, 2, 20_000))
    others = {"x": x, "y": to_float(x + rng.uniform(-1e-3, 1e-3, 20_000))}
    exact = evaluate(graph, others)["qdd[0]"]
    off = np.abs(evaluate_mixed(graph, others, found.nodes)["qdd[0]"] - exact).max()
    assert off <= 1e-6 * np.abs(exact).max()


def test_float_alone_where_that_is_enough() -> None:
    graph, samples = cancelling()
    assert not in_double(graph, samples, 1.0).nodes
    refused = in_double(graph, samples, 1e-6, may=False)
    assert not refused.nodes and refused.reached == refused.alone > 1e-5


def test_states_that_become_floats_are_others() -> None:
    graph, samples = cancelling()
    assert in_double(graph, samples, 1e-6).inputs == 0  # they are floats
    rng = np.random.default_rng(8)
    x = rng.uniform(1, 2, 3000)
    others = {"x": x, "y": x + rng.uniform(-1e-3, 1e-3, 3000)}
    found = in_double(graph, others, 1e-6)
    off = evaluate(graph, {name: to_float(own) for name, own in others.items()})["qdd[0]"]
    exact = evaluate(graph, others)["qdd[0]"]
    assert found.inputs == np.abs(off - exact).max() / np.abs(off).max() > 1e-5
    assert found.reached <= KEPT * 1e-6


def test_what_lengths_of_floats_are_off_by() -> None:
    """c² + s² of floats is not 1; and where nothing is said to have length 1 nothing is off."""
    b = Builder()
    c, s = b.input("cos[0]"), b.input("sin[0]")
    graph = Graph(("cos[0]", "sin[0]"), {"qdd[0]": 1000.0 * (c * c + s * s - 1.0)})
    angle = np.random.default_rng(9).uniform(-3, 3, 1000)
    samples = {"cos[0]": np.cos(angle), "sin[0]": np.sin(angle)}
    units = [("cos[0]", "sin[0]")]
    found = in_double(graph, samples, 1e-6, may=False, units=units)
    assert found.lengths == pytest.approx(1, rel=1e-6) and found.inputs == pytest.approx(1)
    assert in_double(graph, samples, 1e-6, may=False).lengths == 0


def test_everything_where_nothing_less_will_do() -> None:
    graph, samples = cancelling()
    found = in_double(graph, samples, 1e-9)
    assert found.nodes == computing(graph)
    assert found.reached == pytest.approx(2.0**-24, rel=0.5)
