"""About how many cycles a graph takes: its longest path, or its products' wait for multipliers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rbdgen.compile.formulation import about, cycles, too_many, units
from rbdgen.design.design import Design
from rbdgen.design.target import find_target
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder

DESIGN = Design("", style="latency", target="ecp5-25f")
TARGET = find_target("ecp5-25f")  # 28 multipliers


def products(count: int) -> Graph:
    """So many products of inputs, side by side, each with a sum of three terms behind it."""
    builder = Builder()
    names = [f"x{k}" for k in range(count + 3)]
    x = [builder.input(name) for name in names]
    outputs = {f"y{k}": x[k] * x[k + 1] + x[k + 2] + x[k + 3] for k in range(count)}
    return Graph(tuple(names), outputs)


def test_longest_path() -> None:
    """The terms that are there are added first: a product and one sum."""
    assert cycles(products(4)) == 4 + 1
    assert about(products(28), DESIGN, TARGET) == 5


@pytest.mark.parametrize(("count", "wait"), [(29, 1), (56, 1), (57, 2)])
def test_products_wait(count: int, wait: int) -> None:
    assert about(products(count), DESIGN, TARGET) == 5 + wait
    assert about(products(count), replace(DESIGN, fit=False), TARGET) == 5  # made of logic


def test_clock() -> None:
    """Chained operations take parts of a cycle, and share no multipliers."""
    slow = replace(DESIGN, clock=100.0)
    assert 0 < about(products(4), slow, TARGET) < 1
    assert units(products(28), slow, TARGET) is None and not too_many(products(28), slow, TARGET)
    assert too_many(products(29), slow, TARGET)
