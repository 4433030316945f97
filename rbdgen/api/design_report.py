"""One page on a generated design, for people: all that is known of it, in one file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..design.manifest import AcceleratorManifest, CoreManifest, HardwareManifest
from ..draw.floor_plan import picture as floor_plan
from ..draw.organisation import organisation
from ..draw.tables import limits_text
from ..draw.word_ranges import picture, spare
from ..synthesize.floor import Floor
from ..system.records import NoRecord
from ..system.templates import render
from .checked import checked_manifest
from .folder import write_file
from .names import DESIGN, ROBOT
from .places import check_place
from .recompiled import recompiled
from .report_errors import errors_of
from .report_words import STATES as SEEN
from .report_words import Signal, signals_of
from .structure import topology

Progress = Callable[[str], None]
PAGE = "report.html"
STATES, SEED = 2000, 0
PICTURES = {
    "pipeline.svg": "The pipeline: which region computes in which cycle.",
    "accelerator.svg": "Stages, and the routes of tasks through them.",
    "timeline.svg": "Who was where at which time, in the last simulation.",
}


def report(folder: str | Path, progress: Progress = lambda _: None, trust: bool = False) -> Path:
    """Write FOLDER/report.html, one file that needs no network, and say where it is.

    It has what the folder holds: the manifest, pictures, and the reports of simulate, synthesize
    and board, if they were run. Ranges and errors are computed for it: the design is compiled
    again, and `STATES` random states within the limits go through the integer model.
    """
    place = Path(folder)
    entry = checked_manifest(place, trust, progress, (DESIGN, ROBOT))
    check_place(place / PAGE)
    product = recompiled(place, progress)
    progress(f"ranges and errors of {STATES} states of each function")
    signals = signals_of(product, SEED)
    errors = list(errors_of(product, STATES, SEED, progress))
    progress("report")
    text = render(
        "report/page.html.jinja",
        entry=entry,
        tiles=_tiles(entry, place),
        limits=limits_text(entry.limits),
        pictures=list(_pictures(place)),
        tree=_svg(organisation(topology(str(place / DESIGN)).facts)),
        signals={region: (_svg(drawn(region, own)), own) for region, own in signals.items()},
        errors=errors,
        states=STATES,
        simulation=_json(place / "simulation.json"),
        syntheses=[_json(file) for file in sorted(place.glob("synthesis-*/report.json"))],
        floor_plan=_floor_plan,
        boards=[_json(file) for file in sorted(place.glob("board-*/board.json"))],
        instance=_instance(entry),
        svg=_svg,
        seen=SEEN,
    )
    write_file(place / PAGE, text)
    return place / PAGE


def _tiles(entry: CoreManifest | AcceleratorManifest, place: Path) -> list[tuple[str, str]]:
    """The few numbers at the top."""
    tiles = [("part", entry.target), ("word", f"{entry.width} bits")]
    tiles.append(("multipliers", str(entry.multipliers.hardware)))
    for name, own in entry.tasks.functions.items():
        tiles.append((name, f"{own.latency} cycles, every {own.interval}"))
    clocks = [
        (placement["fmax"], placement["speed"])
        for file in place.glob("synthesis-*/report.json")
        for placement in (_json(file) or {}).get("placements", [])
    ]
    if clocks:
        fmax, speed = max(clocks)
        tiles.append(("placed and routed", f"{fmax:.1f} MHz, speed grade {speed}"))
    else:
        tiles.append(("clock", "not known: not placed and routed"))
    return tiles


def _pictures(place: Path) -> Iterator[tuple[str, str]]:
    """The folder's pictures as they go into a page, each with its caption."""
    for name, caption in PICTURES.items():
        if (place / name).is_file():
            yield caption, _svg((place / name).read_text("utf-8"))


def _floor_plan(synthesis: Mapping[str, Any]) -> str:
    """Where regions lie in the fastest placement of a report; "" where none says it."""
    placements = synthesis.get("placements", [])
    best: Mapping[str, Any] = max(placements, key=lambda own: own["fmax"], default={})
    try:
        floor = Floor.from_json(best.get("floor"))
    except NoRecord:
        return ""
    return _svg(floor_plan(f"Floor plan, seed {best['seed']}: tiles of each region", floor))


def _svg(document: str) -> str:
    """A picture as it stands in a page."""
    return document[document.index("<svg") :]


def drawn(region: str, signals: Sequence[Signal]) -> str:
    """The signals of a region as a picture."""
    rows = [signal.row for signal in signals]
    title = f"{region}: {len(rows)} words, {spare(rows):.2f} bits spare on average"
    return picture(title, rows)


def _instance(entry: HardwareManifest) -> str:
    """How the core stands in a design of the user's."""
    ports = [("clk", "clk"), ("rst", "rst")]
    for side, what in (("i", "task"), ("o", "result")):
        ports += [(f"{side}__{w}", f"{what}_{w}") for w in ("payload", "valid", "ready")]
    if entry.ports.overflow:
        ports += [("overflow", "overflowed"), ("clear", "1'b0")]
    connected = ",\n".join(f"    .{port}({wire})" for port, wire in ports)
    return f"{entry.name} core (\n{connected}\n);"


def _json(file: Path) -> Mapping[str, Any] | None:
    """A report of this folder's, if there is one."""
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
