"""A row of the table of default designs' worst coordinates."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.graph.accuracy import REPORTED
from rbdgen_benchmarks.bench import accuracy


def test_a_row_names_the_worst_coordinate_at_each_scale(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(accuracy, "STATES", 200)
    (cells,) = accuracy.accuracy.measure(tmp_path, print, "pendulum", "fixed", "fd")
    row = dict(zip(accuracy.HEAD, cells, strict=True))
    assert (row["function"], row["every"], row["is time-multiplexed"]) == ("fd", 1, "products")
    limits, tenth, rest = (row[f"worst {scale.name}"] for scale in REPORTED)
    assert limits.endswith(" qdd[1]") and 1e-5 < float(limits.split()[0]) < 1e-3
    assert tenth.endswith(" qdd[1]") and float(tenth.split()[0]) > float(limits.split()[0])
    assert " rad/s² qdd[" in rest  # what holds the robot moves nothing, so nothing is relative
