"""Vectors that Verilog and the integer model agree on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.results import Mismatch
from rbdgen.tools.model import Model, Result
from rbdgen_benchmarks.bench.reliability import HEAD, Both, in_rounds


def one_bit_off(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Model.run

    def wrong(model: Model, *arguments: object, **options: object) -> Result:
        result = run(model, *arguments, **options)
        result.outputs[7, 0] = np.bitwise_xor(result.outputs[7, 0], 1)
        return result

    monkeypatch.setattr(Model, "run", wrong)


def test_every_bit_of_half_states_and_half_any_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = Both("id", tmp_path / "pendulum", "pendulum", 400)
    row = both.compared(0, lambda _: None)
    found = dict(zip(HEAD[1:], row, strict=True))
    assert found["vectors"] == 400
    assert found["words and flags"] == 400 * 2 * 2
    assert found["that differ"] == 0
    assert 0 < found["that overflow"] <= 200  # of any words alone
    assert found["cycles"] > 400 / 0.7
    assert both.compared(1, lambda _: None) != row  # other vectors

    one_bit_off(monkeypatch)
    assert both.compared(0, lambda _: None)[HEAD.index("that differ") - 1] == 1


def test_rounds_are_kept_and_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []

    def rounds(number: int) -> Any:
        return in_rounds(tmp_path, lines.append, number, "pendulum", 400, ("id", "m"))

    (first, _) = rounds(1)
    ran = len(lines)
    found = rounds(3)
    assert [row["vectors"] for row in found] == [1200, 1200]
    assert found[0]["that overflow"] > first["that overflow"]
    assert not any("id, round 1 of" in line for line in lines[ran:])  # that was kept
    assert "| id | 1200 |" in (tmp_path / "reliability.md").read_text()

    one_bit_off(monkeypatch)
    with pytest.raises(Mismatch, match="other bits"):
        rounds(9)
    assert "| id | 1600 |" in (tmp_path / "reliability.md").read_text()  # no round after that
