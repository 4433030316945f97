"""Block diagrams have what the plan has: every unit, FIFO, memory and turn once, in its place."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.draw.block_diagram import UNIT, free_lane, multipliers_in
from rbdgen.draw.picture import ARCHITECTURES, PICTURES, architecture
from rbdgen.schedule.channels import Pipeline
from rbdgen.schedule.fold import Fold
from rbdgen.schedule.limbs import LimbPlan
from rbdgen.schedule.pipelined import INPUT, OUTPUT
from rbdgen.schedule.round_plan import RoundPlan
from tests.support.marks import slow

CASES: dict[str, dict[str, Any]] = {
    "pipeline": {"functions": ("id",)},
    "many kinds": {"functions": ("dfd",)},
    "fold": {"functions": ("did",), "ii": 4, "fold": "none"},
    "rounds": {"functions": ("id",), "ii": 8, "fold": "joints"},
}
PIPELINES = ["pipeline", slow("many kinds")]


@cache
def core(case: str) -> Product:
    return compile_front(front_end("pendulum", **CASES[case]))


def drawn(case: str) -> ET.Element:
    own = core(case)
    return ET.fromstring(architecture(own.plan, "a title", own.front.canonical))


def classes(page: ET.Element, name: str) -> list[ET.Element]:
    return [g for g in page.findall("{*}g") if g.get("class") == name]


def squares(group: ET.Element) -> int:
    return sum(r.get("width") == f"{UNIT:g}" for r in group.findall("{*}rect"))


def hint(group: ET.Element) -> str:
    return group.findtext("{*}title") or ""


@pytest.mark.parametrize("case", PIPELINES)
def test_regions_have_their_multipliers(case: str) -> None:
    plan = core(case).plan
    assert isinstance(plan, Pipeline)
    own = multipliers_in(plan)
    assert sum(own.values()) == plan.multipliers
    blocks = classes(drawn(case), "block")
    assert len(blocks) == len(plan.fire) - 2
    names = ["shoulder", "elbow"]
    regions = {f"{kind.replace('_', ' ')} {names[j]}": (kind, j) for kind, j in plan.fire}
    for block in blocks:
        region = regions[hint(block)]
        assert squares(block) == own[region]
        texts = [text.text or "" for text in block.findall("{*}text")]
        assert any(text.startswith(f"cycles {plan.fire[region]}–") for text in texts)


@pytest.mark.parametrize("case", PIPELINES)
def test_fifos_end_at_their_receivers(case: str) -> None:
    plan = core(case).plan
    page = drawn(case)
    left = {  # region → its block's left, top, bottom
        hint(b): [
            float(r.get(k, "")) for r in b.findall("{*}rect")[:1] for k in ("x", "y", "height")
        ]
        for b in classes(page, "block")
    }
    channels = classes(page, "channel")
    assert len(channels) == len(plan.channels)
    for group, channel in zip(channels, plan.channels, strict=True):
        assert f"{channel.depth}×{channel.width}" in hint(group)
        if channel.receiver == OUTPUT or channel.sender == INPUT:
            continue
        kind, joint = channel.receiver
        x, y, high = left[f"{kind.replace('_', ' ')} {('shoulder', 'elbow')[joint]}"]
        path = group.find("{*}path")
        assert path is not None
        *_, (end_x, end_y) = points(path.get("d", ""))
        assert end_x == pytest.approx(x, abs=0.2) and y < end_y < y + high


def points(d: str) -> list[tuple[float, float]]:
    numbers = [float(word.lstrip("ML")) for word in d.split()]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_a_fold_shows_each_operation_in_its_cycle() -> None:
    plan = core("fold").plan
    assert isinstance(plan, Fold)
    cells = [hint(g) for g in drawn("fold").findall("{*}g") if hint(g).startswith("cycle ")]
    assert len(cells) == len(plan.place)
    shown = Counter(cell.partition(":")[0] for cell in cells)
    for phase in range(plan.interval):
        assert shown[f"cycle {phase}"] <= sum(plan.units.values())


def test_rounds_show_each_visit_and_memory() -> None:
    plan = core("rounds").plan
    assert isinstance(plan, RoundPlan)
    page = drawn("rounds")
    blocks = classes(page, "block")
    assert len(blocks) == len(plan.datapaths.copies)
    assert sum(map(squares, blocks)) == plan.multipliers
    assert len(classes(page, "memory")) == len(plan.groups)
    keys = Counter(" ".join(map(str, visit.key)) for visit in plan.at)
    cells = [t.text or "" for t in page.findall("{*}text") if t.get("fill") == "#ffffff"]
    assert Counter(cell for cell in cells if cell in keys) == keys


def test_lanes_keep_lines_apart() -> None:
    taken: list[list[tuple[int, int]]] = []
    lanes = [free_lane(taken, span) for span in ((0, 3), (2, 5), (4, 6), (3, 3))]
    assert lanes == [0, 1, 0, 2]


@pytest.mark.slow
def test_one_limb_of_four_is_drawn() -> None:
    made = compile_front(front_end("hyq", ii=4))
    assert isinstance(made.plan, LimbPlan)
    page = ET.fromstring(architecture(made.plan, "legs", made.front.canonical))
    assert page.findtext("{*}title") == "legs, one of 4 limbs"
    assert sum(map(squares, classes(page, "block"))) == made.plan.multipliers


def test_every_kind_of_plan_has_both_pictures() -> None:
    assert ARCHITECTURES.keys() == PICTURES.keys()
