"""Sums that a multiplier's adder could take in, in a graph that is counted on paper."""

from __future__ import annotations

from rbdgen.design.target import find_target
from rbdgen.graph.fixed import FixedGraph, Format
from rbdgen.graph.node import Op
from rbdgen_benchmarks.bench.cell_adders import counted, fusible, longest
from tests.support.notation import graph


def test_sums_behind_products() -> None:
    """Fused: a sum with a product, one of two products, no difference from a product, no sum with
    a product that is rounded or read twice."""
    made = graph(
        one="x*y + x",
        two="w*w + z*z",
        less="x - y*x",
        _twice="y*y",
        third="_twice + x",
        fourth="_twice - y",
        _exact="x*x",
        fifth="_exact + y",
    )
    word = Format(12, 8)
    exact = made.outputs["fifth"].args[0]
    formats = {node: word if node.op is Op.INPUT else Format(14, 8) for node in made.nodes}
    formats[exact] = Format(14, 8, rounded=True)
    fixed = FixedGraph(made, dict.fromkeys("wxyz", word), formats, 18)
    assert list(fusible(fixed, find_target("xcup"))) == [made.outputs["one"], made.outputs["two"]]
    found = counted(fixed, find_target("xcup"))
    assert (found["products"], found["sums"], found["fused"], found["of_two"]) == (6, 6, 2, 1)
    assert (found["bits"], found["fused_bits"]) == (6 * 14, 2 * 14)
    # the input's register, four of the product and one that rounds, the sum
    assert (found["cycles"], found["fused_cycles"]) == (7, 7)
    assert found["overflowing"] == 6
    assert (found["before"], found["before_exact"]) == (0, 0)


def test_sums_before_products() -> None:
    """One that is exact, one that rounds; not one that a sum reads, too."""
    made = graph(one="(x + y)*z", two="(x + z)*y", _both="y + z", three="_both*x", four="_both + x")
    word = Format(12, 8)
    formats = {node: word if node.op is Op.INPUT else Format(14, 8) for node in made.nodes}
    formats[made.outputs["two"].args[0]] = Format(14, 7)
    fixed = FixedGraph(made, dict.fromkeys("xyz", word), formats, 18)
    found = counted(fixed, find_target("xcup"))
    assert (found["sums"], found["before"], found["before_exact"]) == (4, 2, 1)


def test_a_fused_sum_takes_no_cycle() -> None:
    made = graph(one="x*y + x")
    word = Format(12, 8)
    formats = {node: word if node.op is Op.INPUT else Format(14, 8) for node in made.nodes}
    fixed, part = FixedGraph(made, dict.fromkeys("xy", word), formats, 18), find_target("xcup")
    assert longest(fixed, part, {}) - longest(fixed, part, fusible(fixed, part)) == 1
