"""What chains take in the cost model of the bench, before words."""

from __future__ import annotations

from pathlib import Path

from rbdgen.compile.flow import front_end
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen_benchmarks.bench.arithmetic import arithmetic, by_threes, in_a_row
from rbdgen_benchmarks.bench.chains import chain_urdf


def test_sums_by_threes() -> None:
    """Of six terms two are added first, then three at a time: two cycles. Those of a product
    hide all but the last."""
    builder = Builder()
    names = [f"x{k}" for k in range(6)]
    x = [builder.input(name) for name in names]
    late = x[0] * x[1]
    graph = Graph(tuple(names), {"y": x[0] + x[1] + x[2] + x[3] + x[4] + x[5]})
    assert (by_threes(graph), in_a_row(graph)) == (2, 0)
    graph = Graph(tuple(names), {"y": late + x[2] + x[3] + x[4] + x[5]})
    assert (by_threes(graph), in_a_row(graph)) == (4 + 1, 1)


def test_chain_of_eight(tmp_path: Path) -> None:
    """The cost model's bars: 42 cycles, 740 + 380 products, and ⌈log₂ 8⌉ + 4 in a row."""
    file = tmp_path / "chain.urdf"
    file.write_text(chain_urdf(8))
    found = arithmetic(8, {"logarithmic": front_end(str(file), formulation="logarithmic").graph})
    own = found["logarithmic"]
    assert own["cycles"] <= 42 and own["in_a_row"] <= found["most_in_a_row"] == 7
    assert own["products"][0] <= 740 and own["products"][1] <= 380
