"""A timetable: a row for each of several resources, a bar for each of its operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import svg
from .colours import GREY, GRID, SERIES

LEFT, TOP, HIGH, GAP, WIDE = 84.0, 66.0, 13.0, 14.0, 760.0


@dataclass(frozen=True)
class Bar:
    """A bar from ``start`` to ``end``; ``kind``: its colour, ``hint``: shown under the pointer."""

    kind: str
    start: float
    end: float
    hint: str


def picture(title: str, unit: str, rows: Sequence[tuple[str, Sequence[Bar]]]) -> str:
    """An SVG document: rows from top to bottom; within a row each kind has a line of its own."""
    kinds = list(dict.fromkeys(bar.kind for _, bars in rows for bar in bars))
    colour = {kind: SERIES[k % len(SERIES)] for k, kind in enumerate(kinds)}
    last = max(bar.end for _, bars in rows for bar in bars)
    own = [[k for k in kinds if any(bar.kind == k for bar in bars)] for _, bars in rows]
    tall = sum(len(of) * HIGH + GAP for of in own)
    page = svg.document(LEFT + WIDE + 30, TOP + tall + 40, title)
    svg.text(page, 14, 28, title, size=16, weight="bold")
    x = LEFT
    for kind in kinds:
        svg.rectangle(page, x, 41, 9, 9, colour[kind])
        svg.text(page, x + 13, 49, kind, size=11)
        x += 30 + svg.extent(kind, 11)
    scale = WIDE / last
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if last / s <= 20)
    for k in range(int(last // step) + 1):
        at = LEFT + k * step * scale
        svg.line(page, [(at, TOP), (at, TOP + tall)], GRID, 1)
        svg.text(page, at, TOP + tall + 16, f"{k * step:g}", "middle", 10, colour=GREY)
    svg.text(page, LEFT + WIDE, TOP + tall + 32, unit, "end", 11, colour=GREY)
    y = TOP + GAP / 2
    for (name, bars), of in zip(rows, own, strict=True):
        svg.text(page, LEFT - 8, y + len(of) * HIGH / 2 + 4, name, "end", 12)
        for k, kind in enumerate(of):
            for bar in bars:
                if bar.kind == kind:
                    group = svg.group(page, bar.hint)
                    wide = (bar.end - bar.start) * scale
                    at = LEFT + bar.start * scale
                    svg.box(group, at, y + k * HIGH, wide, HIGH - 2, colour[kind], svg.PAPER)
        y += len(of) * HIGH + GAP
    return svg.to_text(page)
