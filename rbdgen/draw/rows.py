"""Bars in rows over a common axis of cycles: who is where, or what is done, when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from . import svg

LEFT, WIDE, RIGHT = 96.0, 1160.0, 26.0  # of all rows: their names, their bars, what is left
TRACK, BAR, APART = 11.0, 10.0, 7.0  # from bar to bar, a bar's height, between rows
LEGEND = 19.0  # height of a line
LETTERS = 8.0  # size of a bar's label
STEPS = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
STEP = 44.0  # from tick to tick, at least
GREY, FAINT = "#5f6875", "#dfe3e8"


@dataclass(frozen=True)
class Span:
    """A bar: its cycles, its label, where there is room, what a viewer says of it, its colours."""

    first: int
    last: int
    label: str
    hint: str
    colour: str
    ink: str


@dataclass(frozen=True)
class Row:
    """Bars, below each other where they overlap; ``life``: the cycles in which it is shaded."""

    name: str
    spans: Sequence[Span]
    colour: str = ""  # of its name
    life: tuple[int, int] | None = None


def legend(page: ET.Element, y: float, said: str, colours: Mapping[str, str]) -> None:
    """Draw the title of the bars below and the legend of their colours: two lines."""
    svg.text(page, 14, y + 8, said, size=12, weight="bold")
    x = 14.0
    for name, colour in colours.items():
        svg.rectangle(page, x, y + LEGEND - 2, 14, BAR, colour)
        svg.text(page, x + 19, y + LEGEND + 7, name, size=11)
        x += 42 + svg.extent(name, 11)


def height(rows: Sequence[Row]) -> float:
    """The height of all rows together, without the axis, which is above them."""
    return sum(TRACK * _tracks(row.spans)[1] + APART for row in rows)


def draw(page: ET.Element, rows: Sequence[Row], top: float, last: int) -> None:
    """Rows from ``top`` downwards, below an axis of cycles from 0 to ``last``."""
    cycle = WIDE / (last + 1)
    bottom = top + height(rows)
    every = next((step for step in STEPS if step * cycle >= STEP), STEPS[-1])
    for k in range(0, last + 1, every):
        x = LEFT + cycle * k
        svg.line(page, [(x, top - 4), (x, bottom)], FAINT, 1)
        svg.text(page, x, top - 7, str(k), "middle", 9, colour=GREY)
    y = top
    for row in rows:
        track, count = _tracks(row.spans)
        high = TRACK * count
        svg.line(page, [(14, y - APART / 2), (LEFT + WIDE, y - APART / 2)], FAINT, 1)
        svg.text(page, 14, y + high / 2 + 4, row.name, size=11, weight="bold", colour=row.colour)
        if row.life:
            first, end = row.life
            svg.rectangle(page, LEFT + cycle * first, y, cycle * (end - first), high, FAINT, 0.6)
        for own, span in zip(track, row.spans, strict=True):
            group = svg.group(page, span.hint, class_="bar")
            x, wide = LEFT + cycle * span.first, cycle * (span.last - span.first)
            at = y + TRACK * own
            svg.rectangle(group, x, at, max(wide - 0.6, 0.6), BAR, span.colour)
            if svg.extent(span.label, LETTERS) + 3 <= wide:
                middle = x + wide / 2
                svg.text(group, middle, at + 8, span.label, "middle", LETTERS, colour=span.ink)
        y += high + APART


def _tracks(spans: Sequence[Span]) -> tuple[list[int], int]:
    """The track of each bar, which no other has at that time, and how many tracks there are."""
    free: list[int] = []  # the cycle from which each track is
    track = [0] * len(spans)
    for k in sorted(range(len(spans)), key=lambda k: (spans[k].first, spans[k].last)):
        track[k] = next((n for n, at in enumerate(free) if at <= spans[k].first), len(free))
        free[track[k] : track[k] + 1] = [spans[k].last]
    return track, max(len(free), 1)
