"""Scales put values where they belong, and axes name few of them."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from rbdgen.draw import svg
from rbdgen.draw.chart import Cells, Scale, step_of


def test_values_lie_in_proportion() -> None:
    linear, logarithmic = Scale(-1, 3, 100, 20), Scale(0.1, 1000, 0, 40, logarithmic=True)
    assert [linear.at(value) for value in (-1, 0, 3)] == pytest.approx([100, 80, 20])
    assert [logarithmic.at(value) for value in (0.1, 1, 100, 1000)] == pytest.approx(
        [0, 10, 30, 40]
    )
    around = Scale.around([3.0, 12.0], 2.0, 0, 40)
    assert (around.at(6), around.at(24)) == pytest.approx((20, 40))


@pytest.mark.parametrize(
    ("scale", "most", "ticks"),
    [
        (Scale(0, 250, 0, 1), 5, [0, 50, 100, 150, 200, 250]),
        (Scale(-3, 3, 0, 1), 4, [-2, 0, 2]),
        (Scale(0.9, 60, 0, 1, True), 9, [1, 2, 5, 10, 20, 50]),
        (Scale(0.9, 60000, 0, 1, True), 9, [1, 10, 100, 1000, 10000]),
        (Scale(90, 6000, 0, 1, True), 3, [100, 1000]),
    ],
)
def test_ticks(scale: Scale, most: int, ticks: list[float]) -> None:
    assert scale.ticks(most) == pytest.approx(ticks)


@pytest.mark.parametrize(("largest", "most", "step"), [(5, 5, 1), (5.1, 5, 2), (240, 5, 50)])
def test_steps(largest: float, most: float, step: float) -> None:
    assert step_of(largest, most) == step
    assert step_of(largest * 1e-5, most) == pytest.approx(step * 1e-5)


def test_cells_lie_in_rows_and_columns() -> None:
    page = ET.Element("svg")
    cells = Cells(["one", "two"], 3, 50.0, 20.0, 10.0, 8.0)
    assert (cells.right, cells.bottom) == (80, 36)
    assert cells.cell(page, 1, 2, "#123456", inset=(1.0, 0.5)) == (75, 32)
    (drawn,) = page
    place = {"x": "71", "y": "28.5", "width": "8", "height": "7", "fill": "#123456"}
    assert dict(drawn.items()) == place
    names = ET.Element("svg")
    cells.rows(names)
    assert [own.text for own in names] == ["one", "two"]
    assert Cells.room(["one", "longest"]) == 24 + svg.extent("longest", 11)
