"""Reports that commands leave in a design's folder, which no digest covers: read with care."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..design.facts import AcceleratorRun, CoreRun
from ..design.manifest import HardwareManifest
from ..draw.tables import table
from ..robot.model import RobotError
from ..robot.xml_lines import one_line, parse_xml
from ..system.files import read_within
from ..system.records import NoRecord, Record
from ..tools.energy import EnergyReport
from ..tools.report import Mapped, Usage
from ..tools.report import SynthesisReport as Synthesised
from .folder import OutputError

LARGEST = 2**26  # bytes of a report
SIMULATION, TIMELINE = "simulation.json", "timeline.svg"
ENERGY = "energy.json"
SYNTHESES, BOARDS = "synthesis-*/report.json", "board-*/board.json"
R = TypeVar("R", bound=Record)


class NoReport(OutputError):
    """A report file that is damaged or not a report, in one line."""


def read_report(folder: Path, file: str, *kinds: type[R]) -> R | None:
    """The report FOLDER/FILE, of the first of ``kinds`` that it is one of; None where there is no
    such file.

    NoReport for anything else: no JSON, another report, a pipe, a link out of the folder.
    """
    data = _content(folder, file)
    if data is None:
        return None
    try:
        return _of_kind(json.loads(data), kinds)
    except RecursionError:
        why = "nested too deep"
    except NoRecord as error:
        why = str(error)
    except ValueError as error:  # of json
        why = f"no JSON: {error}"
    raise _none(folder, file, why)


def read_picture(folder: Path, file: str) -> bytes | None:
    """The SVG document FOLDER/FILE, None where there is none; NoReport for what is no such.

    It may have scripts, which browsers do not run in an <img>.
    """
    data = _content(folder, file)
    if data is None:
        return None
    try:
        tag = parse_xml(data, file).tag
    except RobotError as error:
        raise _none(folder, file, str(error)) from None
    if tag != "svg":
        raise _none(folder, file, f"<{tag}>, where <svg> is expected")
    return data


def _content(folder: Path, file: str) -> bytes | None:
    """The bytes of a report; None if it is absent, NoReport if it is unreadable or outside."""
    try:
        return read_within(folder, file, LARGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _none(folder, file, error.strerror or type(error).__name__) from None


def _none(folder: Path, file: str, why: str) -> NoReport:
    shown = one_line(str(folder / file), 200)
    return NoReport(f"{shown}: is no report of rbdgen's: {one_line(why, 200)}")


def _of_kind(data: object, kinds: tuple[type[R], ...]) -> R:
    """The record, of the first kind that takes the data; NoRecord of the first kind else."""
    first: NoRecord | None = None
    for kind in kinds:
        try:
            return kind.from_json(data)
        except NoRecord as error:
            first = first or error
    assert first is not None
    raise first


@dataclass(frozen=True)
class Reports:
    """The reports of a folder; ``others``: a line for each file in a report's place that is none.

    ``timeline``: an SVG document.
    """

    simulation: CoreRun | AcceleratorRun | None
    timeline: bytes | None
    syntheses: tuple[Synthesised | Mapped, ...]
    energy: EnergyReport | None
    boards: tuple[BoardFacts, ...]
    others: tuple[str, ...]


def reports_in(folder: Path, entry: HardwareManifest) -> Reports:
    """The reports of `simulate`, `synthesize`, `energy` and `board` in a design's folder."""
    others: list[str] = []
    run = CoreRun if entry.is_core else AcceleratorRun

    def read(pattern: str, *kinds: type[R]) -> Iterator[R]:
        for file in sorted(folder.glob(pattern)):
            try:
                found = read_report(folder, str(file.relative_to(folder)), *kinds)
            except NoReport as error:
                others.append(str(error))
            else:
                if found is not None:
                    yield found

    simulated: tuple[CoreRun | AcceleratorRun, ...] = tuple(read(SIMULATION, run))
    timeline = None
    try:
        timeline = read_picture(folder, TIMELINE)
    except NoReport as error:
        others.append(str(error))
    return Reports(
        next(iter(simulated), None),
        timeline,
        tuple(read(SYNTHESES, Synthesised, Mapped)),
        next(read(ENERGY, EnergyReport), None),
        tuple(read(BOARDS, BoardFacts)),
        tuple(others),
    )


@dataclass(frozen=True)
class LineRate(Record):
    """Bytes of a task's and a result's frame; tasks a second of the line and of the core.

    ``line_us``, ``core_us``: µs of a call of one task that waits for its result: from the host to
    the core and back, and inside the core.
    """

    task_bytes: int
    result_bytes: int
    line: int
    core: int
    line_us: float
    core_us: float


@dataclass(frozen=True)
class BoardFacts(Record):
    """A bitstream: board, clock [MHz], sites, rates, seconds; ``reached``: seed → clock → MHz."""

    board: str
    part: str
    name: str
    identity: str
    bitstream: str
    bytes: int
    line: str
    clock: float
    reached: Mapping[str, Mapping[str, float]]
    seed: int
    usage: Mapping[str, Usage]
    functions: Mapping[str, LineRate]
    seconds: Mapping[str, float]


RATES = (
    *("function", "bytes out", "bytes back", "line, tasks/s", "core, tasks/s"),
    *("a call: line, µs", "core, µs"),
)


def board_text(facts: BoardFacts) -> str:
    """The same for people."""
    used = [
        [kind, own.used, own.available, f"{own.percent} %"] for kind, own in facts.usage.items()
    ]
    rates = [
        [name, own.task_bytes, own.result_bytes, own.line, own.core, own.line_us, own.core_us]
        for name, own in facts.functions.items()
    ]
    took = ", ".join(f"{step} {own:g} s" for step, own in facts.seconds.items())
    return "\n\n".join(
        [
            f"{facts.name} on {facts.board} ({facts.part}), {facts.clock:g} MHz",
            table(("sites", "used", "of", ""), used),
            table(RATES, rates),
            f"line: {facts.line}. {took}. {facts.bitstream}: {facts.bytes} bytes; it has not "
            "been run on a board by us",
        ]
    )
