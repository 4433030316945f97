"""A chart of a control loop over time: how far joints are from their references, and efforts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..robot.model import Array
from . import svg
from .chart import (
    KEY_GAP,
    KEY_ROW,
    MARGIN,
    SMALL,
    Scale,
    across,
    colours_of,
    corner,
    key_across,
    page,
    upwards,
)
from .svg import GREY

WIDTH, HEIGHT, LEFT, GAP = 720.0, 170.0, 70.0, 62.0
MOST = 360  # points of a line
SHADE = 0.25  # opacity of a band


BANDS = ("#c9a227", "#b23a6b")  # of what happens to the loop
Bands = Mapping[str, Sequence[tuple[float, ...]]]


def loop_chart(
    names: Sequence[str],
    period: float,
    q: Array,
    wanted: Array,
    tau: Array,
    bands: Bands | None = None,
) -> str:
    """An SVG file of q − q_ref and τ, (ticks, nv) each, of joints ``names``; ``period`` [s].

    ``bands``: times of what happens, from and to [s], behind the lines.
    """
    happened = {name: own for name, own in (bands or {}).items() if own}
    shades = dict(zip(bands or (), BANDS, strict=False))
    every = max(1, -(-len(q) // MOST))
    time = period * np.arange(0, len(q), every)
    panels = (("q − q_ref [rad, m]", (q - wanted)[::every]), ("τ [N·m, N]", tau[::every]))
    colours = colours_of(names)
    legend = list(_lines([*names, *happened]))
    colours |= {name: shades[name] for name in happened}
    top = 67.0 + KEY_ROW * len(legend)
    root = page("Control loop", WIDTH, top - 14.0 + len(panels) * (HEIGHT + GAP))
    for k, line in enumerate(legend):
        key_across(root, MARGIN, 50.0 + k * KEY_ROW, {name: colours[name] for name in line})
    x = Scale(0.0, max(float(time[-1]), period), LEFT, WIDTH - MARGIN)
    for title, values in panels:
        low, high = float(values.min()), float(values.max())
        spare = 0.05 * (high - low) or 1e-9
        y = Scale(low - spare, high + spare, top + HEIGHT, top)
        for name, spans in happened.items():
            for first, last in spans:
                left, right = x.at(first), x.at(min(last, x.high))
                svg.rectangle(root, left, top, max(right - left, 1), HEIGHT, shades[name], SHADE)
        across(root, x, x.ticks(), (top, top + HEIGHT))
        upwards(root, y, y.ticks(5), (x.start, x.end))
        corner(root, x, y)
        svg.text(root, LEFT, top - 8, title, size=SMALL)
        for column, name in enumerate(names):
            points = [(x.at(t), y.at(v)) for t, v in zip(time, values[:, column], strict=True)]
            svg.line(root, points, colours[name], 1.2)
        top += HEIGHT + GAP
    svg.text(root, x.end, top - GAP + 32, "time [s]", "end", SMALL, colour=GREY)
    return svg.to_text(root)


def _lines(names: Sequence[str]) -> Iterator[list[str]]:
    """The entries of a legend, a list for each line."""
    line: list[str] = []
    room = WIDTH - 2 * MARGIN
    for name in names:
        taken = sum(KEY_GAP + svg.extent(own, SMALL) for own in [*line, name])
        if line and taken > room:
            yield line
            line = []
        line.append(name)
    yield line
