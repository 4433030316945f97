"""An exploration as a picture, tasks a second against multipliers and LUTs, and as a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from ..design.target import ascending, find_target
from ..schedule.quick import DesignPoint, Explored, QuickError
from . import svg
from .chart import Scale, across, colours_of, corner, page, upwards
from .clocks import of_energies, of_model
from .svg import GREY, SERIES
from .tables import table

LIMIT = "#c23b3b"
WIDE, HIGH = 290.0, 360.0  # of a panel
LEFT, TOP, BETWEEN, FOOT = 74.0, 106.0, 52.0, 62.0
RADIUS, RING = 5.0, 3.0
TICKS = 20
SPARE = 1.35  # factor from the outermost point to the edge
QUANTITIES = (("LUT", "luts"), ("FF", "flip_flops"))
ENERGY = ("nJ a result, estimated",)
WORST = ("worst, at the limits | at a tenth",)
RATE, PER_CLOCK = "M tasks/s, estimated", "evaluations per clock"
CLOCKED = ("MHz, estimated", "µs at most, estimated", RATE)
MANY = 100  # designs: of more the front alone is shown
FAR = 6.0  # a limit further than this factor from all points is only written down


def picture(report: Explored) -> str:
    """An SVG document with a panel for multipliers and one for LUTs.

    Upwards are M tasks/s of the core where a clock is expected of the part, else evaluations per
    clock. A dot is filled where Yosys has counted, a ring is an estimate, a cross does not fit the
    part. Lines join the front's designs that differ by their interval alone. Hints say the rest,
    and the interval where no label has room.
    """
    shown, part, limits = shown_of(report), report.part, report.limits
    clocked = any(point.clock for point in shown)
    points = [point for point in shown if point.clock or not clocked]
    title = f"{report.robot}: {', '.join(report.functions)} on {part}"
    drawn = page(title, 2 * (LEFT + WIDE) + BETWEEN, TOP + HIGH + FOOT, 19.0)
    keys, all_of = series_of(points), varied(points)
    names = [name_of(p, keys) for p in points]
    colour = colours_of(names)
    _legend(drawn, colour, len(shown) - len(points))
    y = Scale.around(map(height_of, points), SPARE, TOP + HIGH, TOP)
    panels: tuple[tuple[str, Callable[[DesignPoint], float | None], int], ...] = (
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
            _panel(drawn, left, y, found, (name, part, limit), colour)
    return svg.to_text(drawn)


@dataclass(frozen=True)
class _Mark:
    """A design in a panel: of which colour, its name beside its interval, itself, its figure."""

    series: str
    name: str
    point: DesignPoint
    figure: float


def name_of(point: DesignPoint, keys: Sequence[str]) -> str:
    """``composite, width 18``: the choices called ``keys``."""
    own = {key: point.choices[key] for key in keys}
    return ", ".join(v if isinstance(v, str) else f"{k} {v}" for k, v in own.items())


def series_of(points: Sequence[DesignPoint]) -> list[str]:
    """The choices that have colours: what is varied, while there are colours enough."""
    keys = varied(points)
    while len({name_of(p, keys) for p in points}) > len(SERIES):
        keys.remove(max(keys, key=lambda key: len({p.choices[key] for p in points})))
    return keys


def height_of(point: DesignPoint) -> float:
    """M tasks/s by the clock that is expected, else evaluations per clock."""
    return (point.clock.mhz.about if point.clock else 1.0) / point.interval


def luts(point: DesignPoint) -> float | None:
    """The LUTs that Yosys counted, else those of the model."""
    return point.cells["luts"] if point.cells else None


def _legend(parent: ET.Element, colour: Mapping[str, str], without: int) -> None:
    """Colours, shapes, and how many designs are ``without`` a clock, so not drawn."""
    x = 18.0
    for name, own in colour.items() if len(colour) > 1 else ():
        svg.dot(parent, (x, 47), own, RADIUS)
        svg.text(parent, x + 10, 51, name, size=11)
        x += 30 + svg.extent(name, 11)
    x = 18.0
    for shape, words in (("dot", "mapped by Yosys"), ("ring", "estimated"), ("cross", "too large")):
        _shape(parent, (x, 69), GREY, shape)
        svg.text(parent, x + 10, 73, words, size=11, colour=GREY)
        x += 30 + svg.extent(words, 11)
    words = "lines: the Pareto front"
    if without:
        words += f"; in the table alone, without an estimate: {without}"
    svg.text(parent, x, 73, words, size=11, colour=GREY)


def _panel(
    parent: ET.Element,
    left: float,
    y: Scale,
    marks: Sequence[_Mark],
    limit: tuple[str, str, int],
    colour: Mapping[str, str],
) -> None:
    name, part, most = limit
    low, high = min(m.figure for m in marks), max(m.figure for m in marks)
    if high < most <= FAR * high:
        high = most
    x = Scale.around((low, high), SPARE, left, left + WIDE)
    beyond = min(x.at(most), left + WIDE) if most > x.low else left
    svg.rectangle(parent, beyond, TOP, left + WIDE - beyond, HIGH, LIMIT, 0.07)
    across(parent, x, x.ticks(TICKS), (TOP, TOP + HIGH), _short)
    if clocked := marks[0].point.clock is not None:
        upwards(parent, y, y.ticks(TICKS), (left, left + WIDE))
    else:
        per_clock = [1 / k for k in (1, 2, 4, 8, 16, 32, 64) if 1 / k > y.low]
        upwards(parent, y, per_clock, (left, left + WIDE), _per_clock)
    corner(parent, x, y)
    svg.text(parent, left + WIDE / 2, TOP + HIGH + 38, name, "middle", 13)
    svg.text(parent, left, TOP - 8, RATE if clocked else PER_CLOCK, size=11)
    words = f"{part}: {most}"
    if x.low < most < x.high:
        svg.line(parent, [(x.at(most), TOP), (x.at(most), TOP + HIGH)], LIMIT, 1.5)
    svg.text(parent, left + WIDE, TOP - 8, words, "end", 11, colour=LIMIT)

    for series, own in colour.items():
        on = [m for m in marks if m.series == series and m.point.pareto]
        if len(on) > 1:
            joined = [(x.at(m.figure), y.at(height_of(m.point))) for m in on]
            svg.line(parent, joined, own, 1)
    labels = svg.Labels(10, RADIUS + 4)
    for mark in marks:
        if mark.point.pareto:
            labels.keep_clear((x.at(mark.figure), y.at(height_of(mark.point))))
    for mark in marks:
        point, own = mark.point, colour[mark.series]
        spot = x.at(mark.figure), y.at(height_of(point))
        shape = "cross" if not point.fits else "dot" if point.mapped else "ring"
        group = svg.group(parent, _hint(mark))
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
    if point.us and point.rate:
        lines.append(f"estimated {point.us} µs at most, {point.rate} M tasks/s")
    return "; ".join([*lines, *([point.why_not] if point.why_not is not None else [])])


def _short(number: float) -> str:
    return f"{number / 1000:g} k" if number >= 1000 else f"{number:g}"


def _per_clock(throughput: float) -> str:
    return "1" if throughput == 1 else f"1/{round(1 / throughput)}"


def shown_of(report: Explored) -> tuple[DesignPoint, ...]:
    """The designs that a reader looks at: all, or of many those on the front."""
    if len(report.points) <= MANY:
        return report.points
    return tuple(p for p in report.points if p.pareto) or report.points[:MANY]


def as_text(report: Explored) -> str:
    """Every design, or of many the front: choices, interval, latency, multipliers, cells estimated
    and mapped, and the coordinates with the largest errors."""
    points = shown_of(report)
    shown = varied(report.points)
    cells = [f"{name}{of}" for name, _ in QUANTITIES for of in (" model", "", " off")]
    known = any(point.worst for point in points)
    clocked = any(point.clock for point in points)
    powered = any(point.energy for point in points)
    family = ascending(find_target(report.target).family)
    head = [
        *shown,
        "II",
        "latency",
        "multipliers",
        *cells,
        "block RAM",
        *(("smallest part",) if len(family) > 1 else ()),
        *(CLOCKED if clocked else ("per clock",)),
        *(ENERGY if powered else ()),
        *(WORST if known else ()),
        "",
    ]
    rows = [
        [
            *(point.choices[key] for key in shown),
            point.interval,
            _or_dash(point.latency),
            _or_dash(point.multipliers),
            *(entry for _, quantity in QUANTITIES for entry in _cells(point, quantity)),
            _or_dash((point.cells or {}).get("block_rams")),
            *((_or_dash(point.smallest),) if len(family) > 1 else ()),
            *(_clocked(point) if clocked else (f"{point.evaluations_per_clock:.3g}",)),
            *((_energy(point),) if powered else ()),
            *([_or_dash(point.worst)] if known else ()),
            _said(point, report.part),
        ]
        for point in points
    ]
    limits = report.limits
    times = "µs, M tasks/s" if clocked else "cycles to a result, interval"
    times += ", nJ" if powered else ""
    if report.quick is None:
        asked = "error asked for" if "error" in points[0].choices else "error of the worst"
        costs = f"{times} and {asked}"
    else:
        costs = f"{'M tasks/s' if clocked else 'interval'}, width and guard bits"
    notes = [
        f"*: on the Pareto front of multipliers, LUTs, {costs}, of what fits "
        f"{report.part} ({limits.multipliers} multipliers, {limits.luts} LUTs)",
        *(_errors(name, quantity, report) for name, quantity in QUANTITIES),
        *(_of_quick(name, own) for name, q in QUANTITIES if (own := (report.quick or {}).get(q))),
    ]
    if len(family) > 1:
        notes.append("smallest part: of the family, by multipliers and LUTs")
    if clocked:
        grade = next(p.clock.speed for p in points if p.clock)
        since = "from when a task comes in any cycle" if report.quick is None else "from a task"
        notes.append(
            f"~: before place and route, of the core at speed {grade}, {of_model(report.target)}; "
            f"µs {since} to its result"
        )
        if any(p.clock and p.clock.beyond for p in points):
            notes.append("?: DOUBTFUL, the model has seen no design of so few or so many cells")
    if powered:
        notes.append(f"nJ is {of_energies()}")
    if len(points) < len(report.points):
        notes.insert(0, f"{len(points)} of {len(report.points)} designs are shown: the front")
    title = f"{report.robot}: {', '.join(report.functions)} on {report.part}"
    return "\n".join([title, "", table(head, rows), "", *notes])


def varied(points: Sequence[DesignPoint]) -> list[str]:
    """The choices, beside the interval, in which the designs differ."""
    keys = [key for key in points[0].choices if key != "ii"]
    return [key for key in keys if len({p.choices[key] for p in points}) > 1]


def _cells(point: DesignPoint, quantity: str) -> list[Any]:
    """Estimated, mapped, and the error of the estimate."""
    guess, there = point.estimated, point.mapped
    off = f"{misses([point], quantity)[0]:+.1%}" if there else "-"
    return [_or_dash((cells or {}).get(quantity)) for cells in (guess, there)] + [off]


def _clocked(point: DesignPoint) -> list[str]:
    """The clock that is expected, µs from a task to its result, and M tasks/s."""
    own, us, rate = point.clock, point.us, point.rate
    if own is None or us is None or rate is None:
        return ["-"] * len(CLOCKED)
    return [f"~{own.mhz.about:.0f}{'?' * bool(own.beyond)}", str(us), str(rate)]


def _energy(point: DesignPoint) -> str:
    """nJ of a result."""
    own = point.energy
    return f"{own.nj}{'?' * bool(own.beyond)}" if own else "-"


def _or_dash(value: Any) -> Any:
    return "-" if value is None else value


def _said(point: DesignPoint, part: str) -> str:
    mark = "* " if point.pareto else ""
    if point.why_not is not None:
        return mark + point.why_not
    return mark if point.fits else f"{mark}more LUTs than {part} has"


def _errors(name: str, quantity: str, report: Explored) -> str:
    """How far the model is off: where it was fitted, and here."""
    model = report.model[quantity]
    line = (
        f"{name}: the model is off by {model.rms:.1%} (RMS; at worst {model.worst:.1%}) over "
        "the designs that it was fitted to"
    )
    here = misses(report.points, quantity)
    if not here:
        return line
    rms = math.sqrt(sum(x * x for x in here) / len(here))
    worst = max(here, key=abs)
    return f"{line}; over the {len(here)} mapped here by {rms:.1%} (at worst {worst:+.1%})"


def _of_quick(name: str, own: QuickError) -> str:
    return (
        f"{name}: from quick schedules; those are off by {own.rms:.1%} (RMS; at worst "
        f"{own.worst:+.1%}) from the full ones, over {own.designs} designs of which both were made"
    )


def misses(points: Sequence[DesignPoint], quantity: str) -> list[float]:
    """Relative errors of what was estimated of those that are mapped."""
    return [
        p.estimated[quantity] / max(p.mapped[quantity], 1) - 1
        for p in points
        if p.estimated and p.mapped
    ]
