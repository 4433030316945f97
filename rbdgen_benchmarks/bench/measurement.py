"""A measurement, and the runner that prints each of its rows when it is measured."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rbdgen.api.folder import write_file
from rbdgen.draw.tables import aligned, markdown
from rbdgen.robot.xml_lines import did_you_mean, quoted
from rbdgen.system.quoting import Progress, Refusal

DAYS = "days"  # takes so long that "all" leaves it out
Row = Sequence[Any]


class UnknownMeasurement(Refusal, ValueError):
    """The measurement, or the robot of one, ``name`` is none."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass
class Rows:
    """A table that is printed row by row, a column as wide as its widest entry so far.

    ``file``: gets the whole table as Markdown when it is closed, with the ``legend``.
    """

    head: Sequence[str]
    file: Path | None = None
    rows: list[Row] = field(default_factory=list)
    _widths: list[int] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Print a row, below the head if it is the first."""
        self.rows.append(row)
        above = [self.head, row] if len(self.rows) == 1 else [row]
        lines, self._widths = aligned(above, self._widths)
        if len(self.rows) == 1:
            lines.insert(1, "  ".join("-" * width for width in self._widths))
        print("\n".join(lines), flush=True)

    def close(self, legend: str = "") -> None:
        """Print the legend, and write the file."""
        if legend:
            print(f"\n{legend}", flush=True)
        if self.file:
            below = f"\n\n{legend}" if legend else ""
            write_file(self.file, f"{markdown(self.head, self.rows)}{below}\n")

    def to_json(self) -> list[dict[str, Any]]:
        """The rows by the names of their columns."""
        return [dict(zip(self.head, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Measurement:
    """One measurement of these pages.

    ``measure`` with ``columns``: a function of progress and of one of the ``cases``, which gives
    rows, and may return a text that is printed below them. Its result is the rows, and a page
    NAME.md if ``page``; ``check`` of them raises where something is wrong. Without
    ``columns``: a function of a folder and progress that prints for itself and returns its result.
    The first line of its docstring is ``about``.

    ``takes``: how long, on two cores. ``robots``: those that ``only`` can choose from, the first
    item of a case.
    """

    name: str
    takes: str
    measure: Callable[..., Any]
    columns: tuple[str, ...] = ()
    cases: Callable[[], Iterable[Sequence[Any]]] = lambda: [()]
    legend: str | Callable[[], str] = ""
    page: bool = False
    check: Callable[[list[dict[str, Any]]], None] = lambda _: None
    robots: Callable[[], Collection[str]] | None = None

    @property
    def about(self) -> str:
        """A line on what is measured."""
        return (self.measure.__doc__ or "").splitlines()[0]

    def __call__(self, place: Path, progress: Progress, only: Sequence[str] = ()) -> Any:
        """Measure: results as JSON can hold them; UnknownMeasurement for a robot that is none."""
        if only:
            self.refuse_unknown(only)
        if not self.columns:
            return self.measure(place, progress, *([only] if self.robots else []))
        below: list[str] = []
        rows = Rows(self.columns, place / f"{self.name}.md" if self.page else None)
        for case in self.cases():
            if not only or case[0] in only:
                below += self._measured(rows, self.measure(place, progress, *case))
        legend = self.legend if isinstance(self.legend, str) else self.legend()
        rows.close("\n".join(filter(None, [*below, legend])))
        found = rows.to_json()
        self.check(found)
        return found

    @staticmethod
    def _measured(rows: Rows, measured: Iterator[Row]) -> list[str]:
        """Add each row when it is measured; the text that the generator returns, if any."""
        while True:
            try:
                rows.add(next(measured))
            except StopIteration as end:
                return [end.value] if end.value else []

    def refuse_unknown(self, only: Sequence[str]) -> None:
        """UnknownMeasurement for a name in ``only`` that no robot of this one has."""
        robots = sorted(self.robots() if self.robots else ())
        for name in only:
            if name not in robots:
                hint = did_you_mean(name, robots, f"; one of {', '.join(robots)}")
                raise UnknownMeasurement(f"--only: no robot {quoted(name)} is measured{hint}", name)


def measurement(
    name: str, takes: str, columns: Sequence[str] = (), **more: Any
) -> Callable[[Callable[..., Any]], Measurement]:
    """A decorator that makes a `Measurement` of the function that measures."""
    return lambda measure: Measurement(name, takes, measure, tuple(columns), **more)
