"""How many of some tasks are solved, row by row and column by column: a cell each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import svg
from .colours import GREY, GRID

WIDE, HIGH, TOP, FOOT, ROOM = 66.0, 32.0, 60.0, 46.0, 16.0
SHADE, FAILED = "#2a8a57", "#b23a6b"
DARKEST = 0.6  # opacity; text stays readable


@dataclass(frozen=True)
class Share:
    """``solved`` of ``all``; ``below``: what stands under that; ``hint``: under the pointer."""

    solved: int
    all: int
    below: str
    hint: str


def picture(
    title: str, rows: Mapping[str, Mapping[int, Share]], columns: Sequence[int], below: str
) -> str:
    """An SVG document: cells by row's name and column; none where nothing was tried."""
    left = 14 + max(svg.extent(row, 11) for row in rows) + 12
    width = max(left + WIDE * len(columns) + 14, svg.extent(title, 14) + 28)
    page = svg.document(width, TOP + HIGH * len(rows) + FOOT, title)
    svg.text(page, 14, 26, title, size=14, weight="bold")
    for k, column in enumerate(columns):
        svg.text(page, left + WIDE * (k + 0.5), TOP - 6, str(column), "middle", 10, colour=GREY)
    for j, (row, cells) in enumerate(rows.items()):
        y = TOP + HIGH * j
        svg.text(page, left - 8, y + ROOM, row, "end", 11)
        for k, column in enumerate(columns):
            x = left + WIDE * k
            if (own := cells.get(column)) is None:
                svg.rectangle(page, x, y, WIDE - 1, HIGH - 1, GRID, 0.4)
                continue
            cell = svg.group(page, f"{row}, {column}: {own.hint}")
            colour = SHADE if own.solved == own.all else FAILED
            least = 0.15 if own.solved < own.all else 1.0  # the fewer are solved, the darker
            share = least + (1 - least) * (1 - own.solved / own.all)
            svg.rectangle(cell, x, y, WIDE - 1, HIGH - 1, colour, DARKEST * share)
            words = f"{own.solved}/{own.all}"
            svg.text(cell, x + WIDE / 2, y + 13, words, "middle", 10, weight="bold")
            svg.text(cell, x + WIDE / 2, y + 26, own.below, "middle", 9)
    svg.text(page, left, TOP + HIGH * len(rows) + 18, below, size=10, colour=GREY)
    return svg.to_text(page)
