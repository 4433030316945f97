"""Designs placed for the clock models, nextpnr and Yosys replaced by what a run has left."""

import json
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.design.least_squares import FitError
from rbdgen.tools.nextpnr import Placement
from rbdgen.tools.report import SynthesisReport
from rbdgen_benchmarks.bench import clocks
from rbdgen_benchmarks.bench.clocks import PlacedDesign, page

DESIGNS = (("pendulum", {"ii": 1}), ("pendulum", {"ii": 2}), ("gantry", {"functions": "m"}))


def left_by_a_run(folder: Path, speed: int) -> None:
    """A netlist of two registers, and a report of three seeds."""
    top = api.read_manifest(folder)["name"]
    place = folder / "synthesis-ecp5-25f"
    place.mkdir()
    pins = {"port_directions": {"DI": "input", "Q": "output"}, "parameters": {}}
    cells = {
        name: {"type": "TRELLIS_FF", "connections": {"DI": [d], "Q": [q]}, **pins}
        for name, d, q in (("a", 2, 3), ("b", 3, 4))
    }
    (place / f"{top}.json").write_text(json.dumps({"modules": {top: {"cells": cells}}}))
    placements = tuple(
        Placement("ecp5-25f", speed, k, 20.0 * speed + k, {}, {}, {}, (), 1.0) for k in (1, 2, 3)
    )
    report = SynthesisReport(
        top, "ecp5-25f", "LFE5U-25F", {"TRELLIS_FF": 2}, {}, True, 1.0, {}, placements
    )
    (place / "report.json").write_text(json.dumps(report.to_json()))


def test_what_was_placed_is_not_placed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def synthesize(folder: Path, **options: Any) -> None:
        asked.append(folder.name)
        left_by_a_run(folder, *options["speeds"])

    monkeypatch.setattr(api, "synthesize", synthesize)
    monkeypatch.setattr(clocks, "DESIGNS", DESIGNS)
    monkeypatch.setattr(clocks, "AT_BOTH", 2)
    monkeypatch.setattr(clocks, "_shipped", list)
    found = clocks.clocks(tmp_path, lambda _: None)
    printed = capsys.readouterr().out
    assert len(asked) == 5 and "gantry --target ecp5-25f --function m" in printed
    slow, fast = found["speeds"].values()
    assert slow == {"about": pytest.approx(162 / 122, abs=1e-3), "off": 0.0, "designs": 2}
    assert fast == {"about": 1.0, "off": 0.0, "designs": 3}
    assert [one["path"]["hops"] for one in found["designs"]] == [1] * 5
    for model in found["models"].values():
        assert FitError.from_json(model["error"]).designs == 3
    again = clocks.clocks(tmp_path, lambda _: None)
    assert len(asked) == 5 and again == found
    text = (tmp_path / "clocks" / "clock.json").read_text()
    assert text == page(found) and json.loads(text) == found
    assert PlacedDesign.from_json(json.loads(text)["designs"][0]).mhz == 162.0
