"""Wishes from `info` and `generate` to the report of a placement."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.api.folder import UsageError
from rbdgen.api.synthesis import Synthesis
from rbdgen.cli.main import main
from rbdgen.design.wishes import Wishes
from rbdgen.robot.model import RobotError
from rbdgen.tools.nextpnr import Placement
from rbdgen.tools.report import Pace, SynthesisReport


def test_info_answers_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Words keep the error that is asked for, and the design is the smallest that has them."""
    words = ["info", "pendulum", "--error", "1e-5", "--latency", "1us", "--rate", "2MHz"]
    assert not main([*words, "--json", "--quiet"])
    facts = json.loads(capsys.readouterr().out)
    worst = max(own["scales"]["at the limits"]["relative"] for own in facts["errors"])
    assert worst <= 1e-5 and facts["multipliers"] > 3  # of 18 bits two do
    assert facts["wanted"]["reach"] and facts["target"] == "ecp5-25f"
    assert facts["initiation_interval"] == facts["wanted"]["options"]["ii"]
    assert facts["wanted"]["wishes"] == {"latency": 1e-6, "rate": 2e6}


def test_generate_makes_what_info_says(tmp_path: Path) -> None:
    said: list[str] = []
    own: dict[str, Any] = {"latency": "1us", "rate": 2e6, "error": 1e-4}
    made = api.generate("pendulum", tmp_path / "D", said.append, **own)
    entry = api.read_manifest(tmp_path / "D")
    line = entry["wanted"]["line"]
    assert f"--ii {entry['initiation_interval']} " in line and entry["wanted"]["reach"]
    assert entry["wanted"]["wishes"] == {"latency": 1e-6, "rate": 2e6}
    assert entry["target"] == "ecp5-25f" and entry["choices"]["error"] == 1e-4
    assert "the smallest that should reach that" in (made.folder / "README.md").read_text("utf-8")
    # one trace, one search for words
    assert sum(own.startswith("trace: ") for own in said) == 1
    assert said.count("ranges and word lengths") == 1
    options = entry["wanted"]["options"]
    api.generate("pendulum", tmp_path / "E", error=1e-4, **options)
    same = api.read_manifest(tmp_path / "E")
    assert same["files"]["design.yaml"] == entry["files"]["design.yaml"]
    assert same["files"][f"{same['name']}.v"] == entry["files"][f"{entry['name']}.v"]


def test_a_wish_that_nothing_reaches_ends_the_command_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "D"
    words = ["generate", "pendulum", "--target", "ecp5-25f", "--latency", "1ns", "--quiet"]
    assert main([*words, "-o", str(place)]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith(f"{place}\n") and "NOTHING of" in printed
    assert not api.read_manifest(place)["wanted"]["reach"]
    assert "NOTHING of" in (place / "README.md").read_text("utf-8")


def test_a_place_is_refused_before_any_search(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    said: list[str] = []
    with pytest.raises(api.OutputError, match="no design of rbdgen's"):
        api.generate("pendulum", tmp_path, said.append, latency="1us")
    assert said == []


@pytest.mark.parametrize("target", ["ecp5-85f", "xcup"])
def test_the_part_of_a_design_file_is_kept(tmp_path: Path, target: str) -> None:
    """Be it the usual one: what a file says holds."""
    robot = Path(api.__file__).parents[2] / "robots" / "pendulum.urdf"
    file = tmp_path / "d.yaml"
    file.write_text(f"robot: {robot}\ntarget: {target}\nwidth: 12\nlimits: {{velocity: 10}}\n")
    if target == "xcup":
        with pytest.raises(RobotError, match="the clock of xcup is not known"):
            api.info(str(file), rate="1MHz")
    else:
        assert api.info(str(file), rate="1MHz").facts.target == target


@pytest.mark.parametrize(
    ("latency", "rate", "to", "why"),
    [
        ("soon", None, "verilog", "latency: expected a time"),
        (None, -1, "verilog", "rate: expected a rate"),
        (None, 1e6, "cpp", "latency, rate, power: are of Verilog"),
    ],
)
def test_refused(
    tmp_path: Path, latency: str | None, rate: float | None, to: str, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        api.generate("pendulum", tmp_path / "D", to=to, latency=latency, rate=rate)


def test_a_missed_wish_ends_the_command_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    placed = (Placement("ecp5-25f", 6, 1, 100.0, {}, {}, {}, (), 1.0),)
    report = SynthesisReport("core", "ecp5-25f", "LFE5U-25F", {}, {}, True, 1.0, {}, placed)
    report = replace(report, paces={"id": Pace(42, 4, 50)})
    api.generate("pendulum", tmp_path / "D", width=12, ii=4)
    for latency, status, verdict in (
        (1e-6, 0, "reached, 50 % to spare"),
        (0.4e-6, 1, "MISSED by 25 %"),
        (0.49833e-6, 1, "MISSED by 0.34 %"),
        (0.50167e-6, 0, "reached, 0.33 % to spare"),
    ):
        own = Synthesis(replace(report, wanted=Wishes(latency)))
        monkeypatch.setattr(api, "synthesize", lambda *_, own=own, **__: own)
        assert main(["synthesize", str(tmp_path / "D"), "--place-and-route"]) == status
        assert verdict in capsys.readouterr().out


def test_a_placement_says_whether_wishes_are_reached() -> None:
    def placed(seed: int, speed: int, mhz: float) -> Placement:
        return Placement("ecp5-25f", speed, seed, mhz, {}, {}, {}, (), 1.0)

    own = SynthesisReport(
        "core",
        "ecp5-25f",
        "LFE5U-25F",
        {},
        {},
        True,
        1.0,
        {},
        (placed(1, 6, 90.0), placed(2, 6, 100.0), placed(3, 6, 120.0), placed(1, 8, 300.0)),
        paces={"id": Pace(42, 4, 50)},
        wanted=Wishes(1e-6, 20e6),
    )
    assert not own.missed
    assert own.verdict.endswith("25 % to spare (0.5 µs, 25 M tasks/s of the core) at speed 6")
    assert str(own).endswith(own.verdict)
    late = replace(own, wanted=Wishes(0.4e-6))
    assert late.missed and "MISSED by 25 %" in late.verdict
    # of a folder that does not say how long a task waits, no latency is promised
    assert replace(own, paces={"id": Pace(50, 4)}).missed
    assert replace(own, wanted=None).verdict == replace(own, placements=()).verdict == ""
