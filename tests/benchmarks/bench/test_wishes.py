"""Designs chosen for wishes and placed, nextpnr and Yosys replaced by what a run has left."""

import json
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.tools.nextpnr import Placement
from rbdgen.tools.report import Pace, SynthesisReport
from rbdgen_benchmarks.bench.wishes import CASES, HEAD, wishes
from tests.support.hdl_designs import entry_of


def placed(folder: Path, **options: Any) -> None:
    """A report of three seeds, of which the second is the median: 90 MHz."""
    entry = entry_of(folder)
    own = entry.tasks.functions["m"]
    pace = Pace(own.latency, own.interval, own.longest)
    (speed,) = options["speeds"]
    clocks = zip(options["seeds"], (100.0, 90.0, 80.0), strict=True)
    placements = tuple(
        Placement("ecp5-25f", speed, seed, mhz, {}, {}, {}, (), 1.0) for seed, mhz in clocks
    )
    report = SynthesisReport(
        entry.name, "ecp5-25f", "LFE5U-25F", {}, {}, True, 1.0, {}, placements, (), {"m": pace}
    )
    place = folder / "synthesis-ecp5-25f"
    place.mkdir()
    (place / "report.json").write_text(json.dumps(report.to_json()))


def test_what_was_wanted_and_what_is_placed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that misses its wish by its clock, beside a smaller one; neither is placed again."""
    monkeypatch.setattr(api, "synthesize", placed)
    case = ("pendulum", "m", "", "40MHz")
    assert case in CASES
    (row,) = wishes.measure(tmp_path, lambda _: None, *case)
    said = dict(zip(HEAD[:10], row[:10], strict=True))
    assert said["design"] == "--ii 4 --fold none" and said["part"] == "ecp5-25f"
    assert said["MHz, placed"] == "90.0" and said["to spare"] == f"{90 / 4 / 40 - 1:.0%}"
    smaller, *its = row[10:]
    assert smaller in ("-", *(f"--ii {k} --fold none" for k in range(5, 65)))
    assert (its == ["-", "-"]) == (smaller == "-") or its == ["-", "doubtful"]
    monkeypatch.delattr(api, "synthesize")
    assert [row] == list(wishes.measure(tmp_path, lambda _: None, *case))


def test_six_robots_and_twenty_wishes() -> None:
    assert len(CASES) == len(set(CASES)) == 20 and len({own[0] for own in CASES}) == 6
    assert all(latency or rate for _, _, latency, rate in CASES)
