"""Curves over a common axis, both axes logarithmic: times against sizes, mostly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import svg
from .colours import GREY, GRID, SERIES
from .exploration import Axis

LEFT, TOP, WIDE, HIGH, ROW = 74.0, 62.0, 520.0, 340.0, 17.0
SPARE = 1.25  # factor from the outermost point to the edge


@dataclass(frozen=True)
class Panel:
    """Series by name, each of (x, y) above zero; what the axes are."""

    title: str
    x: str
    y: str
    series: Mapping[str, Sequence[tuple[float, float]]]


def picture(title: str, panels: Sequence[Panel]) -> str:
    """An SVG document: panels beside each other; a series has one colour in all of them."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    colour = {name: SERIES[k % len(SERIES)] for k, name in enumerate(names)}
    width = len(panels) * (LEFT + WIDE) + 24
    page = svg.document(width, TOP + HIGH + 58 + ROW * len(names), title)
    svg.text(page, 14, 28, title, size=16, weight="bold")
    for k, panel in enumerate(panels):
        left = LEFT + k * (WIDE + LEFT)
        points = [point for own in panel.series.values() for point in own]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        across = Axis(min(xs) / SPARE, max(xs) * SPARE, left, left + WIDE)
        up = Axis(min(ys) / SPARE, max(ys) * SPARE, TOP + HIGH, TOP)
        for tick in ticks(across):
            svg.line(page, [(across.at(tick), TOP), (across.at(tick), TOP + HIGH)], GRID, 1)
            words = f"{tick:g}"
            svg.text(page, across.at(tick), TOP + HIGH + 15, words, "middle", 10, colour=GREY)
        for tick in ticks(up):
            svg.line(page, [(left, up.at(tick)), (left + WIDE, up.at(tick))], GRID, 1)
            svg.text(page, left - 6, up.at(tick) + 4, f"{tick:g}", "end", 10, colour=GREY)
        svg.line(page, [(left, TOP), (left, TOP + HIGH), (left + WIDE, TOP + HIGH)], GREY, 1)
        svg.text(page, left, TOP - 8, f"{panel.title}: {panel.y}", size=11)
        svg.text(page, left + WIDE, TOP + HIGH + 32, panel.x, "end", 11, colour=GREY)
        for name, own in panel.series.items():
            spots = [(across.at(x), up.at(y)) for x, y in own]
            svg.line(page, spots, colour[name], 1.5)
            for spot, (x, y) in zip(spots, own, strict=True):
                group = svg.group(page, f"{name}, {panel.x} {x:g}: {y:.3g} {panel.y}")
                svg.dot(group, spot, colour[name], 3)
    y = TOP + HIGH + 52
    for name, own_colour in colour.items():
        svg.rectangle(page, 14, y - 8, 9, 9, own_colour)
        svg.text(page, 28, y, name, size=11)
        y += ROW
    return svg.to_text(page)


def ticks(axis: Axis) -> list[float]:
    """1, 2, 5 … of each power of ten within it; powers alone where those are many."""
    all_of = [k * 10.0**p for p in range(-9, 10) for k in (1, 2, 5)]
    within = [tick for tick in all_of if axis.low <= tick <= axis.high]
    if len(within) > 9:
        return [10.0**p for p in range(-9, 10) if axis.low <= 10.0**p <= axis.high]
    return within
