"""Products that C++ has within sums."""

from __future__ import annotations

import re

from rbdgen.codegen.cpp import cpp, fused_products
from rbdgen.codegen.interface import Array, ArrayEntry, ArrayInterface
from rbdgen.codegen.statement_order import computed
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder


def test_a_product_stands_in_the_sum_that_alone_reads_it() -> None:
    """Others have a statement: read twice, an output, read later, in another precision."""
    b = Builder()
    x, y, z = (b.input(name) for name in "xyz")
    once, twice, output, later, double = (b.mul(k, x * y * z) for k in (2.0, 3.0, 5.0, 7.0, 11.0))
    sums = {"a": once + x, "b": twice + x, "c": twice + y, "d": output + x, "e": double - x}
    graph = Graph(("x", "y", "z"), {**sums, "f": output, "g": later + x})
    nodes = computed(graph)
    last = [graph.outputs["g"]]
    assert fused_products(
        graph, [[node for node in nodes if node not in last], last], [double]
    ) == {once}

    given, made = ({name: ArrayEntry(name, 0) for name in own} for own in ("xyz", graph.outputs))
    takes, gives = (tuple(Array(name, ()) for name in own) for own in (given, made))
    interface = ArrayInterface(takes, gives, given, {name: (at,) for name, at in made.items()})
    about = {"robot": "a robot", "functions": "functions"}
    files, _ = cpp(graph, interface, "made", about, in_double=[double])
    kernel = files["made_kernel.inc"]
    for factor, statements in (("2", 0), ("3", 1), ("5", 1), ("7", 0), ("11", 1)):
        assert len(re.findall(rf"= [SD]\({factor}\.0\) \*", kernel)) == statements
    assert re.search(r"= in0 \+ \(S\(2\.0\) \* n\d+\);", kernel)
