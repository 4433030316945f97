"""A picture of an exploration: throughput against multipliers and against LUTs, both in logs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from ..schedule.explored import Explored, Point
from . import svg
from .colours import GREY, GRID, SERIES
from .exploration_table import shown_of, varied

LIMIT = "#c23b3b"
WIDE, HIGH = 430.0, 400.0  # of a panel
LEFT, TOP, BETWEEN, FOOT = 74.0, 106.0, 64.0, 62.0
RADIUS, RING = 5.0, 3.0
SPARE = 1.35  # factor from the outermost point to the edge
FAR = 6.0  # a limit further than this factor from all points is only written down


@dataclass(frozen=True)
class Axis:
    """A logarithmic axis: values from ``low`` to ``high``, pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[int]:
        """1, 2, 5, 10, 20 … as far as they lie within."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        steps = [k * 10**p for p in powers if p >= 0 for k in (1, 2, 5)]
        return [step for step in steps if self.low <= step <= self.high]


def picture(report: Explored) -> str:
    """An SVG document with a panel for multipliers and one for LUTs.

    A dot is filled where Yosys has counted, a ring is an estimate, a cross does not fit the part.
    Lines join the front's designs that differ by their interval alone. Hints say the rest, and the
    interval where no label has room.
    """
    points, part, limits = shown_of(report), report.part, report.limits
    title = f"{report.robot}: {', '.join(report.functions)} on {part}"
    page = svg.document(2 * (LEFT + WIDE) + BETWEEN, TOP + HIGH + FOOT, title)
    svg.text(page, 14, 28, title, size=19, weight="bold")
    keys, all_of = series_of(points), varied(points)
    names = [name_of(p, keys) for p in points]
    colour = {n: SERIES[k % len(SERIES)] for k, n in enumerate(dict.fromkeys(names))}
    _legend(page, colour)
    slowest = max(p.interval for p in points)
    y = Axis(1 / (slowest * SPARE), SPARE, TOP + HIGH, TOP)
    panels: tuple[tuple[str, Callable[[Point], float | None], int], ...] = (
        ("hardware multipliers", lambda p: p.multipliers, limits.multipliers),
        ("LUTs", luts, limits.luts),
    )
    for k, (name, figure, limit) in enumerate(panels):
        left = LEFT + k * (WIDE + BETWEEN)
        found = [
            _Mark(n, name_of(p, all_of), p, x)
            for n, p in zip(names, points, strict=True)
            if (x := figure(p))
        ]
        if found:
            _panel(page, left, y, found, (name, part, limit), colour)
    return svg.to_text(page)


@dataclass(frozen=True)
class _Mark:
    """A design in a panel: of which colour, its name beside its interval, itself, its figure."""

    series: str
    name: str
    point: Point
    figure: float


def name_of(point: Point, keys: Sequence[str]) -> str:
    """``composite, width 18``: the choices called ``keys``."""
    own = {key: point.choices[key] for key in keys}
    return ", ".join(v if isinstance(v, str) else f"{k} {v}" for k, v in own.items())


def series_of(points: Sequence[Point]) -> list[str]:
    """The choices that have colours: what is varied, while there are colours enough."""
    keys = varied(points)
    while len({name_of(p, keys) for p in points}) > len(SERIES):
        keys.remove(max(keys, key=lambda key: len({p.choices[key] for p in points})))
    return keys


def luts(point: Point) -> float | None:
    """The LUTs that Yosys counted, else those of the model."""
    return point.cells["luts"] if point.cells else None


def _legend(page: ET.Element, colour: Mapping[str, str]) -> None:
    x = 18.0
    for name, own in colour.items() if len(colour) > 1 else ():
        svg.dot(page, (x, 47), own, RADIUS)
        svg.text(page, x + 10, 51, name, size=11)
        x += 30 + svg.extent(name, 11)
    x = 18.0
    for shape, words in (("dot", "mapped by Yosys"), ("ring", "estimated"), ("cross", "too large")):
        _shape(page, (x, 69), GREY, shape)
        svg.text(page, x + 10, 73, words, size=11, colour=GREY)
        x += 30 + svg.extent(words, 11)
    svg.text(page, x, 73, "lines: the Pareto front", size=11, colour=GREY)


def _panel(
    page: ET.Element,
    left: float,
    y: Axis,
    marks: Sequence[_Mark],
    limit: tuple[str, str, int],
    colour: Mapping[str, str],
) -> None:
    name, part, most = limit
    low, high = min(m.figure for m in marks), max(m.figure for m in marks)
    if high < most <= FAR * high:
        high = most
    x = Axis(low / SPARE, high * SPARE, left, left + WIDE)
    beyond = min(x.at(most), left + WIDE) if most > x.low else left
    svg.rectangle(page, beyond, TOP, left + WIDE - beyond, HIGH, LIMIT, 0.07)
    for tick in x.ticks():
        svg.line(page, [(x.at(tick), TOP), (x.at(tick), TOP + HIGH)], GRID, 1)
        svg.text(page, x.at(tick), TOP + HIGH + 16, _short(tick), "middle", 10, colour=GREY)
    for interval in (1, 2, 4, 8, 16, 32, 64):
        if 1 / interval > y.low:
            at, words = y.at(1 / interval), "1" if interval == 1 else f"1/{interval}"
            svg.line(page, [(left, at), (left + WIDE, at)], GRID, 1)
            svg.text(page, left - 8, at + 4, words, "end", 10, colour=GREY)
    svg.line(page, [(left, TOP), (left, TOP + HIGH), (left + WIDE, TOP + HIGH)], GREY, 1)
    svg.text(page, left + WIDE / 2, TOP + HIGH + 38, name, "middle", 13)
    svg.text(page, left, TOP - 8, "evaluations per clock", size=11)
    words = f"{part}: {most}"
    if x.low < most < x.high:
        svg.line(page, [(x.at(most), TOP), (x.at(most), TOP + HIGH)], LIMIT, 1.5)
    svg.text(page, left + WIDE, TOP - 8, words, "end", 11, colour=LIMIT)

    for series, own in colour.items():
        on = [m for m in marks if m.series == series and m.point.pareto]
        if len(on) > 1:
            joined = [(x.at(m.figure), y.at(1 / m.point.interval)) for m in on]
            svg.line(page, joined, own, 1)
    labels = svg.Labels(10, RADIUS + 4)
    for mark in marks:
        if mark.point.pareto:
            labels.keep_clear((x.at(mark.figure), y.at(1 / mark.point.interval)))
    for mark in marks:
        point, own = mark.point, colour[mark.series]
        spot = x.at(mark.figure), y.at(1 / point.interval)
        shape = "cross" if not point.fits else "dot" if point.mapped else "ring"
        group = svg.group(page, _hint(mark))
        _shape(group, spot, own, shape)
        if point.pareto:
            labels.put(group, spot, f"II {point.interval}", own)


def _shape(parent: ET.Element, at: svg.Point, colour: str, shape: str) -> None:
    x, y = at
    if shape == "cross":
        for sign in (1, -1):
            ends = [(x - RING, y - sign * RING), (x + RING, y + sign * RING)]
            svg.line(parent, ends, colour, 1.5)
        return
    svg.dot(parent, at, colour, RADIUS)
    if shape == "ring":
        svg.dot(parent, at, svg.PAPER, RING)


def _hint(mark: _Mark) -> str:
    point = mark.point
    cells = point.cells
    said = f"{cells['luts']} LUTs, {cells['flip_flops']} flip-flops" if cells else ""
    how = "mapped" if point.mapped else "estimated"
    lines = [
        f"{mark.name}, II {point.interval}".lstrip(", "),
        f"{point.multipliers} multipliers",
    ]
    lines += [f"{said} ({how})", f"latency {point.latency} cycles"] if cells else []
    return "; ".join([*lines, *([point.why_not] if point.why_not is not None else [])])


def _short(number: int) -> str:
    return f"{number // 1000} k" if number >= 1000 else str(number)
