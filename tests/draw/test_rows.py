"""Bars in rows: on one scale, none on another, labels only where there is room."""

from itertools import combinations
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from rbdgen.draw import svg
from rbdgen.draw.rows import LEFT, LETTERS, RIGHT, WIDE, Row, Span, draw, height

SVG = "{http://www.w3.org/2000/svg}"


def bars(rows: list[Row], last: int) -> list[tuple[float, float, float, float, str]]:
    """Left, top, right, bottom and label of each."""
    page = svg.document(LEFT + WIDE + RIGHT, 50 + height(rows), "rows")
    draw(page, rows, 40.0, last)
    found = []
    for group in ET.fromstring(svg.to_text(page)).iter(f"{SVG}g"):
        own = group.find(f"{SVG}rect")
        assert own is not None
        x, y, w, h = (float(own.get(k, "nan")) for k in ("x", "y", "width", "height"))
        found.append((x, y, x + w, y + h, group.findtext(f"{SVG}text", "")))
    return found


def test_no_bar_covers_another() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for k in range(4):
        starts = sorted(int(c) for c in rng.integers(0, 900, 20))
        spans = [
            Span(c, c + int(rng.integers(1, 100)), "label", f"{k}", "#000", "#fff") for c in starts
        ]
        rows.append(Row(f"row {k}", spans))
    found = bars(rows, 1000)
    assert len(found) == 80
    for a, b in combinations(found, 2):
        assert a[2] < b[0] or b[2] < a[0] or a[3] <= b[1] or b[3] <= a[1]
    scale = WIDE / 1001
    for bar, span in zip(found, (s for row in rows for s in row.spans), strict=True):
        assert bar[0] == pytest.approx(LEFT + scale * span.first, abs=0.1)
        assert bar[2] == pytest.approx(LEFT + scale * span.last, abs=0.8)
        assert bool(bar[4]) == (scale * (span.last - span.first) > svg.extent("label", LETTERS) + 3)
        assert 40 <= bar[1] < bar[3] <= 40 + height(rows)
