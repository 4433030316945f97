"""What is equal becomes one: sums, products and zeros; and what must stay two stays two."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest

from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.text import from_text, to_text
from rbdgen.graph.verify import GraphError, verify
from rbdgen.passes.identities import identities
from tests.random_robots import random_robot


def drawn(graph: Graph, n: int = 4, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0.0, 3.0, n) for name in graph.inputs}


def simplified(graph: Graph) -> Graph:
    after = verify(identities(verify(graph), drawn(graph)))
    expected, actual = (evaluate(g, drawn(graph, 50, 1)) for g in (graph, after))
    for name in graph.outputs:
        np.testing.assert_allclose(actual[name], expected[name], rtol=1e-9, atol=1e-12)
    return after


def of(make: object, names: str = "xyz") -> Graph:
    """A graph of one region whose outputs are what ``make(builder, inputs…)`` gives."""
    b = Builder()
    nodes = [b.input(name) for name in names]
    with b.region("forward", 0):
        outputs = make(b, *nodes)  # type: ignore[operator]
    return Graph(tuple(names), {f"out{k}": node for k, node in enumerate(outputs)})


def counts(graph: Graph) -> tuple[int, int]:
    """Multiplications of any kind, additions."""
    count = graph.operations()
    return count["mul"] + count["mulc"], count["add"]


def test_what_is_added_and_taken_away_again_is_gone() -> None:
    graph = of(lambda b, x, y, z: [(x * y + z) - z, x * y])
    after = simplified(graph)
    assert counts(after) == (1, 0)
    assert after.outputs["out0"] is after.outputs["out1"]


@pytest.mark.parametrize(
    ("make", "left"),
    [
        (lambda b, x, y, z: [(x * y) * z, x * (y * z)], (2, 0)),
        (lambda b, x, y, z: [(x + y) + z, x + (y + z)], (0, 2)),
        (lambda b, x, y, z: [(x + y) * (x - y), x * x - y * y], (1, 2)),
        (lambda b, x, y, z: [(x - y) * z, 4.0 * (y * z - x * z)], (1, 1)),  # up to sign and 2^k
        (lambda b, x, y, z: [b.sin(x + y), b.sin(y + z + x - z)], (0, 1)),
        (lambda b, x, y, z: [b.recip(x + y), b.recip(x + z + y - z)], (0, 1)),
        (lambda b, x, y, z: [0.3 * (x + y), 0.3 * y + 0.3 * x], (1, 1)),
    ],
)
def test_equal_values_written_differently_are_one(make: object, left: tuple[int, int]) -> None:
    after = simplified(of(make))
    assert counts(after) == left


def test_what_always_vanishes_is_zero() -> None:
    """r × (m r), and all that hangs on it."""

    def moment(b: Builder, x: Node, y: Node, z: Node) -> list[Node]:
        zero = (0.3 * x) * y - (0.3 * y) * x
        return [zero, z + zero * x]

    after = simplified(of(moment))
    assert after.outputs["out0"].op is Op.CONST
    assert after.outputs["out0"].value == 0
    assert after.outputs["out1"].op is Op.INPUT
    assert counts(after) == (0, 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda b, x, y, z: [(x * y) * z, (1 + 1e-8) * (x * (y * z))],
        lambda b, x, y, z: [x + y, (x + y) + 1e-8],
        lambda b, x, y, z: [x * y, 3.0 * (y * x)],
        lambda b, x, y, z: [(x + y) - (1 - 1e-10) * x, z],  # small, not zero
        lambda b, x, y, z: [b.sin(x), b.sin(x + 1e-8)],
        lambda b, x, y, z: [x * x + y * y, (x + y) * (x + y)],
        lambda b, x, y, z: [b.cos(x), b.sin(x), b.cos(y)],
    ],
)
def test_nearly_equal_values_stay_apart(make: object) -> None:
    graph = of(make)
    assert to_text(simplified(graph)) == to_text(graph)


def test_a_sign_that_differs_between_states_keeps_them_apart() -> None:
    graph = of(lambda b, x, y, z: [b.select(x, -y, y), b.select(x * y, -y, y)])
    assert to_text(simplified(graph)) == to_text(graph)


def between(first: str, again: str, before: str = "") -> Graph:
    """x·y·z in region forward 1, and again, written differently, in forward 2."""
    return from_text(
        dedent(f"""\
        input x
        input y
        input z
        %0 = input x
        %1 = input y
        %2 = input z
        {before or "%3 = neg %0           @ forward 2"}
        {first}
        {again}
        output a = %5
        output b = %7
        """)
    )


PRODUCTS = (
    "%4 = mul %0 %1        @ forward 1\n%5 = mul %2 %4        @ forward 1",
    "%6 = mul %1 %2        @ forward 2\n%7 = mul %0 %6        @ forward 2",
)


def test_regions_that_do_not_wait_for_each_other_share_nothing() -> None:
    graph = between(*PRODUCTS)
    assert to_text(simplified(graph)) == to_text(graph)


def test_a_product_is_taken_from_a_region_waited_for_already() -> None:
    first, again = PRODUCTS
    # forward 2 adds what forward 1 gives, then needs x y z too
    again = again + "\n%8 = add %4 %7        @ forward 2"
    graph = between(first, again.replace("output b", "output b"))
    graph = Graph(graph.inputs, {**graph.outputs, "c": _node(graph, first, again)})
    after = simplified(graph)
    assert after.outputs["b"] is after.outputs["a"]
    assert after.outputs["b"].region == ("forward", 1)


def _node(graph: Graph, first: str, again: str) -> Node:
    """%8 of the text, made in the graph's own builder."""
    a, b = graph.outputs["a"], graph.outputs["b"]
    xy = next(n for n in a.args if n.op is Op.MUL)
    with a.builder.region("forward", 2):
        return a.builder.add(xy, b)
