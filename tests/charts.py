"""Charts of the pages' own tables: bars from zero, or dots over a logarithmic axis.

docs/pictures.md lists them: the page and heading of a table, the columns that name its rows, and
those whose numbers are drawn. ``first`` is a table's first column; ``columns`` are what names the
rows of a table that is turned over. ``column {unit}`` is the
number before that unit, ``column #2`` a cell's second; ``column = name`` has another legend.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from rbdgen.draw import svg
from rbdgen.draw.chart import (
    KEY_GAP,
    MARGIN,
    SMALL,
    TINY,
    Scale,
    across,
    colours_of,
    key_across,
    page,
)
from rbdgen.draw.svg import GREY, GRID

DOCS = Path(__file__).parent.parent / "docs"
ROW = re.compile(
    r"^\| \[.*\]\((?P<name>pictures/\S+\.svg)\)"
    r" \| \[.*\]\((?P<page>[\w-]+\.md)#(?P<heading>[\w-]+)\)"
    r" \| (?P<title>.+?) \| (?P<names>.*?) \| (?P<numbers>.+?) \| (?P<axis>.+?) \|$",
    re.MULTILINE,
)
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
NUMBER = r"(\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s?(k\b|)"
SIGN, OTHER = re.compile(r"(?<!\w)[-+−]$"), re.compile(r"\s?([MGT]\b(?!/)|[×·*]\s?10)")
FIRST, COLUMNS = "first", "columns"
LOGARITHMIC = ", logarithmic"

WIDE = 736.0  # what a page of the site has room for
TOP, FOOT = 46.0, 42.0
LEGEND_ROW = 18.0
BAR, BETWEEN, DOT_ROW, DOT = 11.0, 9.0, 18.0, 4.0
VALUE = 52.0  # room behind the longest bar
LABEL, LINE, LABEL_GAP = (
    175.0,
    13.0,
    5.0,
)  # of a row's name: its room, beside which a telephone shows bars
SPARE = 1.6  # factor beyond the outermost dots
TICKS = 6

Values = Mapping[str, float]


@dataclass(frozen=True)
class Chart:
    """``numbers`` of the table under a heading; ``names``: what its rows are called by."""

    name: str
    page: str
    heading: str
    title: str
    names: tuple[str, ...]
    numbers: tuple[str, ...]
    axis: str
    logarithmic: bool

    def drawn(self) -> str:
        """The SVG document, from what the page has now."""
        table = table_of((DOCS / self.page).read_text(), self.heading, self)
        return picture(self.title, self.axis, rows_of(table, self), self.logarithmic)


def charts() -> list[Chart]:
    """All that docs/pictures.md lists."""
    found = []
    for match in ROW.finditer((DOCS / "pictures.md").read_text()):
        own = match.groupdict()
        axis = own["axis"].removesuffix(LOGARITHMIC)
        names, numbers = (
            tuple(x.strip() for x in own[key].split(";")) for key in ("names", "numbers")
        )
        logarithmic = axis != own["axis"]
        of = own["name"], own["page"], own["heading"], own["title"]
        found.append(Chart(*of, names, numbers, axis, logarithmic))
    return found


def table_of(text: str, heading: str, chart: Chart) -> list[list[str]]:
    """The first table below a heading that has what is drawn; its head is the first row.

    Raises:
        LookupError: there is none.
    """
    for part in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        first, _, rest = part.partition("\n")
        if re.sub(r"[^\w\- ]", "", first.lstrip("# ").lower()).replace(" ", "-") != heading:
            continue
        for lines in TABLE.findall(rest):
            rows = [[plain(x) for x in line[1:-1].split("|")] for line in lines.splitlines()]
            table = [rows[0], *rows[2:]]
            if chart.names == (COLUMNS,):
                table = [list(column) for column in zip(*table, strict=True)]
            if all(column_of(name) in table[0] for name in chart.numbers):
                return table
    raise LookupError(f"{chart.page}#{heading} has no table of {', '.join(chart.numbers)}")


def plain(cell: str) -> str:
    """A cell's text without markup."""
    return re.sub(r"\[(.+?)\]\(.*?\)", r"\1", cell).translate({ord("`"): "", ord("*"): ""}).strip()


def column_of(name: str) -> str:
    """The column whose number is drawn."""
    return re.sub(r"( (#\d+|\{.+\}))?( = .*)?$", "", name)


def legend_of(name: str) -> str:
    """What a number is called in the chart."""
    return name.partition(" = ")[2] or column_of(name)


def number_of(cell: str, name: str) -> float | None:
    """A cell's number: its first one, that of a unit, or the n-th.

    Raises:
        LookupError: it has a sign, a unit letter beside k, or a power of ten.
    """
    unit, place = re.search(r" \{(.+)\}", name), re.search(r" #(\d+)", name)
    pattern = NUMBER + (r"\s?" + re.escape(unit[1]) if unit else "")
    found = [*re.finditer(pattern, cell)]
    at = int(place[1]) - 1 if place else 0
    if at >= len(found):
        return None
    own = found[at]
    if SIGN.search(cell[: own.start()]) or OTHER.match(cell[own.end() :]):
        raise LookupError(f"{name}: of {cell!r} no chart knows the sign or what follows")
    return float(own[1]) * (1000 if own[2] else 1)


def rows_of(table: Sequence[Sequence[str]], chart: Chart) -> dict[str, Values]:
    """Name → the numbers of a row by column, without rows that have none.

    A cell that names nothing stands for the one above it.

    Raises:
        LookupError: two rows have one name, or a number is not understood.
    """
    head, *rows = table
    places = [0 if name in (FIRST, COLUMNS) else head.index(name) for name in chart.names]
    found: dict[str, Values] = {}
    above = [""] * len(head)
    for row in rows:
        above = [cell or before for cell, before in zip(row, above, strict=True)]
        read = {n: number_of(row[head.index(column_of(n))], n) for n in chart.numbers}
        if values := {legend_of(n): value for n, value in read.items() if value is not None}:
            called = ", ".join(above[k] for k in places)
            if called in found:
                raise LookupError(f"{chart.page}#{chart.heading} has two rows called {called}")
            found[called] = values
    return found


def picture(title: str, axis: str, rows: Mapping[str, Values], logarithmic: bool) -> str:
    """An SVG document: a group of bars for each row, or a line with a dot for each number."""
    series = list(dict.fromkeys(name for values in rows.values() for name in values))
    colours = colours_of(series)
    lines = {name: _lines(name) for name in rows}
    left = 2 * MARGIN + max(svg.extent(line, SMALL) for own in lines.values() for line in own)
    legend = _legend(colours) if len(colours) > 1 else []
    top = TOP + LEGEND_ROW * len(legend)
    room = {
        name: max(
            DOT_ROW if logarithmic else BAR * len(own) + BETWEEN,
            LINE * len(lines[name]) + LABEL_GAP,
        )
        for name, own in rows.items()
    }
    bottom = top + sum(room.values())
    about = f"{axis}: " + "; ".join(f"{n}: {_spoken(own)}" for n, own in rows.items())
    drawn = page(title, WIDE, bottom + FOOT, 15.0, about)
    for k, line in enumerate(legend):
        key_across(drawn, MARGIN, TOP + LEGEND_ROW * k, line)
    numbers = [value for own in rows.values() for value in own.values()]
    scale = Scale(0.0, max(numbers), left, WIDE - VALUE)
    if logarithmic:
        scale = Scale.around(numbers, SPARE, left, WIDE - MARGIN)
    across(drawn, scale, scale.ticks(TICKS), (top, bottom))
    svg.text(drawn, (left + WIDE) / 2, bottom + 32, axis, "middle", SMALL, colour=GREY)
    y = top
    for name, own in rows.items():
        middle = y + room[name] / 2
        first = middle + 4 - LINE * (len(lines[name]) - 1) / 2
        for k, line in enumerate(lines[name]):
            svg.text(drawn, left - 8, first + LINE * k, line, "end", SMALL)
        if logarithmic:
            _dots(drawn, scale, middle, own, colours)
        else:
            _bars(drawn, scale, middle - BAR * len(own) / 2, own, colours)
        y += room[name]
    return svg.to_text(drawn)


def _legend(colours: Mapping[str, str]) -> list[dict[str, str]]:
    """The lines of a legend, each as long as the page allows."""
    lines: list[dict[str, str]] = []
    room = 0.0
    for name, colour in colours.items():
        wide = KEY_GAP + svg.extent(name, SMALL)
        if wide > room:
            lines.append({})
            room = WIDE - 2 * MARGIN
        lines[-1][name] = colour
        room -= wide
    return lines


def _lines(name: str) -> list[str]:
    """A row's name, in as many lines as its room takes."""
    lines: list[str] = []
    for word in name.split():
        if lines and svg.extent(longer := f"{lines[-1]} {word}", SMALL) <= LABEL:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _bars(
    parent: ET.Element, scale: Scale, y: float, own: Values, colours: Mapping[str, str]
) -> None:
    for k, (name, value) in enumerate(own.items()):
        group, end = svg.group(parent, f"{name}: {value:g}"), scale.at(value)
        at = y + BAR * k
        svg.rectangle(group, scale.start, at, end - scale.start, BAR - 1, colours[name])
        svg.text(group, end + 4, at + 9, f"{value:g}", size=TINY, colour=GREY)


def _dots(
    parent: ET.Element, scale: Scale, y: float, own: Values, colours: Mapping[str, str]
) -> None:
    svg.line(parent, [(scale.start, y), (scale.end, y)], GRID, 1)
    ends = [scale.at(value) for value in (min(own.values()), max(own.values()))]
    svg.line(parent, [(x, y) for x in ends], GREY, 1.2)
    for name, value in own.items():
        group = svg.group(parent, f"{name}: {value:g}")
        svg.dot(group, (scale.at(value), y), colours[name], DOT)


def _spoken(own: Values) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in own.items())
