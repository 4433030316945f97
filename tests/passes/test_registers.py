"""What follows from a robot's numbers alone leaves the graph for registers."""

from __future__ import annotations

import numpy as np

from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.graph.text import from_text, to_text
from rbdgen.passes.registers import renumbered, to_registers

TEXT = """
input q
input number[0]
input number[1]
input number[2]
%0 = input q                                @ forward 0
%1 = input number[0]                        @ forward 0
%2 = input number[1]                        @ forward 0
%3 = input number[2]                        @ forward 0
%4 = mul %1 %2                              @ forward 0
%5 = mul %1 %0                              @ forward 0
%6 = mul %2 %5                              @ forward 0
%7 = add %4 %3                              @ forward 0
%8 = mul %7 %5                              @ forward 0
%9 = neg %4                                 @ forward 0
output a = %6
output b = %8
output c = %9
"""
MADE = """
input q
input parameter[0]
input parameter[1]
%0 = input q                                @ forward 0
%1 = input parameter[0]                     @ forward 0
%2 = mul %0 %1                              @ forward 0
%3 = input parameter[1]                     @ forward 0
%4 = mul %0 %3                              @ forward 0
%5 = neg %1                                  @ forward 0
output a = %2
output b = %4
output c = %5
"""


def numbers(n: int) -> Graph:
    builder = Builder()
    names = [f"number[{k}]" for k in range(n)]
    return Graph(tuple(names), {name: builder.input(name) for name in names})


def test_products_of_numbers_are_one_register() -> None:
    """b c a and (b c + d) a: a product each, and no register for what no product reads."""
    graph, makes = renumbered(*to_registers(from_text(TEXT), numbers(3)))
    assert lines(to_text(graph)) == lines(MADE)
    assert makes.operations()["mul"] == 2
    assert list(makes.outputs) == ["parameter[0]", "parameter[1]"]


def test_both_graphs_give_what_the_one_gave() -> None:
    graph = from_text(TEXT)
    made, makes = renumbered(*to_registers(graph, numbers(3)))
    rng = np.random.default_rng(1)
    given = {name: rng.normal(size=8) for name in graph.inputs}
    held = evaluate(makes, {name: given[name] for name in makes.inputs})
    expected, found = evaluate(graph, given), evaluate(made, {"q": given["q"], **held})
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-14)


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.strip().splitlines()]
