"""The picture holds every region and channel once, with its numbers."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from rbdgen.schedule.diagram import diagram
from rbdgen.schedule.pipelined import INPUT, OUTPUT, region_name
from tests.schedule.examples import compiled

SVG = "{http://www.w3.org/2000/svg}"
CASES = ["pendulum", "gantry", "iiwa14", "hyq", "random4", "iiwa14-sincos"]


def drawn(case: str, title: str = "a title") -> str:
    core = compiled(case)
    joints = core.front.canonical.joints
    return diagram(core.plan, [j.name for j in joints], [j.parent for j in joints], title)


def groups(root: ET.Element, kind: str) -> dict[str, ET.Element]:
    found = [g for g in root.iter(f"{SVG}g") if g.get("class") == kind]
    by_name = {g.get("id", ""): g for g in found}
    assert len(by_name) == len(found)
    return by_name


def texts(group: ET.Element) -> list[str]:
    return [element.text or "" for element in group.iter(f"{SVG}text")]


@pytest.mark.parametrize("case", CASES)
def test_every_region_once_with_its_cycles_and_units(case: str) -> None:
    core = compiled(case)
    plan, joints = core.plan, core.front.canonical.joints
    regions = groups(ET.fromstring(drawn(case)), "region")
    assert set(regions) == {region_name(region) for region in plan.fire}
    for region, fire in plan.fire.items():
        if region in (INPUT, OUTPUT):
            continue
        (label,) = texts(regions[region_name(region)])
        name, cycles, units = label.split(" · ")
        assert name == joints[region[1]].name
        first, last = map(int, cycles.split("–"))
        assert first == fire
        there = [n for n in plan.schedule.time if n.region == region]
        assert last >= max(fire + plan.offset(n) for n in there) - 1
        products = sum(n.op.value == "mul" for n in there)
        assert (f"{products}×" in units.split()) == (products > 0)


@pytest.mark.parametrize("case", CASES)
def test_every_channel_once_with_its_depth_and_width(case: str) -> None:
    plan = compiled(case).plan
    channels = groups(ET.fromstring(drawn(case)), "channel")
    assert len(channels) == len(plan.channels)
    for c in plan.channels:
        group = channels[f"fifo_{region_name(c.sender)}_to_{region_name(c.receiver)}"]
        assert texts(group) == [f"{c.depth}×{c.width}"]
        assert len(list(group.iter(f"{SVG}path"))) == 2  # a line and its tip


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_drawn_outside_the_page(case: str) -> None:
    root = ET.fromstring(drawn(case))
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(k, "nan")) for k in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
        assert w > 0
        assert h > 0
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x", "nan")) <= width
        assert 0 <= float(text.get("y", "nan")) <= height


def test_bars_and_labels_do_not_cover_each_other() -> None:
    root = ET.fromstring(drawn("iiwa14"))
    boxes = [
        [float(rect.get(k, "nan")) for k in ("x", "y", "width", "height")]
        for group in (*groups(root, "region").values(), *groups(root, "channel").values())
        for rect in group.iter(f"{SVG}rect")
    ]
    for k, (x, y, w, h) in enumerate(boxes):
        for u, v, s, t in boxes[:k]:
            across = min(x + w, u + s) - max(x, u)
            down = min(y + h, v + t) - max(y, v)
            assert across <= 0 or down <= 1.0, ((x, y, w, h), (u, v, s, t))


def test_time_runs_to_the_right_at_one_scale() -> None:
    plan = compiled("iiwa14").plan
    regions = groups(ET.fromstring(drawn("iiwa14")), "region")
    left = {
        region: float(regions[region_name(region)].find(f"{SVG}rect").get("x"))  # type: ignore
        for region in plan.fire
        if region not in (INPUT, OUTPUT)
    }
    (a, b, *_) = sorted(left, key=lambda r: plan.fire[r])[1:]
    scale = (left[b] - left[a]) / (plan.fire[b] - plan.fire[a])
    for region, x in left.items():
        assert x - left[a] == pytest.approx(scale * (plan.fire[region] - plan.fire[a]), abs=0.2)


def test_heading_says_what_it_is() -> None:
    plan = compiled("iiwa14").plan
    text = "\n".join(texts(ET.fromstring(drawn("iiwa14", title="iiwa & <friends>"))))
    assert "iiwa & <friends>" in text
    assert f"latency {plan.latency} cycles" in text
    assert "initiation interval 1" in text
    assert f"{plan.schedule.binding.multipliers} hardware multipliers" in text


def test_same_plan_same_picture() -> None:
    once = drawn("hyq")
    compiled.cache_clear()
    assert drawn("hyq") == once
