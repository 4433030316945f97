"""The picture of an exploration: well formed, the same bytes, everything in its place."""

import copy
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from rbdgen.design.clock import ClockEstimate, Span
from rbdgen.design.energy import EnergyEstimate
from rbdgen.draw.exploration import PER_CLOCK, RATE, as_text, picture
from rbdgen.schedule.area import ModelError
from rbdgen.schedule.quick import DesignPoint, Explored, Sites

SVG = "{http://www.w3.org/2000/svg}"


def point(formulation: str, interval: int, multipliers: int, luts: int | None) -> DesignPoint:
    cells = {"luts": luts, "flip_flops": 2, "block_rams": 1} if luts else None
    return DesignPoint(
        choices={"formulation": formulation, "width": 18, "ii": interval},
        interval=interval,
        latency=10 if luts else None,
        evaluations_per_clock=1 / interval,
        multipliers=multipliers,
        estimated=cells,
        mapped=None,
        generate=None,
        fits=bool(luts) and multipliers <= 156,
        pareto=bool(luts),
    )


@pytest.fixture
def report() -> Explored:
    model = ModelError(rms=0.05, worst=0.1, left_out=0.07)
    points = [
        point("composite", 1, 300, 9000),
        point("composite", 2, 150, 5000),
        point("composite", 8, 40, 2000),
        point("recursive", 2, 400, None),
    ]
    points[2] = replace(points[2], mapped={"luts": 2500, "flip_flops": 2, "block_rams": 1})
    points[3] = replace(points[3], why_not="400 multipliers; LFE5U-85F has 156")
    return Explored(
        robot='a <robot> & "more"',
        functions=("did",),
        target="ecp5-85f",
        part="LFE5U-85F",
        limits=Sites(multipliers=156, luts=83640),
        model={"luts": model, "flip_flops": model},
        points=tuple(points),
    )


def test_energies_have_a_column(report: Explored) -> None:
    assert "nJ" not in as_text(report)
    first, *others = report.points
    energy = EnergyEstimate(Span(2.0, 1.0, 4.0), Span(0.2, 0.1, 0.4), 1)
    text = as_text(replace(report, points=(replace(first, energy=energy), *others)))
    assert "nJ a result, estimated" in text and "~2 (1 to 4)" in text
    assert "no board was measured" in text


def test_well_formed_and_the_same_again(report: Explored) -> None:
    text = picture(report)
    assert text == picture(copy.deepcopy(report))
    page = ET.fromstring(text)
    assert page.tag == f"{SVG}svg"
    words = [element.text or "" for element in page.iter(f"{SVG}text")]
    assert any(report.robot in line for line in words)
    assert {"composite", "recursive", "LFE5U-85F: 156", "LFE5U-85F: 83640"} <= set(words)
    # both panels; what has no cells stands in one of them
    hints = [t.text or "" for t in page.iter(f"{SVG}title")]
    assert sum(hint.startswith("composite, II 8") for hint in hints) == 2
    assert sum("400 multipliers; LFE5U-85F" in hint for hint in hints) == 1
    assert any("2500 LUTs" in hint and "mapped" in hint for hint in hints)


def test_everything_lies_within_the_page(report: Explored) -> None:
    page = ET.fromstring(picture(report))
    _, _, width, height = map(float, page.attrib["viewBox"].split())
    for element in page.iter():
        for name, most in (("cx", width), ("x", width), ("cy", height), ("y", height)):
            if name in element.attrib:
                assert 0 <= float(element.attrib[name]) <= most


def test_faster_is_higher_and_larger_further_right(report: Explored) -> None:
    page = ET.fromstring(picture(replace(report, points=report.points[:3])))
    spots = []
    for group in page.iter(f"{SVG}g"):
        shape = group.find(f"{SVG}circle")
        if shape is not None and group.find(f"{SVG}title") is not None:
            spots.append((float(shape.attrib["cx"]), float(shape.attrib["cy"])))
    left = spots[: len(spots) // 2]  # 150 and 40 multipliers; 300 is a cross
    assert left[0][0] > left[1][0] and left[0][1] < left[1][1]


def test_rates_where_a_clock_is_expected(report: Explored) -> None:
    """A design is as high as its tasks a second: with II 2 at 100 MHz as with 8 at 400."""
    clocks = [ClockEstimate(6, Span(mhz, mhz, mhz)) for mhz in (100.0, 100.0, 400.0)]
    points = [replace(own, clock=c) for own, c in zip(report.points, [*clocks, None], strict=True)]
    page = ET.fromstring(picture(replace(report, points=tuple(points))))
    words = [element.text or "" for element in page.iter(f"{SVG}text")]
    assert words.count(RATE) == 2 and PER_CLOCK not in words
    assert any(line.endswith("without an estimate: 1") for line in words)
    named = [g for g in page.iter(f"{SVG}g") if g.find(f"{SVG}title") is not None]
    spots = [own for g in named if (own := g.find(f"{SVG}circle")) is not None]
    heights = {own.attrib["cy"] for own in spots}  # what is too large is a cross
    assert len(spots) >= 4 and len(heights) == 1


def test_table(report: Explored) -> None:
    lines = as_text(report).splitlines()
    (eight,) = [line for line in lines if line.startswith("composite") and " 40 " in line]
    assert "2000" in eight and "2500" in eight and "-20.0%" in eight
    assert any("400 multipliers; LFE5U-85F has 156" in line for line in lines)
    assert any("over the 1 mapped here by 20.0% (at worst -20.0%)" in line for line in lines)
    assert not any("width" in line.split()[:2] for line in lines[:4])  # all designs have the same
