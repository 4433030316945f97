"""Shares of solved tasks as a table of cells in shades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rbdgen.draw import svg
from rbdgen.draw.chart import TINY, Cells
from rbdgen.draw.svg import GRID

SOLVED, FAILED = "#278152", "#b23a6b"


@dataclass(frozen=True)
class Share:
    """``solved`` of ``all``; ``below``: what stands under that; ``hint``: under the pointer."""

    solved: int
    all: int
    below: str
    hint: str


def solved_share(
    title: str, rows: Mapping[str, Mapping[int, Share]], columns: Sequence[int], below: str
) -> str:
    """An SVG document: how many of some tasks are solved, by row's name and column; a pale cell
    where nothing was tried. The fewer are solved, the darker; green where all are."""
    cells = Cells(list(rows), len(columns), Cells.room(rows), 60.0, 66.0, 32.0)
    drawn = cells.page(title, list(map(str, columns)), below)
    for j, (row, shares) in enumerate(rows.items()):
        for k, column in enumerate(columns):
            if (own := shares.get(column)) is None:
                cells.cell(drawn, j, k, GRID, 0.4)
                continue
            group = svg.group(drawn, f"{row}, {column}: {own.hint}")
            colour = SOLVED if own.solved == own.all else FAILED
            least = 0.15 if own.solved < own.all else 1.0
            share = least + (1 - least) * (1 - own.solved / own.all)
            x, y = cells.cell(group, j, k, colour, svg.SHADE * share)
            svg.text(group, x, y - 3, f"{own.solved}/{own.all}", "middle", TINY, "bold")
            svg.text(group, x, y + 10, own.below, "middle", 10)
    return svg.to_text(drawn)
