"""Charts of a design's report: numbers in shades, and words as bars over powers of two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from . import svg
from .chart import Cells, Scale, across, page

SHADE, DARKEST = "#2f6db3", 0.75  # of the largest number: its opacity, under which text is read
LEFT, TOP, WIDE, FOOT = 14.0, 34.0, 640.0, 24.0  # of words
TALL, SHORT, MANY = 5.0, 2.0, 150  # a word's height, where there are few and where many
USED, SPARE = "#2f6db3", "#f0c27b"


def heatmap(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    below: str,
    values: Sequence[Sequence[float]],
    spoken: str,
    logarithmic: bool = False,
) -> str:
    """An SVG document; ``values`` by row, not negative, ``spoken`` their format; ``below``: what
    the columns are. Shades are of the number or, of a quantity that spans decades, its logarithm.
    """
    cells = Cells(rows, len(columns), Cells.room(rows), 52.0, 58.0, 19.0)
    drawn = cells.page(title, columns, below)
    positive = [value for row in values for value in row if value > 0]
    least, most = min(positive, default=1.0), max(positive, default=1.0)
    for j, own in enumerate(values):
        for k, value in enumerate(own):
            shade = value / most
            if logarithmic:
                span = math.log(most / least) or 1.0
                shade = 0.0 if value <= 0 else 0.1 + 0.9 * math.log(value / least) / span
            x, y = cells.cell(drawn, j, k, SHADE, DARKEST * shade)
            if value > 0:
                svg.text(drawn, x, y + 3.5, spoken.format(value), "middle", 9)
    return svg.to_text(drawn)


class WordRow(NamedTuple):
    """A word: it ends below 2**top, its last bit is worth 2**-fraction; the largest value is
    2**needs, -inf where it is 0 or not known."""

    top: int
    fraction: int
    needs: float


def word_bars(title: str, rows: Sequence[WordRow]) -> str:
    """An SVG document: a bar a word, in their order, light where no value reaches."""
    high = TALL if len(rows) <= MANY else SHORT
    low, top = min(-row.fraction for row in rows), max(row.top for row in rows)
    scale = Scale(low, max(top, low + 1), LEFT, LEFT + WIDE)
    bottom = TOP + high * len(rows)
    about = "each bar from the last bit's worth to the largest that the word holds"
    drawn = page(title, LEFT * 2 + WIDE, bottom + FOOT, 13.0, f"{len(rows)} words; {about}")
    across(drawn, scale, range(low + -low % 4, top + 1, 4), (TOP - 4, bottom), _power)
    bars = {USED: "", SPARE: ""}
    for k, row in enumerate(rows):
        y = svg.number(TOP + high * (k + 0.5))
        needs = min(max(row.needs, -row.fraction), row.top)
        for colour, start, end in ((USED, -row.fraction, needs), (SPARE, needs, row.top)):
            if end > start:
                bars[colour] += f"M{svg.number(scale.at(start))} {y}H{svg.number(scale.at(end))}"
    for colour, d in bars.items():
        svg.path(drawn, d, colour, high * 0.8)
    return svg.to_text(drawn)


def _power(power: float) -> str:
    return "1" if not power else f"{2.0**power:g}" if abs(power) < 8 else f"2^{power:g}"


def spare(rows: Sequence[WordRow]) -> float:
    """The mean bits above the largest value, of words whose largest value is known."""
    known = [row.top - row.needs for row in rows if row.needs > -math.inf]
    return sum(known) / len(known) if known else 0.0
