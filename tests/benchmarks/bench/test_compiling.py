"""CPU time of the C++ compiler, by node."""

from pathlib import Path

import pytest

from rbdgen_benchmarks.bench import compiling


def test_a_row_for_each_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "CASES", (("pendulum", "fixed", ("g",)),))
    (row,) = compiling.compiling(tmp_path, lambda _: None)
    assert row["nodes"] > 3 and row["parts"] == 1
    assert row["CPU s"] > 0
    assert row["CPU ms a node"] == pytest.approx(1000 * row["CPU s"] / row["nodes"], rel=0.2)
