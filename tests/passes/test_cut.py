"""The cheapest choice of what is in double, beside all that there are."""

from __future__ import annotations

from itertools import combinations

import pytest

from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.passes.mixed_precision import CONVERTED, MORE, Prices, cheapest


def cost(
    graph: Graph,
    nodes: frozenset[Node],
    price: float,
    own: dict[Node, float],
    read: dict[tuple[Node, Node], float],
) -> float:
    """Of a choice, as it is defined."""
    total = 0.0
    for node in graph.nodes:
        double = node in nodes
        users = [user in nodes for user in graph.users[node]]
        given = node in graph.outputs.values()
        total += MORE.get(node.op, 1.0) if double else price * own.get(node, 0.0) ** 2
        total += CONVERTED * (double and not all(users)) + CONVERTED * (double and given)
        total += CONVERTED * (not double and any(users))
        for user in set(graph.users[node]):
            if double and user not in nodes:
                total += price * read.get((node, user), 0.0) ** 2
    return total


@pytest.mark.parametrize("price", [0.1, 1.0, 3.0, 10.0, 1000.0])
def test_no_other_choice_is_cheaper(price: float) -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    product, total = x * y, x + y
    inverse = b.recip(total)
    last = inverse * product - total
    graph = Graph(("x", "y"), {"a": last * x, "b": product - y})
    operations = [node for node in graph.nodes if node.args]
    own = {node: 1.0 + node.index % 3 for node in operations}
    read = {(arg, node): 0.7 for node in operations for arg in node.args if arg.args}
    best = min(
        cost(graph, frozenset(some), price, own, read)
        for size in range(len(operations) + 1)
        for some in combinations(operations, size)
    )
    found = cheapest(Prices(graph, own, read), price)
    assert cost(graph, found, price, own, read) == pytest.approx(best, abs=0.05)
    assert (price != 0.1 or not found) and (price != 1000.0 or set(found) == set(operations))


def test_sine_and_cosine_of_an_angle_go_together() -> None:
    b = Builder()
    x = b.input("x")
    sine, cosine = b.sin(x), b.cos(x)
    graph = Graph(("x",), {"s": sine * sine, "c": cosine + 1.0})
    found = cheapest(Prices(graph, {sine: 1.0}, {(sine, graph.outputs["s"]): 1.0}), 1e3)
    assert {sine, cosine} <= found and not any(node.op is Op.INPUT for node in found)
