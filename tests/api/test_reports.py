"""What lies where a report should: read if it is one, one line if it is none, and no waiting."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rbdgen.api.reports import LARGEST, NoReport, read_picture, read_report
from rbdgen.design.coordinates import CoordinateError, ScaleError
from rbdgen.design.facts import CoreRun
from rbdgen.tools.floorplan import Floor
from rbdgen.tools.report import Mapped, Usage
from rbdgen.tools.report import SynthesisReport as Synthesised

OFF = CoordinateError("tau[0]", "a", "N", None, {"at rest": ScaleError(1e-4, 2e-4, 3e-4)})
RUN = CoreRun(10, 0, True, 1, 20, 1, 0, None, (OFF,))
FILE = "simulation.json"


def written(place: Path, **changed: object) -> None:
    (place / FILE).write_text(json.dumps({**RUN.to_json(), **changed}))


def large(place: Path) -> None:
    with (place / FILE).open("wb") as file:
        file.truncate(LARGEST + 1)  # a hole, which takes no room


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda place: (place / FILE).touch(), "no JSON: Expecting value"),
    "cut": (lambda place: (place / FILE).write_text('{"states": 1'), "no JSON: "),
    "list": (lambda place: (place / FILE).write_text("[]"), "all of it: not an object"),
    "nothing": (lambda place: (place / FILE).write_text("null"), "all of it: not an object"),
    "other": (lambda place: (place / FILE).write_text('{"target": "x"}'), "no states"),
    "types": (lambda place: written(place, states="1"), "states: '1', which is no int"),
    "truth": (lambda place: written(place, latency=True), "latency: 'True', which is no int"),
    "inner": (lambda place: written(place, coordinates=[1]), "coordinates[0]: not an object"),
    "large": (lambda place: written(place, states=10**40), "states: a number of 41 digits"),
    "larger": (lambda place: (place / FILE).write_text("1" * 5000), "no JSON: Exceeds the limit"),
    "deep": (lambda place: (place / FILE).write_text("[" * 10**6), "nested too deep"),
    "bytes": (lambda place: (place / FILE).write_bytes(b'{"states": "\xff"}'), "no JSON: "),
    "huge": (large, "larger than 64 MiB"),
    "pipe": (lambda place: os.mkfifo(place / FILE), "a pipe or a device"),
    "device": (lambda place: (place / FILE).symlink_to("/dev/zero"), "a link out of its folder"),
    "folder": (lambda place: (place / FILE).mkdir(), "Is a directory"),
    "loop": (lambda place: (place / FILE).symlink_to(FILE), "Too many levels of symbolic links"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_none_is_one_line(name: str, tmp_path: Path) -> None:
    make, why = ODD[name]
    make(tmp_path)
    with pytest.raises(NoReport) as said:
        read_report(tmp_path, FILE, CoreRun)
    line = str(said.value)
    assert line.startswith(f"{tmp_path / FILE}: is no report of rbdgen's: {why}")
    assert line.isprintable()


def test_what_is_one(tmp_path: Path) -> None:
    assert read_report(tmp_path, FILE, CoreRun) is None
    written(tmp_path, another=1)
    assert read_report(tmp_path, FILE, CoreRun) == RUN
    mapped = Mapped("core", "xcup", {}, {}, None)
    (tmp_path / FILE).write_text(json.dumps(mapped.to_json()))
    assert read_report(tmp_path, FILE, Synthesised, Mapped) == mapped


def test_links_within_the_folder(tmp_path: Path) -> None:
    place = tmp_path / "design"
    place.mkdir()
    written(tmp_path)
    (place / FILE).symlink_to(tmp_path / FILE)
    with pytest.raises(NoReport, match="a link out of its folder"):
        read_report(place, FILE, CoreRun)
    (tmp_path / FILE).rename(place / "run.json")
    (place / FILE).unlink()
    (place / FILE).symlink_to("run.json")
    (tmp_path / "alias").symlink_to(place)
    assert read_report(tmp_path / "alias", FILE, CoreRun) == RUN


def test_pictures(tmp_path: Path) -> None:
    place = tmp_path / "timeline.svg"
    assert read_picture(tmp_path, place.name) is None
    for text, why in (
        ("", "the file is empty"),
        ("<html/>", "<html>, where <svg> is expected"),
        ("<svg>", "not well-formed XML"),
        ("<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>&a;</svg>", "entities are not expanded"),
    ):
        place.write_text(text)
        with pytest.raises(NoReport, match=why):
            read_picture(tmp_path, place.name)
    place.write_text("<svg/>")
    assert read_picture(tmp_path, place.name) == b"<svg/>"


def test_numbers_that_divide_by_none() -> None:
    assert Usage(1, 0).percent == 0
    with pytest.raises(ValueError, match="rows differ in length"):
        Floor(0, 0, {}, ("A", "AB"))
