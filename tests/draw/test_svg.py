"""What all pictures have: colours for dark pages, labels that do not lie on each other."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from rbdgen.draw import svg
from rbdgen.draw.bars import heatmap
from rbdgen.draw.diagram import COLOURS, SPARE
from rbdgen_benchmarks.compare.grouped_bars import Bar, picture
from tests.support.contrast import LEAST, faint


def lightness(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return (max(parts) + min(parts)) / 510


def test_dark_pages_turn_light_and_dark_round() -> None:
    assert lightness(svg.night(svg.PAPER)) < 0.1 < 0.8 < lightness(svg.night(svg.INK))
    assert svg.night("#fff") == svg.night("#ffffff") == svg.NIGHT
    middle = svg.night("#2f6db3")
    assert abs(lightness(middle) - lightness("#2f6db3")) < 0.15 and middle[5:] > middle[1:3]


def test_every_colour_has_a_rule() -> None:
    page = ET.fromstring(picture("two bars", "µs", {"one": [Bar("a", {"x": 1.0, "y": 2.0})]}))
    (style,) = page.findall("{*}style")
    rules = set(re.findall(r'\[(\w+)="(#\w+)"\]', style.text or ""))
    used = {
        (kind, element.get(kind))
        for element in page.iter()
        for kind in ("fill", "stroke")
        if element.get(kind, "").startswith("#")
    }
    assert rules == used


def test_labels_leave_each_other_room() -> None:
    page = svg.document(200, 100, "labels")
    labels = svg.Labels(10, 9)
    spots = [(100.0, 50.0), (104.0, 52.0), (108.0, 54.0)]
    for spot in spots:
        labels.keep_clear(spot)
    for spot in spots:
        labels.put(page, spot, "II 16", svg.INK)
    found = page.findall("text")
    boxes = [
        (float(t.get("x", "")), float(t.get("y", "")), svg.extent(t.text or "", 10)) for t in found
    ]
    assert len(boxes) >= 2
    for k, (x, y, wide) in enumerate(boxes):
        for u, v, other in boxes[:k]:
            assert x + wide <= u or u + other <= x or abs(y - v) >= 10


def test_names_of_bars_have_room() -> None:
    page = ET.fromstring(
        picture("t", "µs", {"g": [Bar("completely fused", {"x": 1.0}), Bar("split", {"x": 2.0})]})
    )
    texts = {t.text: t for t in page.iter() if t.tag.endswith("text")}
    first, second = (float(texts[name].get("x", "")) for name in ("completely fused", "split"))
    assert second - first >= svg.extent("completely fused", 10) / 2 + svg.extent("split", 10) / 2


def test_the_largest_number_is_the_darkest() -> None:
    values = [[1e-2, 0.0], [1e-4, 1e-3]]
    drawn = heatmap("h", ["bad", "good"], ["a", "b"], "size", values, "{:.0e}", True)
    cells = [r for r in ET.fromstring(drawn).iter() if r.tag.endswith("rect")][1:]
    shades = [float(r.get("fill-opacity", "1")) for r in cells]
    assert sorted(shades) == [shades[1], shades[2], shades[3], shades[0]] and shades[1] == 0


SHIPPED = sorted((Path(__file__).parents[2] / "docs" / "pictures").glob("*.svg"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_texts_are_read_on_white_pages_and_on_dark_ones(path: Path) -> None:
    assert not faint(ET.parse(path).getroot())


def test_a_text_that_is_hard_to_read_is_seen() -> None:
    page = svg.document(200, 100, "texts")
    svg.text(page, 10, 30, "grey", colour=svg.GREY)
    svg.rectangle(page, 0, 40, 100, 60, svg.GREY, 0.16)
    svg.text(page, 10, 60, "grey on grey", colour=svg.GREY)
    svg.text(page, 10, 80, "black on grey")
    svg.text(page, 150, 80, "white", "middle", colour=svg.PAPER)
    assert [own.split(": ")[1] for own in faint(svg_of(page))] == ["grey on grey", "white"]


def test_ink_is_read_on_the_darkest_shade() -> None:
    for colour in {*svg.SERIES, *svg.REGIONS}:
        page = svg.document(40, 40, "shade")
        svg.rectangle(page, 0, 0, 40, 40, colour, svg.SHADE)
        svg.text(page, 20, 20, "1", "middle")
        assert not faint(svg_of(page)), colour


def test_colours_keep_their_contrast_on_dark_pages() -> None:
    for colour in (*svg.SERIES, *svg.REGIONS, svg.INK, svg.GREY, svg.GRID, svg.IDLE):
        by_day, by_night = (
            svg.contrast(colour, svg.PAPER),
            svg.contrast(svg.night(colour), svg.NIGHT),
        )
        assert by_night == pytest.approx(by_day, rel=0.02), colour
    for colour in (*svg.SERIES, *svg.REGIONS, *COLOURS.values(), *SPARE):
        assert svg.contrast(colour, svg.PAPER) >= LEAST, colour


def svg_of(page: ET.Element) -> ET.Element:
    """The page as a reader of the file has it."""
    return ET.fromstring(svg.to_text(page))
