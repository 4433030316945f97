"""What was explored as a table for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..estimate.explored import Explored, Point
from .tables import table

QUANTITIES = (("LUT", "luts"), ("FF", "flip_flops"))


def as_text(report: Explored) -> str:
    """Every design: choices, interval, latency, multipliers, cells estimated and mapped."""
    points = report.points
    shown = varied(points)
    cells = [f"{name}{of}" for name, _ in QUANTITIES for of in (" model", "", " off")]
    head = [*shown, "II", "latency", "multipliers", *cells, "block RAM", "per clock", ""]
    rows = [
        [
            *(point.choices[key] for key in shown),
            point.interval,
            _or_dash(point.latency),
            point.multipliers,
            *(entry for _, quantity in QUANTITIES for entry in _cells(point, quantity)),
            _or_dash((point.cells or {}).get("block_rams")),
            f"{point.evaluations_per_clock:.3g}",
            _said(point, report.part),
        ]
        for point in points
    ]
    limits = report.limits
    notes = [
        f"*: on the Pareto front of multipliers, LUTs, interval and width, of what fits "
        f"{report.part} ({limits.multipliers} multipliers, {limits.luts} LUTs)",
        *(_errors(name, quantity, report) for name, quantity in QUANTITIES),
    ]
    title = f"{report.robot}: {', '.join(report.functions)} on {report.part}"
    return "\n".join([title, "", table(head, rows), "", *notes])


def varied(points: Sequence[Point]) -> list[str]:
    """The choices, beside the interval, in which the designs differ."""
    keys = [key for key in points[0].choices if key != "ii"]
    return [key for key in keys if len({p.choices[key] for p in points}) > 1]


def _cells(point: Point, quantity: str) -> list[Any]:
    """Estimated, mapped, and the error of the estimate."""
    guess, there = point.estimated, point.mapped
    off = f"{misses([point], quantity)[0]:+.1%}" if there else "-"
    return [_or_dash((cells or {}).get(quantity)) for cells in (guess, there)] + [off]


def _or_dash(value: Any) -> Any:
    return "-" if value is None else value


def _said(point: Point, part: str) -> str:
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


def misses(points: Sequence[Point], quantity: str) -> list[float]:
    """Relative errors of what was estimated of those that are mapped."""
    return [
        p.estimated[quantity] / max(p.mapped[quantity], 1) - 1
        for p in points
        if p.estimated and p.mapped
    ]
