"""The picture of a tree and its arrays: everything once, nothing over anything else."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from rbdgen.api import topology
from rbdgen.api.structure import facts_of
from rbdgen.draw import svg
from rbdgen.draw.organisation import organisation
from rbdgen.robot.model import ALIKE, Robot
from rbdgen.robot.topology import Organisation
from rbdgen.robot.topology import topology as organised
from tests.support.trees import any_tree, floating_tree, legs_and_tail

SVG = "{http://www.w3.org/2000/svg}"
FREE: dict[str, Any] = {"base": "floating", "tolerance": 0.01}
CASES = {
    "mobile arm": lambda: topology("tiago_like").facts,
    "quadruped": lambda: topology("spot_arm_like", **FREE).facts,
    "humanoid": lambda: topology("humanoid", **FREE).facts,
    "rerooted": lambda: topology("humanoid", reroot=True, **FREE).facts,
    "four in turn": lambda: topology("hyq").facts,
    "two arms": lambda: topology("baxter").facts,
    **{f"legs {k}": lambda k=k: random_facts(legs_and_tail(k)) for k in range(4)},
    **{f"tree {k}": lambda k=k: random_facts(any_tree(k)) for k in range(4)},
    **{f"floating {k}": lambda k=k: random_facts(floating_tree(k, 30)) for k in range(3)},
}
Box = tuple[float, float, float, float]


def random_facts(robot: Robot) -> Organisation:
    found = organised(robot)
    return facts_of(found, found.present, "", ALIKE, None)


def box(rectangle: ET.Element) -> Box:
    x, y, w, h = (float(rectangle.get(key, "nan")) for key in ("x", "y", "width", "height"))
    return x, y, x + w, y + h


def circle(dot: ET.Element) -> Box:
    x, y, r = (float(dot.get(key, "nan")) for key in ("cx", "cy", "r"))
    return x - r, y - r, x + r, y + r


def extent(text: ET.Element, size: float) -> Box:
    x, y = float(text.get("x", "nan")), float(text.get("y", "nan"))
    wide = svg.extent(text.text or "", size)
    left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[text.get("text-anchor", "start")]
    return left, y - 0.75 * size, left + wide, y + 0.2 * size


def apart(a: Box, b: Box) -> bool:
    return a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


@pytest.mark.parametrize("case", CASES)
def test_every_joint_and_every_module_once(case: str) -> None:
    facts = CASES[case]()
    page = ET.fromstring(organisation(facts))
    groups = [g for g in page.iter(f"{SVG}g") if g.get("class")]
    hints = {
        kind: Counter(g.findtext(f"{SVG}title") for g in groups if g.get("class") == kind)
        for kind in ("joint", "module")
    }
    assert hints["joint"] == Counter(facts.joints)
    joints = {branch.name: branch.joints for branch in facts.branches}
    rows = [[joints[name] for name in array.branches] for array in facts.arrays]
    served = Counter(", ".join(names) for row in rows for names in zip(*row, strict=True))
    assert hints["module"] == served
    words = [text.text for text in page.iter(f"{SVG}text")]
    for name in ("depth", "pace"):
        assert f"{name} {getattr(facts, name)}" in words[1]
    built, needed = facts.modules.built, facts.modules.needed
    assert f"{built} modules built of {needed} needed" in words[1]


@pytest.mark.parametrize("case", CASES)
def test_nothing_lies_over_anything_else_or_off_the_page(case: str) -> None:
    page = ET.fromstring(organisation(CASES[case]()))
    width, height = float(page.get("width", "nan")), float(page.get("height", "nan"))
    groups = [g for g in page.iter(f"{SVG}g") if g.get("class")]
    solid = [box(next(g.iter(f"{SVG}rect"))) for g in groups if g.get("class") == "module"]
    solid += [circle(next(g.iter(f"{SVG}circle"))) for g in groups if g.get("class") == "joint"]
    assert all(apart(a, b) for a, b in combinations(solid, 2))
    for text in page.iter(f"{SVG}text"):
        size = float(text.get("font-size", "nan"))
        left, top, right, bottom = extent(text, size)
        assert left >= 0, text.text
        assert top >= 0, text.text
        assert right <= width, text.text
        assert bottom <= height, text.text
    beside = [
        extent(text, float(text.get("font-size", "nan")))
        for group in page.iter(f"{SVG}g")
        if group.get("class") == "array" or group.get("id") == "tree"
        for text in group.findall(f"{SVG}text")
    ]
    assert all(apart(a, b) for a, b in combinations(beside, 2))
    assert all(apart(a, b) for a in beside for b in solid)


def test_the_same_bytes_every_time() -> None:
    facts, again = (topology("humanoid", **FREE).facts for _ in range(2))
    assert organisation(facts) == organisation(again)
