"""Every word and flag: the table, and that a wrong one is found."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.errors import Mismatch
from rbdgen.graph.fixed import Integers
from rbdgen_benchmarks.bench import exact

SMALL = ("pendulum", "fixed")


def test_the_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(exact, "ROBOTS", (SMALL,))
    monkeypatch.setattr(exact, "STATES", 500)
    found = exact.exact_c(tmp_path, lambda _: None)
    assert [row["function"] for row in found] == list(exact.WHOLE)
    for row in found:
        assert row["states"] == 1000 and not row[exact.WORDS] and not row[exact.RAISED]
        assert row["that overflow"] > 0 or row["function"] in ("m", "minv")


def test_an_accelerator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(exact, "ACCELERATORS", ((*SMALL, ("id", "rk4"), 8),))
    monkeypatch.setattr(exact, "STATES", 100)
    found = exact.exact_accelerators(tmp_path, lambda _: None)
    assert [row["function"] for row in found] == ["id", "rk4"]
    assert not any(row[exact.WORDS] or row[exact.RAISED] for row in found)


def test_one_bit_and_one_flag_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def wrong(core: Any, words: dict[str, Integers]) -> tuple[dict[str, Integers], np.ndarray]:
        found, flags = right(core, words)
        name = list(found)[-1]
        found[name] = found[name].copy()
        found[name][7] ^= 1
        flags = flags.copy()
        flags[3, 0] ^= True
        return found, flags

    right = exact.integer_results
    monkeypatch.setattr(exact, "integer_results", wrong)
    monkeypatch.setattr(exact, "ROBOTS", (SMALL,))
    monkeypatch.setattr(exact, "WHOLE", ("id",))
    monkeypatch.setattr(exact, "STATES", 50)
    with pytest.raises(Mismatch, match="model's: pendulum id"):
        exact.exact_c(tmp_path, lambda _: None)
    (row,) = exact._cores("c", tmp_path, lambda _: None, ["pendulum"])  # kept
    assert row[6:8] == [1, 1]
