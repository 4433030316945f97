"""Parts that charts are made of: a page, scales, axes, legends, rows of cells.

All lengths are in pixels, x to the right and y downwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from . import svg
from .svg import GREY, GRID, IDLE, SERIES

MARGIN = 14.0
SMALL, TINY = 11.0, 10.0  # sizes of text: of legends and names, and of an axis
PATCH, KEY_ROW, KEY_GAP = 9.0, 17.0, 30.0  # of legends: a colour, a line, from entry to entry
CLOCK = "clock cycle"  # an axis
ABOVE, BELOW, BESIDE = 7.0, 15.0, 7.0  # between an axis and the base line or end of its numbers


def page(title: str, width: float, height: float, size: float = 16.0, desc: str = "") -> ET.Element:
    """A page with its title; ``desc``: a description for those who do not see it."""
    found = svg.document(width, height, title)
    if desc:
        ET.SubElement(found, "desc").text = desc
    svg.text(found, MARGIN, 12 + size, title, size=size, weight="bold")
    return found


def colours_of(names: Iterable[str], colours: Sequence[str] = SERIES) -> dict[str, str]:
    """Name → colour, each name once, in their order."""
    return {name: colours[k % len(colours)] for k, name in enumerate(dict.fromkeys(names))}


def step_of(largest: float, most: float) -> float:
    """The least step of 1, 2 or 5 times a power of ten of which ``most`` reach ``largest``."""
    power = 10.0 ** math.floor(math.log10(largest / most))
    return next(k * power for k in (1, 2, 5, 10) if k * power * most >= largest * (1 - 1e-12))


@dataclass(frozen=True)
class Scale:
    """Values from ``low`` to ``high`` between the pixels ``start`` and ``end``."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    @classmethod
    def around(cls, values: Iterable[float], spare: float, start: float, end: float) -> Scale:
        """A logarithmic one, a factor ``spare`` beyond the outermost values."""
        seen = list(values)
        return cls(min(seen) / spare, max(seen) * spare, start, end, True)

    def at(self, value: float) -> float:
        """The pixel of a value."""
        share = (value - self.low) / (self.high - self.low)
        if self.logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 9) -> list[float]:
        """Multiples of `step_of`; of a logarithmic scale 1, 2, 5 … of each power of ten, or
        powers alone where those are more than ``most``."""
        if not self.logarithmic:
            step = step_of(self.high - self.low, most)
            first, last = math.ceil(self.low / step), math.floor(self.high / step + 1e-9)
            return [k * step for k in range(first, last + 1)]
        within = [
            tick
            for p in range(-9, 10)
            for k in (1, 2, 5)
            if self.low <= (tick := k * 10.0**p) <= self.high
        ]
        return within if len(within) <= most else [t for t in within if f"{t:e}"[0] == "1"]


def across(
    parent: ET.Element,
    scale: Scale,
    ticks: Iterable[float],
    ends: tuple[float, float],
    words: Callable[[float], str] = "{:g}".format,
    above: bool = False,
) -> None:
    """Lines behind a chart from ``ends[0]`` down to ``ends[1]``, with numbers below or above."""
    top, bottom = ends
    for tick in ticks:
        x, y = scale.at(tick), top - ABOVE if above else bottom + BELOW
        svg.line(parent, [(x, top - 4 * above), (x, bottom)], GRID, 1)
        svg.text(parent, x, y, words(tick), "middle", TINY, colour=GREY)


def upwards(
    parent: ET.Element,
    scale: Scale,
    ticks: Iterable[float],
    ends: tuple[float, float],
    words: Callable[[float], str] = "{:g}".format,
) -> None:
    """Lines behind a chart from ``ends[0]`` right to ``ends[1]``, with numbers on the left."""
    left, right = ends
    for tick in ticks:
        svg.line(parent, [(left, scale.at(tick)), (right, scale.at(tick))], GRID, 1)
        svg.text(parent, left - BESIDE, scale.at(tick) + 4, words(tick), "end", TINY, colour=GREY)


def corner(parent: ET.Element, x: Scale, y: Scale) -> None:
    """The two axes as lines, which meet on the lower left."""
    svg.line(parent, [(x.start, y.end), (x.start, y.start), (x.end, y.start)], GREY, 1)


def key_across(parent: ET.Element, x: float, y: float, colours: Mapping[str, str]) -> None:
    """A legend in one line whose base is ``y``: a patch of each colour, and its name."""
    for name, colour in colours.items():
        svg.rectangle(parent, x, y - PATCH + 1, PATCH, PATCH, colour)
        svg.text(parent, x + PATCH + 4, y, name, size=SMALL)
        x += KEY_GAP + svg.extent(name, SMALL)


def key_down(parent: ET.Element, y: float, colours: Mapping[str, str]) -> None:
    """A legend with a line for each colour, the first one's base at ``y``."""
    for name, colour in colours.items():
        key_across(parent, MARGIN, y, {name: colour})
        y += KEY_ROW


@dataclass(frozen=True)
class Cells:
    """Rows of cells, named at their left: ``wide`` and ``high`` are a cell's, ``columns`` many.

    The first cell's corner is at ``left`` and ``top``.
    """

    names: Sequence[str]
    columns: int
    left: float
    top: float
    wide: float
    high: float

    @staticmethod
    def room(names: Iterable[str], size: float = SMALL) -> float:
        """The pixels that the names take, with a margin on both sides."""
        return 24 + max((svg.extent(name, size) for name in names), default=0.0)

    @property
    def bottom(self) -> float:
        """The lower end of the last row."""
        return self.top + self.high * len(self.names)

    @property
    def right(self) -> float:
        """The right end of the last column."""
        return self.left + self.wide * self.columns

    def page(self, title: str, columns: Sequence[str], below: str) -> ET.Element:
        """A page with the names of rows and columns, and ``below`` them what the columns are."""
        needed = max(svg.extent(title, 14) + 2 * MARGIN, self.left + svg.extent(below, TINY) + 10)
        about = f"{len(self.names)} rows; columns: {below}"
        drawn = page(title, max(self.right + 10, needed), self.bottom + 30, 14.0, about)
        self.rows(drawn)
        self.heads(drawn, dict(enumerate(columns)))
        svg.text(drawn, self.left, self.bottom + 16, below, size=TINY, colour=GREY)
        return drawn

    def rows(self, parent: ET.Element, inset: float = 0.0, ground: str = "") -> None:
        """The names, and a band behind each row's cells, ``inset`` from its neighbours."""
        for k, name in enumerate(self.names):
            y = self.top + self.high * k
            svg.text(parent, self.left - 6, y + self.high / 2 + 4, name, "end", SMALL)
            if ground:
                high = self.high - 2 * inset
                svg.rectangle(parent, self.left, y + inset, self.right - self.left, high, ground)

    def heads(self, parent: ET.Element, words: Mapping[int, str], name: str = "") -> None:
        """Column → what stands above its middle; ``name``: of all columns, at the left."""
        y = self.top - ABOVE
        for column, head in words.items():
            x = self.left + self.wide * (column + 0.5)
            svg.text(parent, x, y, head, "middle", TINY, colour=GREY)
        if name:
            svg.text(parent, self.left - 6, y, name, "end", SMALL, colour=GREY)

    def cell(
        self,
        parent: ET.Element,
        row: int,
        column: int,
        colour: str = IDLE,
        opacity: float = 1.0,
        inset: tuple[float, float] = (0.5, 0.5),
    ) -> tuple[float, float]:
        """A rectangle in a row and column, ``inset`` in x and y; the cell's middle."""
        (x, y), (dx, dy) = (self.left + self.wide * column, self.top + self.high * row), inset
        wide, high = self.wide - 2 * dx, self.high - 2 * dy
        svg.rectangle(parent, x + dx, y + dy, wide, high, colour, opacity)
        return x + self.wide / 2, y + self.high / 2
