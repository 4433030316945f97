"""Every word and flag: the table, and that a wrong one is found."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.results import Mismatch
from rbdgen.graph.fixed import Integers
from rbdgen_benchmarks.bench import bit_exactness

SMALL = ("pendulum", "fixed")


def test_the_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bit_exactness, "ROBOTS", (SMALL,))
    monkeypatch.setattr(bit_exactness, "STATES", 500)
    found = bit_exactness.exact_c(tmp_path, lambda _: None)
    assert [row["function"] for row in found] == list(bit_exactness.WHOLE)
    for row in found:
        assert (
            row["states"] == 1000 and not row[bit_exactness.WORDS] and not row[bit_exactness.RAISED]
        )
        assert row["that overflow"] > 0 or row["function"] in ("m", "minv")


def test_an_accelerator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bit_exactness, "ACCELERATORS", ((*SMALL, ("id", "rk4"), 8),))
    monkeypatch.setattr(bit_exactness, "STATES", 100)
    found = bit_exactness.exact_accelerators(tmp_path, lambda _: None)
    assert [row["function"] for row in found] == ["id", "rk4"]
    assert not any(row[bit_exactness.WORDS] or row[bit_exactness.RAISED] for row in found)


def test_one_bit_and_one_flag_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def wrong(core: Any, words: dict[str, Integers]) -> tuple[dict[str, Integers], np.ndarray]:
        found, flags = right(core, words)
        name = list(found)[-1]
        found[name] = found[name].copy()
        found[name][7] ^= 1
        flags = flags.copy()
        flags[3, 0] ^= True
        return found, flags

    right = bit_exactness.integer_results
    monkeypatch.setattr(bit_exactness, "integer_results", wrong)
    monkeypatch.setattr(bit_exactness, "ROBOTS", (SMALL,))
    monkeypatch.setattr(bit_exactness, "WHOLE", ("id",))
    monkeypatch.setattr(bit_exactness, "STATES", 50)
    with pytest.raises(Mismatch, match="model's: pendulum id"):
        bit_exactness.exact_c(tmp_path, lambda _: None)
    (row,) = bit_exactness._core(tmp_path, lambda _: None, *SMALL, "id", "c")  # cached
    assert row[6:8] == [1, 1]
