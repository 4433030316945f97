"""Return values of this package's functions: plain data that describes itself.

Each is a dict, as ``json.dumps`` takes it, or a path. ``repr`` is one line, and a notebook shows
the report that the command line prints, with its picture.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from .. import __version__
from ..design.facts import AcceleratedFacts, CoreFacts
from ..design.manifest import HardwareManifest
from ..design.runs import AcceleratorRun, CoreRun
from ..draw.exploration import picture as draw
from ..draw.exploration_table import as_text as exploration_text
from ..draw.tables import info_text, mapped_text, simulation_text, topology_text
from ..estimate.explored import Explored
from ..robot.model import RobotError
from ..robot.organisation import Organisation
from ..synthesize.report import Mapped
from ..synthesize.report import Report as Synthesised
from ..system.files import read_regular
from ..system.records import Record
from ..system.templates import render
from .comparison_table import Compared
from .comparison_table import as_text as comparison_text
from .folder import Manifest, OutputError, read_manifest
from .reports import BoardFacts, board_text
from .side_by_side import picture as side_picture

LARGEST_PICTURE = 500_000  # bytes that go into a notebook
Facts = TypeVar("Facts", bound=Record, covariant=True)


class Report(dict[str, Any], Generic[Facts]):
    """A report as JSON-able data; ``facts``: the same, typed."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts.to_json())
        self.facts = facts

    def headline(self) -> str:
        """A one-line summary."""
        raise NotImplementedError

    def as_text(self) -> str:
        """The report as the command line prints it."""
        raise NotImplementedError

    def picture(self) -> Path | None:
        """An SVG file that belongs to it."""
        return None

    def __repr__(self) -> str:
        return f"<{self.headline()}>"

    def _repr_html_(self) -> str:
        return shown(self.headline(), self.as_text(), self.picture())


class Info(Report[CoreFacts | AcceleratedFacts]):
    """The result of `info`."""

    def headline(self) -> str:
        own = self.facts
        return f"{own.robot}: {', '.join(own.functions)}{own.headline}"

    def as_text(self) -> str:
        return info_text(self.facts)


class TopologyReport(Report[Organisation]):
    """The result of `topology`."""

    def headline(self) -> str:
        own, modules = self.facts, self.facts.modules
        built = f"{modules.built} modules built of {modules.needed}"
        return f"{own.robot}: {len(own.joints)} joints, {built}"

    def as_text(self) -> str:
        return topology_text(self.facts)


class Simulation(Report[CoreRun | AcceleratorRun]):
    """The result of `simulate`."""

    def headline(self) -> str:
        return f"simulation: {self.facts.headline}"

    def as_text(self) -> str:
        return simulation_text(self.facts)


class _Told(Report[Facts]):
    """A report that carries its ``text``."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self["text"] = self.as_text()


class Synthesis(_Told[Synthesised | Mapped]):
    """The result of `synthesize`."""

    def headline(self) -> str:
        own = self.facts
        cells = ", ".join(f"{n} {cell}" for cell, n in list(own.cells.items())[:4])
        return f"{own.top} on {own.target}: {cells}, …"

    def as_text(self) -> str:
        return mapped_text(self.facts) if isinstance(self.facts, Mapped) else str(self.facts)


class OnBoard(_Told[BoardFacts]):
    """The result of `board`."""

    def headline(self) -> str:
        own = self.facts
        return f"{own.name} on {own.board}: {own.bitstream}, {own.clock:g} MHz"

    def as_text(self) -> str:
        return board_text(self.facts)


class Comparison(_Told[Compared]):
    """The result of `compare`."""

    def headline(self) -> str:
        own = self.facts
        beside = f"{len(own.ours)} designs beside {len(own.peers)} peers"
        return f"{own.robot}: {', '.join(own.functions)}: {beside}"

    def as_text(self) -> str:
        return comparison_text(self.facts)

    def svg(self) -> str:
        """A picture of how many tasks a second each way does, of those that come together."""
        own = self.facts
        return side_picture(f"{own.robot}: {', '.join(own.functions)}", own.side)

    def page(self, command: str) -> str:
        """The same as a page, with the picture; ``command``: what makes it again."""
        return study_page(self.headline(), self.svg(), self.as_text(), [("this page", command)])


class Exploration(_Told[Explored]):
    """The result of `explore`; its files are in ``place``."""

    def __init__(self, report: Explored, place: Path) -> None:
        super().__init__(report)
        self.place = place

    def headline(self) -> str:
        own = self.facts
        best = sum(point.pareto for point in own.points)
        return (
            f"{own.robot}: {', '.join(own.functions)} on {own.target}: "
            f"{len(own.points)} designs, {best} of them on the front"
        )

    def as_text(self) -> str:
        return exploration_text(self.facts)

    def picture(self) -> Path | None:
        return self.place / "pareto.svg"

    def page(self) -> str:
        """The same as a page, with the picture, and what makes each design on the front."""
        spoken = [(point, point.generate) for point in self.facts.points if point.pareto]
        commands = [
            (f"{point.multipliers} multipliers, a task every {point.interval}", command)
            for point, command in spoken
            if command is not None
        ]
        return study_page(self.headline(), draw(self.facts), self.as_text(), commands)


class Results(dict[str, Any]):
    """The result of `evaluate`: arrays by name."""

    def __repr__(self) -> str:
        return f"<{', '.join(f'{name} {array.shape}' for name, array in self.items())}>"


class Generated(type(Path())):  # type: ignore[misc]  # the platform's own kind of path
    """The result of `generate`: the path of the design's folder, with its manifest."""

    @property
    def folder(self) -> Path:
        """The same as a plain path."""
        return Path(self)

    @property
    def manifest(self) -> Manifest:
        """The design's manifest; OutputError if the folder has none, or a damaged one."""
        return read_manifest(self.folder)

    def with_segments(self, *segments: Any) -> Path:
        """Derived paths are plain `Path` objects (from Python 3.12 on)."""
        return Path(*segments)

    def __truediv__(self, name: Any) -> Path:
        return self.folder / name

    def headline(self) -> str:
        """A one-line summary."""
        if "language" in self.manifest:
            program = self.manifest.program
            return f"{self}: {program.robot}: {', '.join(program.functions)} in {program.language}"
        entry = self.manifest.facts
        return f"{self}: {entry.robot}: {', '.join(entry.functions)}{entry.headline}"

    def __repr__(self) -> str:
        try:
            return f"<{self.headline()}>"
        except (OutputError, RobotError, OSError):  # it has gone since, or is within the folder
            return repr(self.folder)

    def _repr_html_(self) -> str:
        program = "language" in self.manifest
        entry = self.manifest.program if program else self.manifest.facts
        notes = [f"note: {note}" for note in entry.notes]
        files = ", ".join(sorted(entry.files))
        picture = self / entry.PICTURE if isinstance(entry, HardwareManifest) else None
        return shown(self.headline(), "\n".join([f"files: {files}", *notes]), picture)


def shown(headline: str, text: str, picture: Path | None) -> str:
    """HTML of a headline, a text and a picture, if it is there and not too large to be inside."""
    parts = [f"<p><b>{html.escape(headline)}</b></p>", f"<pre>{html.escape(text)}</pre>"]
    try:
        data = read_regular(picture, LARGEST_PICTURE) if picture else b""
    except OSError:
        data = b""
    if data:
        source = f"data:image/svg+xml;base64,{base64.b64encode(data).decode()}"
        parts.append(f'<img style="max-width: 100%" src="{source}"/>')
    return "\n".join(parts)


def study_page(title: str, picture: str, text: str, commands: Sequence[tuple[str, str]]) -> str:
    """One file that needs no network; ``picture``: an SVG document; ``text``: what the command
    prints; ``commands``: what makes something again, and the command."""
    return render(
        "report/study.html.jinja",
        title=title,
        generator=f"rbdgen {__version__}",
        picture=picture[picture.index("<svg") :],
        blocks=text.strip().split("\n\n"),
        commands=commands,
    )
