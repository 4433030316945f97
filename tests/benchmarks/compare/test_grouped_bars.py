"""Groups of stacked bars: their heights are their sizes."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from rbdgen_benchmarks.compare.grouped_bars import HIGH, Bar, picture, short

SVG = "{http://www.w3.org/2000/svg}"
GROUPS = {
    "N = 16": [Bar("a", {"host": 30.0, "core": 10.0}), Bar("b", {"core": 5.0})],
    "N = 128": [Bar("a", {"host": 240.0}), Bar("b", {"core": 90.0})],
}


def heights(text: str) -> dict[str, float]:
    """Hint of each part → its height in pixels."""
    found = {}
    for group in ET.fromstring(text).iter(f"{SVG}g"):
        rectangle = group.find(f"{SVG}rect")
        title = group.find(f"{SVG}title")
        if rectangle is not None and title is not None:
            found[str(title.text)] = float(rectangle.attrib["height"])
    return found


def test_heights_are_sizes() -> None:
    text = picture("Times", "µs", GROUPS)
    found = heights(text)
    assert found["a, host: 240 µs"] == pytest.approx(HIGH * 240 / 250, rel=1e-3)
    assert found["a, host: 30 µs"] == pytest.approx(HIGH * 30 / 250, rel=1e-2)
    assert len(found) == 5
    assert text == picture("Times", "µs", GROUPS)
    assert all(name in text for name in ("N = 16", "N = 128", "Times", "host", "core"))


@pytest.mark.parametrize("size", [1e-6, 0.3, 1.0, 7.0, 99.0, 1e7])
def test_the_axis_holds_every_bar(size: float) -> None:
    (height,) = heights(picture("t", "s", {"": [Bar("x", {"p": size})]})).values()
    assert 0.5 * HIGH < height <= HIGH + 0.1


@pytest.mark.parametrize(
    ("size", "said"),
    [(53.34, "53.3"), (0.818, "0.818"), (0.0316, "0.032"), (8.67e-4, "9e-4"), (0, "0")],
)
def test_small_numbers_are_no_wider_than_their_bars(size: float, said: str) -> None:
    assert short(size) == said
