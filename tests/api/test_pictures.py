"""Pictures of every kind of design: the numbers of its manifest, and what all else in them is."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.draw.picture import picture
from rbdgen.draw.svg import extent
from rbdgen.schedule.fold import Fold
from rbdgen.schedule.limbs import LimbPlan

SVG = "{http://www.w3.org/2000/svg}"
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "pipelined": ("pendulum", {}),
    "limbs_in_turn": ("hyq", {"ii": 4}),  # one limb a cycle
    "limbs_that_share": ("hyq", {"ii": 8}),
    "multipliers_shared": ("iiwa14", {"ii": 4}),
    "latency": ("iiwa14", {"style": "latency", "clock": 20.0}),
    "joints_in_turn": ("iiwa14", {"ii": 16, "fold": "joints"}),
    "columns_in_turn": ("iiwa14", {"functions": ("m",), "ii": 12, "fold": "joints"}),
}


@cache
def compiled(case: str) -> Product:
    robot, choices = CASES[case]
    return compile_front(front_end(robot, **choices))


def drawn(case: str) -> ET.Element:
    core = compiled(case)
    return ET.fromstring(picture(core.plan, case, core.front.canonical))


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("case", CASES)
def test_the_numbers_are_the_design_s(case: str) -> None:
    plan, said = compiled(case).plan, "  ·  ".join(texts(drawn(case)))
    facts = said.split("  ·  ")
    assert f"latency {plan.latency} cycles" in facts
    assert f"initiation interval {plan.interval}" in facts
    assert f"{plan.multipliers} hardware multipliers" in facts
    if isinstance(plan, LimbPlan):  # the picture's own, which is shorter, is explained
        assert plan.latency > plan.template.latency
        assert f"4 time-multiplexed limbs, {plan.template.latency} of these cycles each" in facts
        assert isinstance(plan.template, Fold) == (case == "limbs_that_share")


@pytest.mark.parametrize("case", CASES)
def test_axis_and_colours_are_explained(case: str) -> None:
    root, core = drawn(case), compiled(case)
    assert "clock cycle" in texts(root)
    (legend,) = (g for g in root.iter(f"{SVG}g") if g.get("id") == "legend")
    patches = {rect.get("fill") for rect in legend.iter(f"{SVG}rect")}
    hinted = [g for g in root.iter(f"{SVG}g") if g.find(f"{SVG}title") is not None]
    bars = [bar.get("fill") for g in hinted if (bar := g.find(f"{SVG}rect")) is not None]
    drawn_in = {*bars} - {"#6b7280"}  # input and output, which say what they are
    assert drawn_in
    assert drawn_in <= patches
    if case in ("latency", "joints_in_turn", "columns_in_turn"):
        for joint in core.front.canonical.joints:
            assert any(joint.name in said for said in texts(root))


@pytest.mark.parametrize("case", CASES)
def test_text_can_be_read(case: str) -> None:
    """Nothing is very small, leaves the page, or lies over what stands beside it."""
    root = drawn(case)
    page, lines = float(root.get("width", "nan")), dict[str, list[tuple[float, float]]]()
    for group in (root, *root.iter(f"{SVG}g")):
        inherited = group.get("font-size", "12")
        for element in group.findall(f"{SVG}text"):
            if element.get("transform"):
                continue
            size = float(element.get("font-size", inherited))
            assert size >= 9
            wide, x = extent(element.text or "", size), float(element.get("x", "nan"))
            x -= wide * {"start": 0, "middle": 0.5, "end": 1}[element.get("text-anchor", "start")]
            assert x >= 0
            assert x + wide <= page
            lines.setdefault(element.get("y", ""), []).append((x, x + wide))
    for line in lines.values():
        for (_, right), (left, _) in pairwise(sorted(line)):
            assert right <= left + 1
