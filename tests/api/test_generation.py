"""The folder that `generate` writes: what is in it, always the same, and whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from rbdgen import api
from rbdgen.api import folder as folders
from rbdgen.api.design_file import design_text
from rbdgen.design import loading
from rbdgen.design.design import Design
from rbdgen.design.loading import load
from rbdgen.robot.urdf import parse_urdf
from rbdgen.system.templates import data_folder
from tests.support.made import generated
from tests.support.marks import slow

ROBOT = "pendulum"


@pytest.fixture
def design() -> Path:
    return generated(ROBOT)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def as_said(design: Design) -> Design:
    """The design whose file says what was chosen: that its words are is no entry of its own."""
    return replace(design, chosen=tuple(choice for choice in design.chosen if choice.entry))


def test_files(design: Path) -> None:
    manifest = api.read_manifest(design)
    name = manifest["name"]
    assert name == "pendulum_id"
    assert {p.name for p in design.iterdir()} == {*manifest["files"], "manifest.json"}
    assert {f"{name}.v", f"{name}.il", f"{name}_ecp5.il", f"{name}_axi_words.v"} <= set(
        manifest["files"]
    )
    for file, digest in manifest["files"].items():
        assert hashlib.sha256((design / file).read_bytes()).hexdigest() == digest
    for picture in ("pipeline.svg", "architecture.svg", "protocol.svg"):
        ElementTree.parse(design / picture)


@pytest.mark.parametrize("accelerator", [False, True])
def test_notes_are_said_and_kept(accelerator: bool, tmp_path: Path) -> None:
    """In the manifest they speak of the robot that lies beside it, wherever it came from."""
    source = tmp_path / "made of.urdf"
    text = (data_folder("robots") / "pendulum.urdf").read_text()
    source.write_text(text.replace("</joint>", '<dynamics stiffness="0.5"/></joint>'))
    said: list[str] = []
    choices = {"accelerator": True, "functions": ("id",)} if accelerator else {}
    folder = api.generate(str(source), tmp_path / "design", said.append, **choices)
    (line,) = [line for line in said if "stiffness" in line]
    assert line.startswith(f"note: {source}:")
    (note,) = [note for note in api.read_manifest(folder)["notes"] if "stiffness" in note]
    assert f"note: {note}" == line.replace(str(source), "robot.urdf")


@pytest.mark.parametrize(
    "choices",
    [
        {"error": 1e-3, "ii": 3, "scheduler": "exact", "fold": "none"},
        {"multipliers": 20, "functions": ("fd", "m"), "factorisation": "ltdl", "width": 20},
        {"style": "latency", "clock": 18.0, "angles": "sincos", "rotation": 3, "target": "xcup"},
        {"base": "floating", "root": "given", "gravity": (0.0, 1.0, -9.0), "snap": 0.0},
        {"velocity": 3.0, "acceleration": "3.0,elbow=8.5", "effort": "shoulder=0.1"},
        {"formulation": "recursive", "mimic": "independent", "external_forces": ("all",)},
    ],
)
def test_the_folder_says_every_choice(choices: dict[str, Any], tmp_path: Path) -> None:
    """What a folder's design.yaml says is the design that it was made from."""
    design, _ = load(ROBOT, **choices)
    (tmp_path / "robot.urdf").write_bytes(Path(design.robot).read_bytes())
    (tmp_path / "design.yaml").write_text(design_text(design))
    again, _ = load(str(tmp_path / "design.yaml"))
    assert replace(again, robot=design.robot) == as_said(design)
    for key, value in choices.items():
        assert getattr(again, key) == value or key == "external_forces"


@pytest.mark.parametrize("accelerator", [False, slow(True)])
def test_limits_are_said_with_who_said_them(accelerator: bool, tmp_path: Path) -> None:
    choices = {"accelerator": True, "functions": ("fd",)} if accelerator else {}
    choices |= {"velocity": "elbow=4", "acceleration": 3, "effort": {"shoulder": 9}}
    place = api.generate(ROBOT, tmp_path / "design", **choices)
    rows = api.read_manifest(place)["limits"]
    assert rows == api.info(ROBOT, **choices)["limits"]
    shoulder, elbow = rows
    assert shoulder["joint"] == "shoulder"
    assert shoulder["velocity"] == {"value": 10.0, "unit": "rad/s", "from": "design file"}
    assert elbow["velocity"] == {"value": 4.0, "unit": "rad/s", "from": "option"}
    assert elbow["acceleration"] == {"value": 3.0, "unit": "rad/s²", "from": "option"}
    assert shoulder["effort"] == {"value": 9.0, "unit": "N·m", "from": "option"}
    assert elbow["effort"]["value"] is None
    text = (place / "design.yaml").read_text()
    assert "#   elbow: any angle, 4 rad/s (option), 3 rad/s² (option)\n" in text
    again = api.generate(str(place / "design.yaml"), tmp_path / "again")
    assert contents(again) == contents(place)


def test_limbs_in_turn(tmp_path: Path) -> None:
    """The manifest speaks of the whole robot, and the folder of how it was folded."""
    place = api.generate("hyq", tmp_path / "design", fold="limbs")
    manifest, facts = api.read_manifest(place), api.info("hyq", fold="limbs")
    assert manifest["limbs_in_turn"] == 4
    assert load(place / "design.yaml")[0].fold == "limbs"
    assert manifest["initiation_interval"] == facts["initiation_interval"] == 4
    assert manifest["latency"] == facts["latency"]
    assert manifest["axi"]["wide"]["clocks_per_task"] == 4
    assert manifest["axi"]["words"]["clocks_per_task"] == 36
    assert facts["limbs"]["in_turn"] == 4
    assert 4 * facts["limbs"]["operations"]["mul"] == facts["operations"]["mul"]
    names = [field["name"] for field in manifest["ports"]["output"]["fields"]]
    assert names == [f"tau[{k}]" for k in range(12)] + [f"overflow[{k}]" for k in range(12)]


def test_manifest(design: Path) -> None:
    manifest, facts = api.read_manifest(design), api.info(ROBOT)
    for key in ("joint_names", "operations", "rewrites", "latency", "formats", "width", "target"):
        assert manifest[key] == facts[key]
    assert manifest["functions"] == ["id"]
    assert manifest["initiation_interval"] == 1
    assert manifest["multipliers"] == {"hardware": facts["multipliers"], "logic": 0}
    inputs = [field["name"] for field in manifest["ports"]["input"]["fields"]]
    assert inputs == ["q[0]", "q[1]", "qd[0]", "qd[1]", "qdd[0]", "qdd[1]"]
    outputs = [field["name"] for field in manifest["ports"]["output"]["fields"]]
    assert outputs == ["tau[0]", "tau[1]", "overflow[0]", "overflow[1]"]
    for fifo in manifest["fifos"]:
        assert {"from", "to", "depth", "capacity", "bits"} <= set(fifo)
        assert 0 < fifo["depth"] <= fifo["capacity"]
    regions = set(manifest["regions"])
    assert {"input", "output", "forward_0", "backward_1"} <= regions
    assert {f["from"] for f in manifest["fifos"]} | {f["to"] for f in manifest["fifos"]} == regions
    assert manifest["regions"]["output"]["fires"] + 1 == manifest["latency"]


def test_info_is_plain_json() -> None:
    facts = api.info(ROBOT)
    assert json.loads(json.dumps(facts)) == facts
    assert {"joint_names", "nq", "nv", "operations", "rewrites"} <= set(facts)
    assert {"mul", "mulc", "add", "recip"} <= set(facts["operations"])
    assert facts["rewrites"][-1]["operations"] == facts["operations"]
    assert len({step["name"] for step in facts["rewrites"]}) == len(facts["rewrites"]) >= 3


def test_same_bytes_in_every_process(design: Path, tmp_path: Path) -> None:
    """Hashes of strings, and with them the order of sets, differ between these processes."""
    for seed in ("1", "2"):
        place = tmp_path / seed
        subprocess.run(
            [sys.executable, "-m", "rbdgen", "generate", ROBOT, "-o", str(place)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
        assert contents(place) == contents(design)


def test_a_design_makes_itself_again(design: Path, tmp_path: Path) -> None:
    """The folder holds all that it was made from."""
    again = api.generate(str(design / "design.yaml"), tmp_path / "again")
    assert contents(again) == contents(design)


def test_choices_stay_in_the_design(tmp_path: Path) -> None:
    choices = {"width": 20, "rotation": 3, "gravity": (0.0, 1.0, -9.0), "angles": "sincos"}
    first = api.generate(ROBOT, tmp_path / "first", **choices)
    assert contents(api.generate(str(first / "design.yaml"), tmp_path / "again")) == contents(first)
    assert api.read_manifest(first)["angles"]["sin[0], cos[0]"]["coordinate"] == 0


def test_replaces_a_design_and_nothing_else(design: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    api.generate(ROBOT, place)  # an empty folder will do
    (place / "simulation.json").write_text("{}")
    api.generate(ROBOT, place)
    assert contents(place) == contents(design)
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    (foreign / "chapter1.tex").write_text("x")
    for taken in (foreign, foreign / "chapter1.tex"):
        with pytest.raises(api.OutputError, match="exists and is no design of rbdgen's"):
            api.generate(ROBOT, taken)
    assert contents(foreign) == {"chapter1.tex": b"x"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["place", "thesis"]


@pytest.mark.parametrize("moment", ["writing", "moving"])
@pytest.mark.parametrize("before", [False, True])
def test_whole_or_not_at_all(
    before: bool, moment: str, design: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure half-way leaves what was there before, and no litter."""
    place = tmp_path / "place"
    files = {name: data.decode() for name, data in contents(design).items()}
    if before:
        folders.write_folder(place, files)
    calls = []

    def fails(self: Path, *arguments: object) -> None:
        calls.append(self)
        if moment == "writing" and len(calls) < 4:
            original(self, *arguments)
        else:
            raise OSError(errno.ENOSPC, "No space left on device")

    name = {"writing": "write_bytes", "moving": "rename"}[moment]
    original = getattr(Path, name)
    with monkeypatch.context() as patch:
        patch.setattr(Path, name, fails)
        with pytest.raises(api.OutputError, match="place: No space left on device"):
            folders.write_folder(place, files | {"new.txt": "new"})
    assert calls
    assert [p.name for p in tmp_path.iterdir()] == (["place"] if before else [])
    if before:
        assert contents(place) == contents(design)


def test_a_robot_file_of_any_encoding(tmp_path: Path) -> None:
    text = (data_folder("robots") / "pendulum.urdf").read_text().split("?>")[-1]
    latin = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!-- Gelenk: für später -->' + text
    (tmp_path / "robot.urdf").write_bytes(latin.encode("latin-1"))
    place = api.generate(str(tmp_path / "robot.urdf"), tmp_path / "design")
    assert (place / "robot.urdf").read_bytes() == latin.encode("latin-1")
    assert api.generate(str(place / "design.yaml"), tmp_path / "again")


def test_design_text_keeps_every_choice(tmp_path: Path) -> None:
    choices = {
        "base": "floating",
        "functions": ("did", "m"),
        "formulation": "recursive",
        "factorisation": "ltdl",
        "root": "given",
        "external_forces": ("trunk",),
        "style": "latency",
        "clock": 18.5,
    }
    design, _ = load("hyq", **choices)
    (tmp_path / "robot.urdf").write_bytes(Path(design.robot).read_bytes())
    (tmp_path / "design.yaml").write_text(design_text(design))
    again, _ = load(tmp_path / "design.yaml")
    assert replace(again, robot=design.robot) == as_said(design)


def test_a_robot_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many languages there are, and as numbers are snapped for words and in floats."""
    read: list[bytes] = []

    def counted(source: Any, *more: Any, **choices: Any) -> Any:
        read.append(source)
        return parse_urdf(source, *more, **choices)

    monkeypatch.setattr(loading, "parse_urdf", counted)
    api.generate("pendulum", tmp_path / "design", to=("verilog", "cpp"), fit=False, width=18)
    assert len(read) == 1
