"""A table of numbers as cells that are darker the larger they are, each with its number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from . import svg
from .colours import GREY

CELL, HIGH, TOP, FOOT, LEAST = 58.0, 19.0, 52.0, 22.0, 40.0
SHADE = "#2f6db3"
DARKEST = 0.75  # opacity; text stays readable


def picture(
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
    left = max([LEAST, *(svg.extent(row, 10) + 14 for row in rows)])
    under = left + svg.extent(below, 10) + 10
    width = max(left + CELL * len(columns) + 10, svg.extent(title, 12) + 24, under)
    page = svg.document(width, TOP + HIGH * len(rows) + FOOT, title)
    ET.SubElement(page, "desc").text = f"{len(rows)} rows; columns: {below}"
    svg.text(page, 10, 18, title, size=12, weight="bold")
    for k, column in enumerate(columns):
        x = left + CELL * (k + 0.5)
        svg.text(page, x, TOP - 6, column, "middle", 9, colour=GREY)
    positive = [value for row in values for value in row if value > 0]
    least, most = min(positive, default=1.0), max(positive, default=1.0)
    for j, (row, own) in enumerate(zip(rows, values, strict=True)):
        y = TOP + HIGH * j
        svg.text(page, left - 6, y + 13, row, "end", 10)
        for k, value in enumerate(own):
            shade = value / most
            if logarithmic:
                span = math.log(most / least) or 1.0
                shade = 0.0 if value <= 0 else 0.1 + 0.9 * math.log(value / least) / span
            svg.rectangle(page, left + CELL * k, y, CELL - 1, HIGH - 1, SHADE, DARKEST * shade)
            if value > 0:
                words = spoken.format(value)
                svg.text(page, left + CELL * (k + 0.5), y + 13, words, "middle", 9)
    svg.text(page, left, TOP + HIGH * len(rows) + 14, below, size=10, colour=GREY)
    return svg.to_text(page)
