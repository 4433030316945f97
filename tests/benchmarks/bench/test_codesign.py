"""The codesigns of ∇FD: what a bar is made of, and the whole measurement on a small robot."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen_benchmarks.bench import codesign
from rbdgen_benchmarks.compare import timing
from rbdgen_benchmarks.compare.link_times import PCIE
from rbdgen_benchmarks.compare.timing import ProgramTimes, Times

PARTS = ("motion", "slopes", "product", "did", "difd")
GEN1 = PCIE[0]


def measured() -> codesign.Measured:
    host = {
        name: ProgramTimes(100.0, {16: Times(3.0, 40.0 + k, 40.0 + k, 900.0, 1.0)})
        for k, name in enumerate(PARTS)
    }
    halves = {
        "split": codesign.Half(18, 1, 1000, 121, 89),
        "fused": codesign.Half(20, 1, 700, 21, 89),
        "completely fused": codesign.Half(21, 1, 1300, 49, 91),
    }
    return codesign.Measured(host, halves)


def test_a_bar_is_host_link_host() -> None:
    found = measured().parts("split", GEN1, 16)
    link = measured().halves["split"].microseconds(GEN1, 16)
    assert list(found.values()) == pytest.approx([0.64, link, 0.672])
    assert list(measured().parts("completely fused", None, 16).values()) == pytest.approx([0.704])
    # a turn, 15 tasks of 121 words and their heads at 2 GB/s each way, and what is not overlapped
    assert link == pytest.approx(1.0 + 16 * 0.295 + 0.35, rel=0.05)


def test_threads_count_where_they_are_faster() -> None:
    times = {16: Times(3.0, 40.0, 40.0, 25.0, 1.0)}
    host = {name: ProgramTimes(100.0, times) for name in PARTS}
    assert codesign.Measured(host, {}).host_us("did", 16) == pytest.approx(0.4)
    assert codesign.Measured(host, {}).host_us("did", 16, cores=False) == pytest.approx(0.64)


@pytest.mark.slow
def test_the_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(codesign, "ROBOT", "gantry")
    monkeypatch.setattr(codesign, "SIZES", (16,))
    monkeypatch.setattr(timing, "PROCESSES", 1)
    found = codesign.codesign(tmp_path, lambda _: None)
    out = capsys.readouterr().out
    assert "completely fused" in out and "scheduled for it, not placed" in out
    times = {(row["division"], row["boundary"]): row["µs"] for row in found["rows"]}
    assert len(times) == 3 * (1 + len(PCIE)) and min(times.values()) > 0
    assert times["fused", "PCIe Gen1 x8"] > times["fused", "PCIe Gen3 x16"]
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"codesign-{k}.svg" for k in (1, 2, 3)]
