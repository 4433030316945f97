"""Our designs beside the peers': the arithmetic by hand, clocks that were measured, refusals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from rbdgen import api
from rbdgen.cli.main import main
from rbdgen.design.coordinates import CoordinateError, ScaleError
from rbdgen.design.facts import CoreRun
from rbdgen.graph.accuracy import SCALES
from rbdgen_benchmarks.compare.comparison import _worst, compare, placed, relative, theirs
from rbdgen_benchmarks.compare.peers import PEERS, Line
from tests.support.made import generated


def line(name: str, robot: str = "iiwa14") -> Line:
    (peer,) = [p for p in PEERS if (p.name, p.robot) == (name, robot)]
    return theirs(peer)


def test_peers_by_hand() -> None:
    """RoboShape: 34 cycles of 18 ns, one result in 24, 5925 DSP. Dadu-RBD: 95 cycles at 125 MHz,
    4240 DSP, one in 24 to 34 cycles of 18 ns by 7.0 to 6.3, which is inferred."""
    (peer,) = [p for p in PEERS if p.name == "Dadu-RBD"]
    assert peer.interval == (7.7, 12.1) and "inferred" in peer.note
    shape, dadu = line("RoboShape").to_json(), line("Dadu-RBD").to_json()
    assert shape["latency_us"] == pytest.approx(0.612)
    assert shape["evaluations_per_us"] == pytest.approx(1 / 0.432)  # 2.3 M/s
    assert shape["evaluations_per_clock"] == pytest.approx(0.041667, rel=1e-4)
    assert shape["evaluations_per_clock_and_dsp"] == pytest.approx(1 / 24 / 5925)
    assert dadu["latency_us"] == pytest.approx(0.76)
    assert dadu["evaluations_per_us"] == pytest.approx(125 / 7.7)  # 10 to 16 M/s
    assert dadu["evaluations_per_clock_and_dsp"] == pytest.approx(1 / 7.7 / 4240)


def test_errors_are_those_of_the_simulation(tmp_path: Path) -> None:
    """Of the worst coordinate of each scale; none where there is no report of this version."""
    assert _worst(tmp_path) == ()
    fast, slow, good = (
        CoordinateError(
            f"tau[{k}]",
            "joint",
            "N·m",
            None,
            {own.name: ScaleError(x, 1.0, 2.0) for own, x in zip(SCALES, errors, strict=True)},
        )
        for k, errors in enumerate([(2e-4, 1e-3), (1e-4, 6e-3), (1e-6, 1e-6)])
    )
    run = CoreRun(10, 0, True, 1, 20, 1, 0, None, (good, slow, fast))
    (tmp_path / "simulation.json").write_text(json.dumps(run.to_json()))
    assert _worst(tmp_path) == (fast, slow)
    (tmp_path / "simulation.json").write_text('{"states": 10, "error": {"max_relative": 1e-4}}')
    assert _worst(tmp_path) == ()


def test_relative_by_hand() -> None:
    ours = Line("ours", 104, (1, 1), None, "", 1261)
    found = relative(ours, [line("RoboShape"), line("Dadu-RBD")])
    shape, dadu = found["RoboShape"], found["Dadu-RBD"]
    assert shape.evaluations_per_clock == pytest.approx(24)
    assert shape.evaluations_per_clock_and_dsp == pytest.approx(24 * 5925 / 1261)
    assert dadu.evaluations_per_clock == pytest.approx(7.7)
    assert dadu.evaluations_per_clock_and_dsp == pytest.approx(7.7 * 4240 / 1261)
    assert dadu.latency == pytest.approx(95 / 104)
    cycles = relative(ours, [line("RoboShape", "hyq")])["RoboShape"].to_json()
    assert cycles.pop("latency") == pytest.approx(57 / 104) and set(cycles.values()) == {None}


def test_a_robot_that_nobody_else_has(capsys: pytest.CaptureFixture[str]) -> None:
    """Compiled live; the numbers are those of the same designs elsewhere."""
    assert main(["compare", "pendulum", "--ii", "1,4", "--no-cpu", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    choices: dict[str, Any] = {"angles": "sincos", "gravity": (0.0, 0.0, 0.0), "target": "xcup"}
    for found, interval in zip(report["ours"], (1, 4), strict=False):
        facts = api.info("pendulum", functions=("did", "difd"), ii=interval, **choices)
        assert (found["latency"], found["dsp"]) == (facts["latency"], facts["multipliers"])
        assert found["evaluations_per_clock"] == 1 / interval and found["clock"] is None
    assert report["ours"][2]["clock"] == pytest.approx(1e3 / 18)
    assert report["peers"] == [] and report["cpu_ns"] == {}


def test_text() -> None:
    report = compare("pendulum", intervals=(2,), functions=("id",), cpu=False)
    assert "no hardware of others is known here" in report["text"]
    assert "DRACO" in report["text"] and "32-bit words" not in report["text"]


def test_a_clock_that_is_estimated() -> None:
    """As `info` has it, as a range, and called so; nobody takes it for one that was placed."""
    report = compare("pendulum", intervals=(4,), functions=("m",), cpu=False, target="ecp5-25f")
    own, info = report["ours"][0], api.info("pendulum", functions=("m",), ii=4, target="ecp5-25f")
    assert own["estimated"] == info["clocks"][0] and own["clock_of"] == "estimated"
    mhz = own["estimated"]["mhz"]
    assert own["latency_us"] == pytest.approx(own["latency"] / mhz["about"])
    row = next(line for line in report["text"].splitlines() if "II 4" in line)
    assert f"~{mhz['about']:.3g} ({mhz['least']:.3g} to {mhz['most']:.3g})" in row
    assert "~: estimated before place and route, by a model" in report["text"]
    parts = [own["parts"] for own in report["side"]["rows"] if "II 4" in own["name"]]
    assert parts and all("estimated, not placed" in own for own in parts)


@pytest.fixture
def design(tmp_path: Path) -> Path:
    return copytree(generated("pendulum", functions=("m",)), tmp_path / "design")


def test_clock_of_a_design(design: Path, tmp_path: Path) -> None:
    with pytest.raises(api.OutputError, match="not placed and routed"):
        placed(design, "pendulum", ("m",))
    with pytest.raises(api.OutputError, match="compared is pendulum: did, difd"):
        placed(design, "pendulum", ("did", "difd"))
    with pytest.raises(api.OutputError, match="compared is iiwa14: m"):
        placed(design, "iiwa14", ("m",))
    reports: Sequence[tuple[str, float]] = (("ecp5-25f", 120.5), ("ecp5-85f", 140.25))
    for target, clock in reports:
        runs = [{"fmax": clock - 20, "speed": 6}, {"fmax": clock, "speed": 8}]
        text = json.dumps({"part": target, "placements": runs})
        api.write_file(design / f"synthesis-{target}" / "report.json", text)
    found, words = placed(design, "pendulum", ("m",))
    assert (len(words.operands), len(words.results)) == (2, 3)
    entry = api.read_manifest(design)
    assert found.clock == 140.25 and found.name.endswith("(ecp5-85f, speed 8)")
    assert (found.latency, found.dsp) == (entry["latency"], entry["multipliers"]["hardware"])
    api.write_file(design / "synthesis-ecp5-85f" / "report.json", "[]")
    with pytest.raises(api.OutputError, match="is no report of rbdgen"):
        placed(design, "pendulum", ("m",))


@pytest.mark.parametrize(
    ("arguments", "said", "status"),
    [
        (["nonsense"], "no such robot", 2),
        (["pendulum", "--design", "nowhere"], "nowhere: no such folder", 2),
        (["pendulum", "--ii", "65"], "ii: a whole number of cycles from 1 to 64", 1),
    ],
)
def test_refused_in_one_line(
    arguments: list[str], said: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *arguments]) == status
    out, err = capsys.readouterr()
    assert not out and said in err
    assert len([x for x in err.splitlines() if not x.startswith("[")]) == 1
