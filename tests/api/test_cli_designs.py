"""Commands on a design's folder: spoilt ones are one line, and a wrong bit is seen."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest

from rbdgen import api
from rbdgen.api import folder
from rbdgen.cli.main import main
from rbdgen.design.facts import CoreRun
from tests.support.command_line import refused
from tests.support.coordinates import worst_of
from tests.support.made import generated


@pytest.fixture
def design(place: Path) -> Path:
    """A copy, to be spoilt."""
    shutil.copytree(generated("pendulum"), place / "design")
    return Path("design")


@pytest.mark.parametrize("command", ["simulate", "synthesize"])
@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"name": "pendulum_id"', "\udcff\udcfe"], ids=repr
)
def test_spoilt_manifest(
    command: str, text: str, design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (design / "manifest.json").write_text(text, errors="surrogateescape")
    message = "design/manifest.json: damaged, or of an older rbdgen; make the design again"
    assert refused(capsys, command, "design").startswith(message)


def test_changed_manifest(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = design / "manifest.json"
    before = file.read_text()
    file.write_text(re.sub(r'"width": \d+', '"width": 33', before, count=1))
    assert file.read_text() != before
    assert refused(capsys, "simulate", "design").startswith("design/manifest.json: damaged")


@pytest.mark.parametrize("file", ["graph.txt", "design.yaml", "robot.urdf", "pendulum_id.v"])
def test_missing_file(file: str, design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (design / file).unlink()
    assert f"design/{file}: " in refused(capsys, "simulate", "design") + ": "


def test_what_is_no_graph(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (design / "graph.txt").read_text() + "one node more\n"
    (design / "graph.txt").write_text(text)
    manifest = api.read_manifest(design)
    manifest["files"]["graph.txt"] = hashlib.sha256(text.encode()).hexdigest()
    (design / "manifest.json").write_text(folder.sealed(manifest))
    said = refused(capsys, "simulate", "design")
    assert said.startswith("design/graph.txt: line ")
    assert said.endswith(": one node more; generate the design again")


@pytest.mark.rtl
@pytest.mark.slow
def test_simulate(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report is right; a manifest that promises another latency is not passed."""
    assert main(["simulate", "design", "--states", "200"]) == 0
    assert "200 states, every bit equal" in capsys.readouterr().out
    report = json.loads((design / "simulation.json").read_text())
    manifest = api.read_manifest(design)
    assert report["bit_exact"] is True
    assert report["latency"] == manifest["latency"]
    assert report["initiation_interval"] == 1
    assert worst_of(CoreRun.from_json(report).coordinates)["tau"] < 1e-3
    promise = {**manifest, "latency": manifest["latency"] - 1}
    (design / "manifest.json").write_text(folder.sealed(promise))
    message = f"design: latency {report['latency']} simulated, {promise['latency']} predicted"
    assert refused(capsys, "simulate", "design", "--states", "20") == message


@pytest.mark.rtl
@pytest.mark.slow
def test_simulate_sees_a_wrong_bit(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = design / "pendulum_id.v"
    text = file.read_text()
    (product, *_) = re.findall(r"<= (a\d \* b\d);", text)
    file.write_text(text.replace(f"<= {product};", f"<= -({product});", 1))
    given = "simulate", "design", "--states", "200"
    assert refused(capsys, *given).startswith("design/pendulum_id.v: changed since")
    message = refused(capsys, *given, "--trust")
    assert re.match(r"tau\[\d\] of state \d+ at full rate: hardware -?\d+, integer model", message)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ulx3s", "design"], 'board: "ulx3s" is unknown; did you mean "ulx3s-'),
        (["ulx3s", "design", "--simulate"], 'board: "ulx3s" is unknown; did you mean "ulx3s-'),
        (["ulx3s-85f", "design", "--link", "udp"], "ulx3s-85f: no pins are known there for --link"),
        (["ulx3s-12f", "design"], "design: was generated for ecp5-85f; ulx3s-12f has an "),
        (["ulx3s-85f", "design", "--check"], "board: --check: where is it: --port"),
    ],
    ids=lambda own: " ".join(own) if isinstance(own, list) else "",
)
def test_a_board_is_asked_about_before_an_accelerator_is_made(
    words: list[str], message: str, design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = 2 if "--check" in words else 1
    assert refused(capsys, "board", *words, status=status).startswith(message)
    assert not (design / "accelerator").exists()
