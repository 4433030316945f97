"""Both forms of a program side by side, of a small robot."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen_benchmarks.bench import loops
from tests.support.nvcc import needed_nvcc


@pytest.mark.slow
def test_both_forms_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loops, "CASES", (("pendulum", "fixed", "did"),))
    monkeypatch.setattr(loops, "ARCHITECTURES", ("sm_90",))
    monkeypatch.setattr("rbdgen_benchmarks.compare.timing.PROCESSES", 1)
    inlined, looped = loops.loops(tmp_path, lambda line: None)["results"]
    assert (inlined["form"], looped["form"]) == ("inlined", "loops")
    assert inlined["operations"] == inlined["operations_in_all"]
    assert looped["operations"] <= looped["operations_in_all"]
    for own in (inlined, looped):
        assert own["code"] > 1000 and min(min(ns) for ns in own["ns"].values()) > 0
    printed = capsys.readouterr().out
    assert printed.count("pendulum, did") == 2 + len([*inlined["cuda"], *looped["cuda"]])
    needed_nvcc()
    for own in (inlined, looped):
        (kernels,) = own["cuda"]
        assert kernels["kernels"] == 1 and kernels["float"]["spilled"] == 0
