"""Angles in turns are the same angles."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Op
from rbdgen.graph.text import to_text
from rbdgen.graph.verify import verify
from rbdgen.passes.identities import phase
from rbdgen.robot.canonical import canonicalize
from tests.support.random_robots import random_robot


@pytest.mark.parametrize("seed", range(6))
def test_outputs_do_not_change(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = trace(canonicalize(random_robot(rng, 7, mimic=0.3)), ["id"])
    turned = verify(phase(graph))
    states = {name: rng.normal(0, 3, 20) for name in graph.inputs}
    before, after = evaluate(graph, states), evaluate(turned, states)
    size = max(np.abs(v).max() for v in before.values())
    for name, values in before.items():
        np.testing.assert_allclose(after[name], values, rtol=0, atol=1e-12 * size)
    sines = [n for n in turned.nodes if n.op in (Op.SIN, Op.COS)]
    assert sines
    assert {n.value for n in sines} == {1.0}


@pytest.mark.parametrize("offset", [-40.0, -3.0, 0.3, 7.0, 100.0])
def test_offsets_lose_whole_turns(offset: float) -> None:
    b = Builder()
    turned = phase(Graph(("q",), {"s": b.sin(b.input("q") + offset)}))
    constants = [n.value for n in turned.nodes if n.op is Op.CONST]
    assert all(abs(c) <= 0.5 for c in constants)
    q = np.linspace(-4, 4, 30)
    np.testing.assert_allclose(evaluate(turned, {"q": q})["s"], np.sin(q + offset), atol=1e-13)


def test_twice_is_once() -> None:
    b = Builder()
    once = phase(Graph(("q",), {"s": b.sin(b.input("q") + 0.3), "c": b.cos(b.input("q"))}))
    assert to_text(phase(once)) == to_text(once)
