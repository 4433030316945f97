"""Groups of bars beside each other, each bar of parts on top of each other: times, mostly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from . import svg
from .colours import GREY, GRID, SERIES

LEFT, TOP, HIGH, FOOT, ROW = 70.0, 60.0, 300.0, 60.0, 17.0
BAR, BESIDE, BETWEEN = 26.0, 6.0, 26.0  # widths of a bar, and between bars and groups, at least
TICKS = 5


@dataclass(frozen=True)
class Bar:
    """A bar: what stands under it, and its parts' sizes by name, the first at the bottom."""

    name: str
    parts: Mapping[str, float]

    @property
    def size(self) -> float:
        """All parts together."""
        return sum(self.parts.values())


def picture(title: str, unit: str, groups: Mapping[str, Sequence[Bar]]) -> str:
    """An SVG document: groups by their names, from left to right; ``unit`` of all sizes.

    The axis begins at zero, so that heights can be compared. Hints have each part's number.
    """
    bars = [bar for group in groups.values() for bar in group]
    step, top = _scale(max((bar.size for bar in bars), default=0.0) or 1.0)
    names = list(dict.fromkeys(name for bar in bars for name in bar.parts))
    colour = {name: SERIES[k % len(SERIES)] for k, name in enumerate(names)}
    longest = max((svg.extent(name, 11) for name in names), default=0.0)
    between = BETWEEN + max(
        (svg.extent(name, 12) - len(g) * BAR for name, g in groups.items()), default=0.0
    )
    between = max(BETWEEN, between)
    least = max(42 + longest, 28 + svg.extent(title, 16)) - LEFT - 20 - between * len(groups)
    named = max((svg.extent(bar.name, 10) for bar in bars), default=0.0)
    bar_width = max(BAR, named, least / max(len(bars), 1) - BESIDE)
    wide = len(bars) * (bar_width + BESIDE) + between * len(groups)
    width = LEFT + wide + 20
    page = svg.document(width, TOP + HIGH + FOOT + ROW * len(names), title)
    svg.text(page, 14, 28, title, size=16, weight="bold")
    y = TOP + HIGH + FOOT - 6
    for name, own in colour.items():
        svg.rectangle(page, 14, y - 8, 9, 9, own)
        svg.text(page, 28, y, name, size=11)
        y += ROW
    high = HIGH / top
    for k in range(round(top / step) + 1):
        y = TOP + HIGH - k * step * high
        svg.line(page, [(LEFT, y), (width - 14, y)], GRID, 1)
        svg.text(page, LEFT - 6, y + 4, f"{k * step:g}", "end", 11, colour=GREY)
    svg.text(page, 14, TOP - 8, unit, size=11, colour=GREY)
    x = LEFT + between / 2
    for group, own_bars in groups.items():
        start = x
        for bar in own_bars:
            _bar(page, (x, bar_width), high, bar, unit, colour)
            x += bar_width + BESIDE
        svg.text(page, (start + x - BESIDE) / 2, TOP + HIGH + 36, group, "middle", 12, "bold")
        x += between
    return svg.to_text(page)


def _bar(
    page: ET.Element,
    place: tuple[float, float],
    high: float,
    bar: Bar,
    unit: str,
    colour: Mapping[str, str],
) -> None:
    """A bar at ``place``, its left end and its width."""
    (x, width), y = place, TOP + HIGH
    for name, size in bar.parts.items():
        own = svg.group(page, f"{bar.name}, {name}: {size:.3g} {unit}")
        y -= size * high
        svg.rectangle(own, x, y, width, size * high, colour[name])
    svg.text(page, x + width / 2, y - 4, short(bar.size), "middle", 9)
    svg.text(page, x + width / 2, TOP + HIGH + 16, bar.name, "middle", 10)


def _scale(largest: float) -> tuple[float, float]:
    """A step of 1, 2 or 5 times a power of ten, and the first multiple of it above all bars."""
    power = 10.0 ** math.floor(math.log10(largest / TICKS))
    step = next(k * power for k in (1, 2, 5, 10) if k * power * TICKS >= largest)
    return step, step * math.ceil(largest / step)


def short(size: float) -> str:
    """A number that is no wider than its bar: of small ones fewer digits."""
    if size >= 0.1 or size == 0:
        return f"{size:.3g}"
    return f"{size:.2g}" if size >= 0.01 else f"{size:.0e}".replace("e-0", "e-")
