"""Tables of cells in shades: numbers, darker the larger they are, and shares of solved tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from . import svg
from .chart import MARGIN, TINY, Cells, page
from .svg import GREY, GRID

SHADE, SOLVED, FAILED = "#2f6db3", "#2a8a57", "#b23a6b"
DARKEST = 0.75, 0.6  # opacity, of numbers and of shares; text stays readable
FOOT = 30.0


@dataclass(frozen=True)
class Share:
    """``solved`` of ``all``; ``below``: what stands under that; ``hint``: under the pointer."""

    solved: int
    all: int
    below: str
    hint: str


def heatmap(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    below: str,
    values: Sequence[Sequence[float]],
    spoken: str,
    logarithmic: bool = False,
) -> str:
    """An SVG document; ``values`` by row, not negative, ``spoken`` their format; ``below``: what
    the columns are. Shades are of the number or, of a quantity that spans decades, its logarithm.
    """
    cells = Cells(rows, len(columns), Cells.room(rows), 52.0, 58.0, 19.0)
    drawn = _page(title, cells, columns, below)
    positive = [value for row in values for value in row if value > 0]
    least, most = min(positive, default=1.0), max(positive, default=1.0)
    for j, own in enumerate(values):
        for k, value in enumerate(own):
            shade = value / most
            if logarithmic:
                span = math.log(most / least) or 1.0
                shade = 0.0 if value <= 0 else 0.1 + 0.9 * math.log(value / least) / span
            x, y = cells.cell(drawn, j, k, SHADE, DARKEST[0] * shade)
            if value > 0:
                svg.text(drawn, x, y + 3.5, spoken.format(value), "middle", 9)
    return svg.to_text(drawn)


def solved_share(
    title: str, rows: Mapping[str, Mapping[int, Share]], columns: Sequence[int], below: str
) -> str:
    """An SVG document: how many of some tasks are solved, by row's name and column; a pale cell
    where nothing was tried. The fewer are solved, the darker; green where all are."""
    cells = Cells(list(rows), len(columns), Cells.room(rows), 60.0, 66.0, 32.0)
    drawn = _page(title, cells, list(map(str, columns)), below)
    for j, (row, shares) in enumerate(rows.items()):
        for k, column in enumerate(columns):
            if (own := shares.get(column)) is None:
                cells.cell(drawn, j, k, GRID, 0.4)
                continue
            group = svg.group(drawn, f"{row}, {column}: {own.hint}")
            colour = SOLVED if own.solved == own.all else FAILED
            least = 0.15 if own.solved < own.all else 1.0
            share = least + (1 - least) * (1 - own.solved / own.all)
            x, y = cells.cell(group, j, k, colour, DARKEST[1] * share)
            svg.text(group, x, y - 3, f"{own.solved}/{own.all}", "middle", TINY, "bold")
            svg.text(group, x, y + 10, own.below, "middle", 9)
    return svg.to_text(drawn)


def _page(title: str, cells: Cells, columns: Sequence[str], below: str) -> ET.Element:
    """A page with the names of rows and columns, and what the columns are."""
    needed = max(svg.extent(title, 14) + 2 * MARGIN, cells.left + svg.extent(below, TINY) + 10)
    about = f"{len(cells.names)} rows; columns: {below}"
    drawn = page(title, max(cells.right + 10, needed), cells.bottom + FOOT, 14.0, about)
    cells.rows(drawn)
    cells.heads(drawn, dict(enumerate(columns)))
    svg.text(drawn, cells.left, cells.bottom + 16, below, size=TINY, colour=GREY)
    return drawn
