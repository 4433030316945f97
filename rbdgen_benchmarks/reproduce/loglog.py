"""Curves over a common axis, both axes logarithmic: times against sizes, mostly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rbdgen.draw import svg
from rbdgen.draw.chart import (
    KEY_ROW,
    SMALL,
    Scale,
    across,
    colours_of,
    corner,
    key_down,
    page,
    upwards,
)
from rbdgen.draw.svg import GREY

LEFT, TOP, WIDE, HIGH = 74.0, 62.0, 520.0, 340.0
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
    colour = colours_of(name for panel in panels for name in panel.series)
    width = len(panels) * (LEFT + WIDE) + 24
    drawn = page(title, width, TOP + HIGH + 58 + KEY_ROW * len(colour))
    for k, panel in enumerate(panels):
        left = LEFT + k * (WIDE + LEFT)
        xs, ys = zip(*(point for own in panel.series.values() for point in own), strict=True)
        x = Scale.around(xs, SPARE, left, left + WIDE)
        y = Scale.around(ys, SPARE, TOP + HIGH, TOP)
        across(drawn, x, x.ticks(), (TOP, TOP + HIGH))
        upwards(drawn, y, y.ticks(), (left, left + WIDE))
        corner(drawn, x, y)
        svg.text(drawn, left, TOP - 8, f"{panel.title}: {panel.y}", size=SMALL)
        svg.text(drawn, left + WIDE, TOP + HIGH + 32, panel.x, "end", SMALL, colour=GREY)
        for name, own in panel.series.items():
            spots = [(x.at(a), y.at(b)) for a, b in own]
            svg.line(drawn, spots, colour[name], 1.5)
            for spot, (a, b) in zip(spots, own, strict=True):
                group = svg.group(drawn, f"{name}, {panel.x} {a:g}: {b:.3g} {panel.y}")
                svg.dot(group, spot, colour[name], 3)
    key_down(drawn, TOP + HIGH + 52, colour)
    return svg.to_text(drawn)
