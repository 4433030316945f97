"""Groups of bars beside each other, each bar of parts on top of each other: times, mostly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from rbdgen.draw import svg
from rbdgen.draw.chart import (
    KEY_ROW,
    MARGIN,
    SMALL,
    Scale,
    colours_of,
    key_down,
    page,
    step_of,
    upwards,
)
from rbdgen.draw.svg import GREY

LEFT, TOP, HIGH, FOOT = 70.0, 60.0, 300.0, 60.0
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
    largest = max((bar.size for bar in bars), default=0.0) or 1.0
    step = step_of(largest, TICKS)
    scale = Scale(0.0, step * math.ceil(largest / step), TOP + HIGH, TOP)
    colour = colours_of(name for bar in bars for name in bar.parts)
    longest = max((svg.extent(name, SMALL) for name in colour), default=0.0)
    room = [svg.extent(name, 12) - len(group) * BAR for name, group in groups.items()]
    between = max(BETWEEN, BETWEEN + max(room, default=0.0))
    least = max(42 + longest, 28 + svg.extent(title, 16)) - LEFT - 20 - between * len(groups)
    named = max((svg.extent(bar.name, 10) for bar in bars), default=0.0)
    wide = max(BAR, named, least / max(len(bars), 1) - BESIDE)
    width = LEFT + len(bars) * (wide + BESIDE) + between * len(groups) + 20
    drawn = page(title, width, TOP + HIGH + FOOT + KEY_ROW * len(colour))
    key_down(drawn, TOP + HIGH + FOOT - 6, colour)
    upwards(drawn, scale, scale.ticks(TICKS), (LEFT, width - MARGIN))
    svg.text(drawn, MARGIN, TOP - 8, unit, size=SMALL, colour=GREY)
    x = LEFT + between / 2
    for group, own in groups.items():
        start = x
        for bar in own:
            _bar(drawn, (x, wide), scale, bar, unit, colour)
            x += wide + BESIDE
        svg.text(drawn, (start + x - BESIDE) / 2, TOP + HIGH + 36, group, "middle", 12, "bold")
        x += between
    return svg.to_text(drawn)


def _bar(
    parent: ET.Element,
    place: tuple[float, float],
    scale: Scale,
    bar: Bar,
    unit: str,
    colour: Mapping[str, str],
) -> None:
    """A bar at ``place``, its left end and its width."""
    (x, width), below = place, 0.0
    for name, size in bar.parts.items():
        own, top = svg.group(parent, f"{bar.name}, {name}: {size:.3g} {unit}"), below + size
        high = scale.at(below) - scale.at(top)
        svg.rectangle(own, x, scale.at(top), width, high, colour[name])
        below = top
    svg.text(parent, x + width / 2, scale.at(below) - 4, short(bar.size), "middle", 10)
    svg.text(parent, x + width / 2, TOP + HIGH + 16, bar.name, "middle", 10)


def short(size: float) -> str:
    """A number that is no wider than its bar: of small ones fewer digits."""
    if size >= 0.1 or size == 0:
        return f"{size:.3g}"
    return f"{size:.2g}" if size >= 0.01 else f"{size:.0e}".replace("e-0", "e-")
