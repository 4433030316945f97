"""The picture of an accelerator: every stage and every way, in its colour, nothing on another."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from rbdgen.design.functions import WHOLE
from rbdgen.draw.accelerator import ENTRY, EXIT, links_of, picture
from rbdgen.draw.svg import of_function
from rbdgen.tasks.stages import Accelerator
from tests.support.made import accelerated

SVG = "{http://www.w3.org/2000/svg}"
CASES: dict[str, dict[str, Any]] = {
    "all": {"functions": WHOLE, "ii": 4},
    "two": {"functions": ("id", "m"), "ii": 4},
    "back": {"functions": ("fd", "dfd"), "ii": 4, "angles": "sincos"},
    "one": {"functions": ("id",), "ii": 2},
}


def made(case: str) -> Accelerator:
    return accelerated("pendulum", target="xcup", **CASES[case]).accelerator


def drawn(case: str) -> ET.Element:
    return ET.fromstring(picture(made(case), "a <title> & more"))


def groups(root: ET.Element, kind: str) -> list[ET.Element]:
    return [g for g in root.iter(f"{SVG}g") if g.get("class") == kind]


def hints(found: list[ET.Element]) -> list[str]:
    return [g.findtext(f"{SVG}title", "") for g in found]


def rectangle(group: ET.Element) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of the group's first rectangle."""
    own = next(group.iter(f"{SVG}rect"))
    x, y, w, h = (float(own.get(k, "nan")) for k in ("x", "y", "width", "height"))
    return x, y, x + w, y + h


@pytest.mark.parametrize("case", CASES)
def test_every_stage_says_what_it_is(case: str) -> None:
    accelerator = made(case)
    boxes = {g.get("id", "")[len("stage_") :]: g for g in groups(drawn(case), "stage")}
    assert set(boxes) == {ENTRY, EXIT, *accelerator.stages}
    widths = {}
    for name, stage in accelerator.stages.items():
        texts = [t.text or "" for t in boxes[name].iter(f"{SVG}text")]
        products = stage.fixed.graph.operations()["mul"]
        assert texts == [
            name,
            f"every {stage.interval}, after {stage.latency} cycles",
            f"{stage.multipliers} multipliers · {products} products",
        ]
        if stage.multipliers:
            bar = list(boxes[name].iter(f"{SVG}rect"))[-1]
            widths[name] = float(bar.get("width", "nan")) / stage.multipliers
    assert max(widths.values()) - min(widths.values()) < 0.2


@pytest.mark.parametrize("case", CASES)
def test_every_way_once_in_its_colour(case: str) -> None:
    accelerator, root = made(case), drawn(case)
    links = links_of(accelerator)
    order = [ENTRY, *accelerator.stages, EXIT]
    back = [k for k in links if order.index(k.receiver) <= order.index(k.sender)]
    assert [k.function for k in back] == ["dfd"] * ("dfd" in accelerator.functions)
    assert hints(groups(root, "back")) == [f"{k.function}: back to {k.receiver}" for k in back]
    said = {
        f"{k.function}: {k.receiver} waits for {k.sender}"
        if k.waits
        else f"{k.function}: {k.sender} to {k.receiver}"
        for k in links
        if k not in back
    }
    lines = groups(root, "link")
    assert set(hints(lines)) == said
    for group in (*lines, *groups(root, "back")):
        function = group.findtext(f"{SVG}title", "").partition(":")[0]
        assert {p.get("stroke", p.get("fill")) for p in group.iter(f"{SVG}path")} <= {
            of_function(function),
            "none",
        }
    assert len({of_function(f) for f in WHOLE}) == len(WHOLE)


@pytest.mark.parametrize("case", CASES)
def test_lines_end_at_boxes(case: str) -> None:
    """Each at a place of its own."""
    root = drawn(case)
    boxes = [rectangle(g) for g in groups(root, "stage")]
    tips = []
    for group in (*groups(root, "link"), *groups(root, "back")):
        for path in list(group.iter(f"{SVG}path"))[1:]:
            found = re.match(r"M([\d.]+) ([\d.]+) l", path.get("d", ""))
            assert found
            tips.append((float(found[1]), float(found[2])))
    assert len(tips) == len(set(tips)) == len(links_of(made(case)))
    for x, y in tips:
        assert any(x == left and top < y < bottom for left, top, _, bottom in boxes)


@pytest.mark.parametrize("case", CASES)
def test_nothing_covers_another_or_leaves_the_page(case: str) -> None:
    root = drawn(case)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    boxes = [rectangle(g) for g in groups(root, "stage")]
    for a, b in combinations(boxes, 2):
        assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
    for left, top, right, bottom in boxes:
        assert 0 < left < right < width
        assert 0 < top < bottom < height
    for text in root.iter(f"{SVG}text"):
        x, y, letters = float(text.get("x", "nan")), float(text.get("y", "nan")), text.text or ""
        half = text.get("text-anchor") == "middle"
        right = x + float(text.get("font-size", "12")) * 0.6 * len(letters) * (0.5 if half else 1)
        assert x > 0
        assert right < width
        assert 0 < y < height


def test_the_same_again() -> None:
    text = picture(made("back"), "a title")
    accelerated.cache_clear()
    assert picture(made("back"), "a title") == text
