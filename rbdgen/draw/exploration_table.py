"""A table of an exploration, for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..schedule.explored import DesignPoint, Explored, QuickError
from .tables import table

QUANTITIES = (("LUT", "luts"), ("FF", "flip_flops"))
WORST = ("worst, at the limits | at a tenth",)

MANY = 100  # designs: of more the front alone is shown


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
    head = [
        *shown,
        "II",
        "latency",
        "multipliers",
        *cells,
        "block RAM",
        "per clock",
        *(WORST if known else ()),
        "",
    ]
    rows = [
        [
            *(point.choices[key] for key in shown),
            point.interval,
            _or_dash(point.latency),
            point.multipliers,
            *(entry for _, quantity in QUANTITIES for entry in _cells(point, quantity)),
            _or_dash((point.cells or {}).get("block_rams")),
            f"{point.evaluations_per_clock:.3g}",
            *([_or_dash(point.worst)] if known else ()),
            _said(point, report.part),
        ]
        for point in points
    ]
    limits = report.limits
    promise = "error" if "error" in points[0].choices else "width"
    words = ", width and guard bits" if "guard" in points[0].choices else f" and {promise}"
    notes = [
        f"*: on the Pareto front of multipliers, LUTs, interval{words}, of what fits "
        f"{report.part} ({limits.multipliers} multipliers, {limits.luts} LUTs)",
        *(_errors(name, quantity, report) for name, quantity in QUANTITIES),
        *(_of_quick(name, own) for name, q in QUANTITIES if (own := (report.quick or {}).get(q))),
    ]
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
