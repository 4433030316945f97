"""``rbdgen energy``: a pendulum's core, and what is refused in one line."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from rbdgen import api
from rbdgen.api.reports import reports_in
from rbdgen.cli.main import main
from rbdgen.tools.toolchain import SynthesisError
from tests.support.made import generated


@pytest.mark.rtl
@pytest.mark.synthesis
@pytest.mark.slow
def test_energy_of_a_pendulum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each bit of the netlist's results equal, all numbers with a range, and the report has it."""
    place = tmp_path / "design"
    shutil.copytree(generated("pendulum", functions=("g",), ii=2, fold="none"), place)
    assert (
        main(
            [
                "energy",
                str(place),
                "--states",
                "100",
                "--frequency",
                "100",
                "--rate",
                "1kHz",
                "--quiet",
            ]
        )
        == 0
    )
    text = capsys.readouterr().out
    assert "100 random states, a task every 2 clocks; every bit equal" in text
    assert re.search(r"^\S+ \(\S+ to \S+\) nJ a result: an estimate", text, re.M)
    found = reports_in(place, api.read_manifest(place).design).energy
    assert found is not None
    assert json.loads((place / "energy.json").read_text()) == found.to_json()
    assert {own.region for own in found.regions} >= {"forward_0", "backward_0", "schedule"}
    assert found.nj.low < found.nj.central < found.nj.high
    assert [own.rate for own in found.power] == [50e6, 1e3]
    # a netlist of other contents is noticed by its results
    netlist = next(place.glob("synthesis-*/pendulum*.json"))
    document = json.loads(netlist.read_text())
    (module,) = (own for name, own in document["modules"].items() if name == found.top)
    for name, cell in module["cells"].items():
        if cell["type"] == "CCU2C" and name.startswith("forward"):
            cell["parameters"]["INIT1"] = "0" * 16
    netlist.write_text(json.dumps(document))
    with pytest.raises(api.Mismatch):
        api.energy(place, 100)


@pytest.mark.rtl
@pytest.mark.synthesis
@pytest.mark.slow
def test_time_multiplexed_joints_rest_as_cells(tmp_path: Path) -> None:
    """No net changes without tasks, and what goes on is the clock: of registers, and of a table."""
    place = tmp_path / "design"
    shutil.copytree(generated("pendulum", functions=("g",), ii=8, fold="joints"), place)
    found = api.energy(place, 60).facts
    assert found.idle_toggles == 0 < 100 < found.busy_toggles
    assert found.idle_share < 0.4


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"target": "gw2a-18"}, "energy: gw2a-18: energies of GW2A-18's cells are not known"),
        ({"accelerator": True, "functions": ("g",), "ii": 2}, "energy: of a core"),
        ({}, "states: 2; full rate is seen with at least "),
    ],
)
def test_what_is_refused(choices: dict[str, object], message: str) -> None:
    with pytest.raises(api.UsageError, match=message):
        api.energy(generated("pendulum", **choices), states=2)


@pytest.mark.parametrize(
    ("rate", "message"),
    [("1kHz", "rate: watts need a clock: add --frequency MHZ"), ("1 furlong", "rate: expected a")],
)
def test_rates_that_are_refused(rate: str, message: str) -> None:
    with pytest.raises(api.UsageError, match=message):
        api.energy(generated("pendulum"), rate=rate)


def test_no_netlist(tmp_path: Path) -> None:
    place = tmp_path / "design"
    shutil.copytree(generated("pendulum"), place)
    name = api.read_manifest(place).design.name
    file = place / "synthesis-ecp5-85f" / f"{name}.json"
    file.parent.mkdir()
    file.write_text("[]")
    with pytest.raises(SynthesisError, match=r"no netlist of .*; run rbdgen synthesize again"):
        api.energy(place)
