"""Calls from Python beside Pinocchio's: a row, and results that differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen.api.results import Mismatch
from rbdgen_benchmarks.bench import python

pytest.importorskip("pinocchio")


def test_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, own in (("RUNS", 1), ("SECONDS", 1e-4), ("LARGE", 2000)):
        monkeypatch.setattr(python, name, own)
    (row,) = python.python.measure(tmp_path, lambda _: None, "iiwa14", "m")
    assert len(row) == len(python.HEAD)
    assert all(own > 0 for own in row[1:])


def test_results_that_differ() -> None:
    own = np.arange(4.0).reshape(2, 2)
    python._refuse_unlike("crba", own, np.triu(own))
    with pytest.raises(Mismatch, match="computeRNEADerivatives: dtau_dqd is not Pinocchio's"):
        python._refuse_unlike("computeRNEADerivatives", (own, own, own), (own, own.T, own))
