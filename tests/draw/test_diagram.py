"""The picture holds every region and channel once, with its numbers."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from rbdgen.design.target import find_target
from rbdgen.draw.diagram import diagram
from rbdgen.graph.fixed import FixedGraph, Format
from rbdgen.graph.node import Region
from rbdgen.graph.text import from_text
from rbdgen.graph.verify import verify_fixed
from rbdgen.schedule.channels import Pipeline, plan
from rbdgen.schedule.pipelined import INPUT, OUTPUT, region_name, schedule
from rbdgen.schedule.units import bind
from tests.support.marks import slow
from tests.support.schedule_examples import compiled

SVG = "{http://www.w3.org/2000/svg}"
FUNCTIONS = ["iiwa14-difd", "hyq-floating", "gantry-ltdl", "gantry-mminvgen"]
LONG = {"iiwa14-difd", "hyq-floating", "gantry-ltdl"}
CASES = [
    pytest.param(own, marks=[pytest.mark.slow] * (own in LONG))
    for own in ("pendulum", "gantry", "hyq", "random4", "iiwa14-sincos", *FUNCTIONS)
]


def drawn(case: str, title: str = "a title") -> str:
    core = compiled(case)
    joints = core.front.canonical.joints
    return diagram(core.plan, [j.name for j in joints], [j.parent for j in joints], title)


def groups(root: ET.Element, kind: str) -> dict[str, ET.Element]:
    found = [g for g in root.iter(f"{SVG}g") if g.get("class") == kind]
    by_name = {g.get("id", ""): g for g in found}
    assert len(by_name) == len(found)
    return by_name


def box(group: ET.Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the group's first rectangle."""
    rectangle = next(group.iter(f"{SVG}rect"))
    x, y, w, h = (float(rectangle.get(k, "nan")) for k in ("x", "y", "width", "height"))
    return x, y, x + w, y + h


def way(group: ET.Element) -> list[tuple[float, float]]:
    """The points of the group's line."""
    path = next(group.iter(f"{SVG}path")).get("d", "")
    numbers = [float(n) for n in path.replace("M", " ").replace("L", " ").split()]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def in_a_row(kinds: list[str]) -> Pipeline:
    """One joint whose regions hand an input on from kind to kind, one addition each."""
    lines = ["input x", "%0 = input x"]
    lines += [f"%{k} = add %{k - 1} %0 @ {kind} 0" for k, kind in enumerate(kinds, 1)]
    graph = from_text("\n".join([*lines, f"output z = %{len(kinds)}", ""]))
    formats = {node: Format(18, 8) for node in graph.nodes}
    fixed = verify_fixed(FixedGraph(graph, {"x": Format(18, 8)}, formats, 18))
    target = find_target("ecp5-25f")
    return plan(schedule(fixed, bind(fixed, target), target))


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
        assert name == f"{region[0].replace('_', ' ')} {joints[region[1]].name}"
        first, last = map(int, cycles.split("–"))
        assert first == fire
        there = [n for n in plan.schedule.time if n.region == region]
        assert last >= max(fire + plan.offset(n) for n in there) - 1
        products = sum(n.op.value == "mul" for n in there)
        assert (f"{products}×" in units.split()) == (products > 0)


@pytest.mark.parametrize("case", CASES)
def test_every_channel_once_with_its_depth_and_width(case: str) -> None:
    plan, root = compiled(case).plan, ET.fromstring(drawn(case))
    channels, depths = groups(root, "channel"), groups(root, "depth")
    assert len(channels) == len(depths) == len(plan.channels)
    for c in plan.channels:
        name = f"fifo_{region_name(c.sender)}_to_{region_name(c.receiver)}"
        assert len(list(channels[name].iter(f"{SVG}path"))) == 2  # a line and its tip
        (label,) = texts(depths[f"{name}_depth"])
        *joint, numbers = label.split(": ")
        assert numbers == f"{c.depth}×{c.width}"
        assert joint in ([], [str(c.sender[1])])


@pytest.mark.parametrize("case", CASES)
def test_channels_run_from_bar_to_bar(case: str) -> None:
    plan, root = compiled(case).plan, ET.fromstring(drawn(case))
    bars, channels = groups(root, "region"), groups(root, "channel")
    verticals: list[tuple[Region, float, float, float]] = []
    for c in plan.channels:
        sender, receiver = (region_name(r) for r in (c.sender, c.receiver))
        points = way(channels[f"fifo_{sender}_to_{receiver}"])
        left, top, right, bottom = box(bars[sender])
        (x, y), (tip, end) = points[0], points[-1]
        if x == pytest.approx(right, abs=0.11):
            assert top <= y <= bottom
        else:
            assert left <= x <= right
            assert y == pytest.approx(top, abs=0.11) or y == pytest.approx(bottom, abs=0.11)
        left, top, right, bottom = box(bars[receiver])
        assert tip == pytest.approx(left, abs=0.11)
        assert top <= end <= bottom
        for (x, y), (u, v) in pairwise(points):
            assert u == x or (v == y and u > x)
            if u == x and v != y:
                verticals.append((c.sender, x, min(y, v), max(y, v)))
    # what two regions send is never drawn as one line
    for k, (sender, x, top, bottom) in enumerate(verticals):
        for other, u, above, below in verticals[:k]:
            apart = abs(u - x) > 1 or below < top or bottom < above
            assert sender == other or apart, (sender, other, x)


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


@pytest.mark.parametrize("case", CASES)
def test_bars_and_labels_do_not_cover_each_other(case: str) -> None:
    root = ET.fromstring(drawn(case))
    boxes = [
        [float(rect.get(k, "nan")) for k in ("x", "y", "width", "height")]
        for group in (*groups(root, "region").values(), *groups(root, "depth").values())
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


def test_kinds_have_colours_of_their_own_and_one_order() -> None:
    core, root = compiled("gantry-ltdl"), ET.fromstring(drawn("gantry-ltdl"))
    bars = groups(root, "region")
    colours: dict[str, set[str]] = {}
    order: dict[str, list[str]] = {}
    for region in core.plan.fire:
        if region not in (INPUT, OUTPUT):
            bar = next(bars[region_name(region)].iter(f"{SVG}rect"))
            colours.setdefault(region[0], set()).add(bar.get("fill", ""))
            order.setdefault(region[0], [])
    assert len(order) == 11
    assert all(len(of_kind) == 1 for of_kind in colours.values())
    assert len(set.union(*colours.values())) == len(order)
    (legend,) = (g for g in root.iter(f"{SVG}g") if g.get("id") == "legend")
    said = [text.split(",")[0] for text in texts(legend)][: len(order)]
    assert said == [kind.replace("_", " ") for kind in order]
    for joint in range(len(core.front.canonical.joints)):
        there = [kind for kind in order if (kind, joint) in core.plan.fire]
        tops = [box(bars[region_name((kind, joint))])[1] for kind in there]
        assert tops == sorted(tops)


@pytest.mark.parametrize("count", [1, 3, 9])
def test_kinds_that_nobody_knows(count: int) -> None:
    kinds = ["forward", *(f"kind{k}" for k in range(count))]
    root = ET.fromstring(diagram(in_a_row(kinds), ["wheel"], [-1], "a title"))
    bars = groups(root, "region")
    assert set(bars) == {"input", "output", *(f"{kind}_0" for kind in kinds)}
    fills = [next(bars[f"{kind}_0"].iter(f"{SVG}rect")).get("fill") for kind in kinds]
    assert None not in fills
    assert len(set(fills)) >= min(len(kinds), 4)
    (legend,) = (g for g in root.iter(f"{SVG}g") if g.get("id") == "legend")
    assert [f"{kind}, 1" for kind in kinds] == texts(legend)[: len(kinds)]


def test_heading_says_what_it_is() -> None:
    plan = compiled("iiwa14").plan
    text = "\n".join(texts(ET.fromstring(drawn("iiwa14", title="iiwa & <friends>"))))
    assert "iiwa & <friends>" in text
    assert f"latency {plan.latency} cycles" in text
    assert "initiation interval 1" in text
    assert f"{plan.schedule.binding.multipliers} hardware multipliers" in text


@pytest.mark.parametrize("case", ["gantry", slow("gantry-ltdl")])
def test_same_plan_same_picture(case: str) -> None:
    once = drawn(case)
    compiled.cache_clear()
    assert drawn(case) == once
