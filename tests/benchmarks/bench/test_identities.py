"""What the pass for identities saves is counted before and after it."""

from __future__ import annotations

from pathlib import Path

from rbdgen.compile.flow import front_end
from rbdgen_benchmarks.bench.identities import FUNCTIONS, KINDS, saved


def test_a_robot(tmp_path: Path) -> None:
    found = saved(tmp_path, lambda _: None, only=("gantry",))
    own, together = found[: len(FUNCTIONS)], found[len(FUNCTIONS) :]
    assert [row["function"] for row in own] == [row["function"] for row in together]
    assert all(a[kind] == b[kind] for a, b in zip(own, together, strict=True) for kind in KINDS)
    did = next(row for row in own if row["function"] == "did")
    graph = front_end("gantry", functions=("did",), fit=False).graph
    assert did["mul"][0] > did["mul"][1] >= graph.operations()["mul"]
    assert "| gantry | did | " in (tmp_path / "identities.md").read_text()
