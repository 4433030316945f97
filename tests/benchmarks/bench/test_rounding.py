"""What accelerations in float are off by."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen_benchmarks.bench.rounding import HEAD, of_robot


def test_refinement_takes_a_residual_in_double(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = of_robot("gantry", "fixed", 200, lambda _: None)
    assert len(found) == len(HEAD) - 1
    assert found["double"] < 1e-12 < 1e-9 < found["float"] < found["condition_ulps"]
    assert found["refined_double"] < found["float"]
    assert found["effort"] < 1e-5
