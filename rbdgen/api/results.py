"""Return values of this package's functions: plain data that describes itself.

Each is a dict, as ``json.dumps`` takes it, or a path. ``repr`` is one line, and a notebook shows
the report that the command line prints, with its picture. Here is also what judges results: errors
of coordinates beside the golden model, and what it is when bits differ that must not.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from .. import __version__
from ..design.arrays import given_coordinates
from ..design.design import Design
from ..dynamics.interface import as_outputs
from ..graph.accuracy import REPORTED, SCALES, Accuracy, worst_of
from ..graph.word import SURE
from ..robot.model import Robot, RobotError
from ..system.files import read_regular
from ..system.quoting import Refusal
from ..system.records import Record
from ..system.templates import render
from .folder import Manifest, OutputError, read_manifest

STALL = 0.3  # probability, per cycle and side, in runs under back-pressure
JUDGED = 25  # states of one scale, at least: the errors and sizes of fewer vary too much


class Mismatch(Refusal, RuntimeError):
    """The hardware differs from its specification, or from what was predicted of it."""


def portions(states: int) -> list[int]:
    """Numbers of states at each of the `REPORTED` scales: half of all at the limits."""
    others = len(REPORTED) - 1
    small = [(states // 2 + k) // others for k in range(others)]
    return [states - sum(small), *small]


def entries_of(
    arrays: Iterable[tuple[str, NDArray, NDArray]],
    names: Iterable[str],
    design: Design,
    robot: Robot,
) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
    """Output → values (N,), and the same of the golden model's, from ``arrays`` with their names,
    values and the golden model's; ``names``: of the outputs that they have entries for."""
    given, words, golden = given_coordinates(design, robot), {}, {}
    for name, values, reference in arrays:
        words[name], golden[name] = values, reference
    return as_outputs(words, names, given), as_outputs(golden, names, given)


def keep_promise(where: object, found: Accuracy, promised: float | None) -> bool:
    """Whether there are enough states to judge the error that the design was made for: at least
    `JUDGED` at each of the `SCALES`.

    Raises Mismatch where a coordinate is surely off by more, as far as these states tell.
    """
    if promised is None:
        return True
    shares = found.shares(-SURE)
    enough = {own: found.sums[own[0]][own[1]].states >= JUDGED for own in shares}
    worst = worst_of({own: share for own, share in shares.items() if enough[own]})
    if worst.share > promised:
        scale = SCALES.index(worst.scale)
        raise Mismatch(
            f"{where}: error of {worst.row} {worst.scale.name} {found.error(worst.row, scale):.3g} "
            f"(RMS, {found.sums[worst.row][scale].states} states), "
            f"{promised * worst.scale.times:g} promised; a smaller --error makes up for it"
        )
    return all(enough.values())


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


class TextReport(Report[Facts]):
    """A report that carries its ``text``."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self["text"] = self.as_text()


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
        entry = self.manifest.design
        return f"{self}: {entry.robot}: {', '.join(entry.functions)}{entry.headline}"

    def __repr__(self) -> str:
        try:
            return f"<{self.headline()}>"
        except (OutputError, RobotError, OSError):  # it has gone since, or is within the folder
            return repr(self.folder)

    def _repr_html_(self) -> str:
        entry = self.manifest.design
        notes = [f"note: {note}" for note in entry.notes]
        files = ", ".join(sorted(entry.files))
        picture = self / entry.picture if entry.picture else None
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
