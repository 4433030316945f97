"""A controller with ticks: its folder, and its loop with commands that are lost."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api import closed_loop
from rbdgen.api.ticked_loop import TickedHardware, tick_session
from rbdgen.cli.main import main
from rbdgen.design.manifest import HardwareManifest
from rbdgen.robot.model import RobotError
from rbdgen.tools.report import SynthesisReport

LAW: dict[str, Any] = {"controller": "computed-torque", "ii": 4}


@pytest.fixture(scope="module")
def law(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("ticks") / "D"
    api.generate("pendulum", place, tick=100, watchdog=2, **LAW)
    return place


def test_folder_says_what_its_ports_are(law: Path) -> None:
    said = json.loads((law / "manifest.json").read_text())
    own = said["ticks"]
    assert (own["cycles"], own["watchdog"]) == (100, 2)
    assert [word["name"] for word in own["state"]] == ["q[0]", "q[1]", "qd[0]", "qd[1]"]
    assert own["safe"]["q_ref[1]"] == "q[1]" and own["safe"]["qd_ref[1]"] == "0"
    assert any(note.startswith("tick: every 100 cycles, 1600 kHz of a") for note in said["notes"])
    for file in (f"{own['top']}.v", f"{own['top']}.il", f"{own['top']}.xml"):
        assert file in said["files"]
    readme = (law / "README.md").read_text()
    assert "the last good command was older than 2 ticks" in readme
    assert "| a command | word 2 | `q_ref[0]`, 20 bits | shoulder | rad | 17 |" in readme


def test_cells_are_those_around_the_core_too(law: Path) -> None:
    """The netlist has the port that trips; times are from a tick, not from a task."""
    facts = api.synthesize(law).facts
    own = json.loads((law / "manifest.json").read_text())["ticks"]
    assert isinstance(facts, SynthesisReport) and facts.top == own["top"]
    netlist = json.loads((law / "synthesis-ecp5-85f" / f"{facts.top}.json").read_text())
    assert len(netlist["modules"][facts.top]["ports"]["trip"]["bits"]) == 4
    pace = facts.paces["tick"]
    assert (pace.latency, pace.longest, pace.tick) == (*own["delay"], 100)
    assert pace.at(100.0) == (
        f"{pace.latency / 100:.2f} µs from a tick to its efforts, {own['delay'][-1] / 100:.2f} µs "
        "at most, 1000 kHz by --tick 100"
    )
    assert "a tick every 100 clocks" in str(facts)


@pytest.mark.rtl
def test_a_lost_command_trips_in_its_tick(law: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The third tick without one; the safe law is that of float64, and it is enabled again."""
    command = ["loop", str(law), "--rate", "1kHz", "--seconds", "0.2", "--drop", "10ms"]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "no commands from 0.0500 s to 0.0600 s" in said
    assert "tripped at 0.0520 s (command), enabled again at 0.0610 s" in said
    facts = json.loads((law / "loop.json").read_text())
    assert facts["bit_exact"] and facts["apart"] < 1e-4
    (trip,) = facts["trips"]
    assert trip["causes"] == ["command"] and abs(trip["at"] - 0.052) < 1e-9
    chart = (law / "loop.svg").read_text()
    assert "no commands" in chart and "safe law" in chart
    assert not api.loop(law, rate=500, seconds=0.02).facts.trips


@pytest.mark.rtl
def test_a_bit_that_differs_is_seen(law: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flipped(self: TickedHardware, *given: Any) -> tuple[int, ...]:
        first, *others = TickedHardware._drive(self, *given)
        return (first ^ 1, *others)

    wrong = type("Wrong", (TickedHardware,), {"_drive": flipped})
    monkeypatch.setattr(closed_loop, "TickedHardware", wrong)
    with pytest.raises(api.Mismatch, match="tick 0: the hardware's bits"):
        api.loop(law, rate=500, seconds=0.01)


@pytest.mark.parametrize(
    ("choices", "line"),
    [
        ({"tick": 20}, "tick: 20: the core takes 39 cycles from a tick to the next; --tick 39"),
        ({"tick": 99, "payload": "lower_rod"}, "tick: .*: neither a state nor a command has it"),
        ({"tick": 99, "controller": "gravity"}, "functions: gravity: not with --tick"),
    ],
    ids=str,
)
def test_refusals(choices: dict[str, Any], line: str, tmp_path: Path) -> None:
    with pytest.raises(RobotError, match=line):
        api.generate("pendulum", tmp_path / "D", **{**LAW, **choices})


def test_a_loop_has_time_for_a_command(law: Path) -> None:
    entry = api.read_manifest(law).facts
    assert isinstance(entry, HardwareManifest) and entry.ticks
    short = replace(entry.ticks, cycles=48)
    with pytest.raises(api.InputError, match=r"48 cycles has no time .* --tick 50 or more"):
        tick_session(law, entry, short, 0, lambda _: None)


@pytest.mark.rtl
def test_efforts_come_the_same_cycles_after_each_tick(law: Path) -> None:
    """Of the time base, whose cycles are a multiple of the interval; states come when they do."""
    entry = api.read_manifest(law).facts
    assert isinstance(entry, HardwareManifest) and entry.ticks
    session = tick_session(law, entry, entry.ticks, 0, lambda _: None)
    rows = session.rows(2000)
    rows[:, session.inputs["enable"]] = 1
    rows[::37, session.inputs["state_valid"]] = 1
    given = np.flatnonzero(session.run(rows)[:, session.outputs["efforts_valid"].start])
    assert len(given) == 19 and set(np.diff(given)) == {100}
    least, most = entry.ticks.delay
    assert least <= given[0] - 99 <= most
