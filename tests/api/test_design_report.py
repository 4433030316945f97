"""The page on a design: whole, of itself, and right."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.cli.main import main
from rbdgen.draw.tables import info_text
from rbdgen.tools.floorplan import Floor
from rbdgen.tools.nextpnr import PathLeg, Placement
from rbdgen.tools.report import SynthesisReport as Synthesised
from rbdgen.tools.report import Usage
from tests.screenshots import measured

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Checked(HTMLParser):
    """Whether every element that opens closes; where links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for key, value in attrs:
            if key in ("href", "src") and value:
                self.links.append(value)
            if key == "id" and value:
                self.names.add(f"#{value}")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report") / "pendulum"
    return Path(api.generate("pendulum", place, functions=("did",)))


def test_a_page_is_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder), "--quiet"]) == 0
    page = Path(capsys.readouterr().out.strip())
    assert page == folder / "report.html"
    text = page.read_text()
    checked = Checked(text)
    assert not checked.open
    assert checked.links and set(checked.links) <= checked.names  # nothing from elsewhere
    manifest = json.loads((folder / "manifest.json").read_text())
    assert f"{manifest['latency']} cycles" in text
    assert "Not simulated yet: rbdgen simulate." in text
    assert "Not mapped yet, no floor plan: rbdgen synthesize." in text
    for name in ("tau", "dtau_dq", "dtau_dqd"):
        assert f"<h3>{name}: {name}[" in text
    # every word of the graph stands there, beside what it is for
    graph = (folder / "graph.txt").read_text()
    words = re.findall(r"^%\d+ = (?!const)", graph, re.MULTILINE)
    rows = re.findall(r"<td>(?:proven|searched)</td><td>(.*)</td></tr>", text)
    assert len(rows) == len(words)
    spare = [float(row) for row in rows if row != "–"]
    assert spare and min(spare) >= 0  # no word is too short for what it was made for
    # of each coordinate the errors at each scale; pictures of how large, and at which speeds
    rows = re.findall(r"<td>(tau\[\d\]|dtau_\w+\[\d,:\])</td><td>(\w+)</td>", text)
    assert rows == [
        (name.format(k), joint)
        for name in ("tau[{}]", "dtau_dq[{},:]", "dtau_dqd[{},:]")
        for k, joint in enumerate(("shoulder", "elbow"))
    ]
    assert "<figcaption>The hardware: what is built" in text
    for name in ("tau", "dtau_dq", "dtau_dqd"):
        assert f"<title>{name}: how large errors are</title>" in text
        assert f"<title>{name}: errors against speed</title>" in text
    assert api.report(folder).read_bytes() == page.read_bytes()


def test_a_page_has_what_was_measured(tmp_path: Path) -> None:
    choices = {"functions": ("id", "m"), "accelerator": True, "ii": 2}
    folder = Path(api.generate("pendulum", tmp_path / "arm", **choices))
    api.simulate(folder, 100)
    text = api.report(folder).read_text()
    assert not Checked(text).open
    assert "every bit and tag equal" in text
    stages = [file.stem.removeprefix("graph_") for file in folder.glob("graph_*.txt")]
    # stages, protocol and tree, a picture of words each, two of tau's errors and one of M's
    assert text.count("<svg") == 3 + len(stages) + 3
    assert text.count("<svg") == len(re.findall(r"<svg[^>]*>\s*<title>", text))
    for stage in stages:
        graph = (folder / f"graph_{stage}.txt").read_text()
        (shown,) = re.findall(rf"<summary>{stage}: (\d+) signals</summary>", text)
        words = re.findall(r"^%\d+ = (?!const)", graph, re.MULTILINE)
        assert int(shown) == len(words)
    seen = re.findall(r"<td>seen</td><td>(.*)</td></tr>", text)
    spare = [float(x) for x in seen if x != "–"]
    assert spare and min(spare) >= 0


def placement(seed: int, floor: Floor | None = None, cell: str = "a") -> Placement:
    """A placement of the part in the tests."""
    step = PathLeg("logic", 1.0, cell)
    fields = {"target": "ecp5-25f", "speed": 6, "seed": seed, "fmax": 100.0 + seed}
    return Placement(
        **fields,
        fmax_by_clock={},
        used={},
        available={},
        critical_path=(step,),
        seconds=1.0,
        floor=floor,
    )


def synthesised(*placements: Placement, **others: Any) -> Synthesised:
    """A report of `synthesize` with those placements."""
    fields = {"top": "core", "target": "ecp5-25f", "part": "LFE5U-25F", "cells": {}, "usage": {}}
    fields |= {"fits": True, "yosys_seconds": 1.0, "pins_cells": {}, "placements": placements}
    return Synthesised(**fields | others)


def test_a_floor_plan(folder: Path) -> None:
    """Of the fastest placement; one line where there is none."""
    place = folder / "synthesis-ecp5-25f"
    place.mkdir()
    floor = Floor(4, 2, {"A": "forward_0", "B": "channels"}, ("AA.", "A.B"))
    slow, fast = (placement(k, floor) for k in (1, 2))
    (place / "report.json").write_text(json.dumps(synthesised(fast, slow).to_json()))
    text = api.report(folder).read_text()
    assert not Checked(text).open
    assert text.count("<title>Floor plan, seed 2: tiles of each region</title>") == 1
    assert "columns 4 to 6, rows 2 to 3 of the part; tiles of each: forward_0 3, channels 1" in text
    assert "No floor plan" not in text
    (place / "report.json").write_text(json.dumps(synthesised().to_json()))
    assert api.report(folder).read_text().count("No floor plan: not placed.") == 1
    shutil.rmtree(place)


def test_what_no_digest_covers_is_data(folder: Path, tmp_path: Path) -> None:
    """What commands left there is shown as text, what is none of it is a line, and what lies
    elsewhere is not read."""
    script = "</td><script>alert(1)</script>"
    mine = tmp_path / "mine"
    shutil.copytree(folder, mine)
    written = synthesised(placement(1, cell=script), target=script, usage={script: Usage(1, 0)})
    for name in ("simulation.json", "synthesis-a/report.json", "board-a/board.json"):
        (mine / name).parent.mkdir(exist_ok=True)
        (mine / name).write_text("{" if name.startswith("board") else json.dumps(written.to_json()))
    (mine / "synthesis-b").mkdir()
    os.mkfifo(mine / "synthesis-b" / "report.json")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.json").write_text(json.dumps(synthesised(top="SECRET").to_json()))
    (mine / "synthesis-c").symlink_to(tmp_path / "out")
    page = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(2)</script></svg>"
    (mine / "timeline.svg").write_text(page)
    (mine / "pipeline.svg").write_text(page)  # another than was generated
    said: list[str] = []
    with pytest.raises(api.OutputError, match=r"pipeline\.svg: changed since"):
        api.report(mine)
    text = api.report(mine, said.append, trust=True).read_text()
    checked = Checked(text)
    assert not checked.open
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "SECRET" not in text
    image = f"data:image/svg+xml;base64,{base64.b64encode(page.encode()).decode()}"
    assert [link for link in checked.links if not link.startswith("#")] == [image]
    notes = [line for line in said if line.startswith("note: ")]
    right = {
        "simulation.json": "no states",
        "synthesis-b/report.json": "a pipe or a device; name an ordinary file",
        "synthesis-c/report.json": "a link out of its folder",
        "board-a/board.json": "no JSON: Expecting property name enclosed in double quotes: "
        "line 1 column 2 (char 1)",
    }
    assert notes == [f"note: {mine / n}: is no report of rbdgen's: {w}" for n, w in right.items()]
    for note in notes:
        assert f'<p class="note">{html.escape(note.removeprefix("note: "))}</p>' in text


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The pages of explore and compare."""
    place = tmp_path_factory.mktemp("studies")
    choices = {"functions": ("m",), "intervals": (1, 2), "jobs": 1}
    api.explore("pendulum", place / "explored", synthesis=False, **choices)
    compared = str(place / "compared.html")
    words = ["compare", "pendulum", "--function", "id", "--ii", "1", "--no-cpu", "-o", compared]
    assert main([*words, "--quiet"]) == 0
    return [place / "explored" / "report.html", Path(compared)]


def test_explore_and_compare_have_pages(studies: list[Path]) -> None:
    explored, compared = (page.read_text() for page in studies)
    for text in (explored, compared):
        assert not Checked(text).open
        assert text.count("<svg") == 1
    assert "<code>rbdgen generate pendulum" in explored
    assert "<code>rbdgen compare pendulum --function id --ii 1 --no-cpu -o " in compared


def test_pages_without_a_fault_in_a_browser(
    folder: Path, studies: list[Path], tmp_path: Path
) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium is not installed")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    for page in (api.report(folder), *studies):
        picture = tmp_path / "page.png"
        done = subprocess.run(
            [browser, *options, f"--screenshot={picture}", "--window-size=400,900", page.as_uri()],
            capture_output=True,
            text=True,
            check=True,
        )
        assert picture.stat().st_size > 10_000
        assert "CONSOLE" not in done.stderr
        picture.unlink()
        for seen in measured(page.parent, [page.name]):
            assert not seen.faults


def test_what_has_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("rbdgen: ")


def test_rotors_damping_and_friction_are_listed() -> None:
    joints = {name: {"armature": 0.02, "friction": 0.3} for name in ("shoulder", "elbow")}
    found = api.info("pendulum", joints=joints)
    assert [row["joint"] for row in found["drivetrains"]] == ["shoulder", "elbow"]
    assert found.facts.drivetrains[1].friction_width == 0.1
    line = "  shoulder, elbow: armature 0.02, damping 0, friction 0.3 from 0.1 on"
    assert line in info_text(found.facts).splitlines()
    assert api.info("pendulum")["drivetrains"] == []
