"""A package of ROS 2 beside KDL: a row of each call, and what is missing where KDL is."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen_benchmarks.bench import ros2


@pytest.mark.slow
@pytest.mark.skipif(
    not all(own.is_dir() for own in ros2.KDL),
    reason="no KDL: apt-get install liborocos-kdl-dev libkdl-parser-dev",
)
def test_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ros2, "RUNS", 1)
    rows = list(ros2.ros2.measure(tmp_path, lambda _: None, *ros2.CASES[0]))
    assert [row[1] for row in rows] == [*ros2.CALLS]
    assert all(len(row) == len(ros2.HEAD) and min(row[2:5]) > 0 for row in rows)
    assert 0 < float(rows[0][5]) < 1e-12


def test_without_kdl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ros2, "KDL", (tmp_path / "none",))
    with pytest.raises(StopIteration, match="no KDL here: apt-get install liborocos-kdl-dev"):
        next(ros2.ros2.measure(tmp_path, lambda _: None, *ros2.CASES[0]))
