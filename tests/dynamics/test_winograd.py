"""Two products in one, where a matrix product has dots enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rbdgen.dynamics.winograd import in_pairs
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op


def sizes(nodes: Sequence[Node]) -> list[float]:
    """Rows are a thousand times the columns."""
    return [1000.0 if node.name[0] == "x" else 1.0 for node in nodes]


def product_of(rows: int, columns: int, places: int) -> tuple[Graph, dict[str, np.ndarray]]:
    """Each row's dots with each column, as a graph, and random inputs of it."""
    builder, rng = Builder(), np.random.default_rng(7)
    x = [[builder.input(f"x[{i},{k}]") for k in range(places)] for i in range(rows)]
    y = [[builder.input(f"y[{k},{j}]") for k in range(places)] for j in range(columns)]
    found = in_pairs([(row, column) for row in x for column in y], sizes)
    graph = Graph(
        tuple(node.name for own in (*x, *y) for node in own),
        {f"z[{n}]": builder.lift(value) for n, value in enumerate(found)},
    )
    scale = {"x": 1000.0, "y": 1.0}
    return graph, {name: scale[name[0]] * rng.uniform(-1, 1, 50) for name in graph.inputs}


@pytest.mark.parametrize(
    ("rows", "columns", "places", "products"),
    [
        (4, 5, 6, 3 * (4 * 5 + 4 + 5)),  # a product for each pair, row and column
        (4, 5, 7, 3 * (4 * 5 + 4 + 5) + 4 * 5),  # an odd place stands alone
        (1, 5, 6, 6 * 5),  # a correction of one dot saves nothing
    ],
)
def test_as_many_products(rows: int, columns: int, places: int, products: int) -> None:
    graph, inputs = product_of(rows, columns, places)
    assert graph.operations()["mul"] == products
    found = evaluate(graph, inputs)
    for n in range(rows * columns):
        i, j = divmod(n, columns)
        true = sum(inputs[f"x[{i},{k}]"] * inputs[f"y[{k},{j}]"] for k in range(places))
        assert np.abs(found[f"z[{n}]"] - true).max() < 1e-12 * np.abs(true).max()


def test_no_product_is_far_larger_than_the_dots() -> None:
    """|first product| ≤ (√(X₁Y₁) + √(X₂Y₂))², up to rounding √(Y/X) to a power of two."""
    graph, inputs = product_of(4, 4, 2)
    largest = 0.0

    def watch(node: Node, value: np.ndarray) -> None:
        nonlocal largest
        if node.op is Op.MUL and all(arg.op is Op.ADD for arg in node.args):
            largest = max(largest, float(np.abs(value).max()))

    evaluate(graph, inputs, watch)
    assert 1000.0 < largest < 1.1 * 4 * 1000.0  # unscaled it would be 1000²


def test_numbers_and_what_is_always_zero_stay_apart() -> None:
    builder = Builder()
    x = [builder.input(f"x[{k}]") for k in range(4)]
    y = [builder.input(f"y[{k}]") for k in range(4)]
    dots = [
        ([a, 2.0, b, x[2]], [c, d, y[2], d]) for a in x[:2] for b in x[:2] for c in y for d in y
    ]
    never = in_pairs(dots, lambda nodes: [0.0 if node is x[2] else 1.0 for node in nodes])
    plain = [sum((a * b for a, b in zip(*dot, strict=True)), 0.0) for dot in dots]
    assert never == plain  # the same nodes
