"""Names of stages and of visits to them: read and spelled in one place."""

from __future__ import annotations

import re

import pytest

from rbdgen.tasks.routes import (
    COLUMNS,
    LIMBS,
    PARTS,
    RESULT,
    ROUTES,
    TRUNK,
    StageVisit,
    levels,
    parse,
    part_of,
    route,
    waits,
)
from tests.test_imports import ROOT, modules

# An ending that is looked for, taken off or put on.
BY_HAND = re.compile(
    r"""["'}]_(?:limbs|columns|again)\b|[\w}]\{(?:LIMBS|COLUMNS|AGAIN)\}|"""
    r"""\+ (?:TRUNK|LIMBS|COLUMNS|AGAIN)\b"""
)
# Regions of a graph that come back are called so too, and are no stages.
OTHERS = ("dynamics/recursions.py", "draw/heading.py")


@pytest.mark.parametrize(
    ("name", "visit", "stage"),
    [
        ("rnea", StageVisit("rnea"), "rnea"),
        ("rnea_again", StageVisit("rnea", again=True), "rnea"),
        ("rnea_limbs", StageVisit("rnea", LIMBS[0]), "rnea_limbs"),
        ("rnea_limbs_again", StageVisit("rnea", LIMBS[0], True), "rnea_limbs"),
        ("mass_limbs2", StageVisit("mass", LIMBS[1]), "mass_limbs2"),
        ("trunk", StageVisit("rnea", TRUNK), "trunk"),
        ("trunk_again", StageVisit("rnea", TRUNK, True), "trunk"),
        ("product_columns", StageVisit("product", COLUMNS), "product_columns"),
        ("result", RESULT, "result"),
    ],
)
def test_there_and_back(name: str, visit: StageVisit, stage: str) -> None:
    assert parse(name) == visit
    assert str(visit) == name
    assert visit.stage == part_of(visit.step, visit.part) == stage


@pytest.mark.parametrize(
    "name",
    ["", "_again", "rnea_", "rnea_trunk", "rnea_again_limbs", "rnea_legs", "a__b"],
)
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match="no name of a stage"):
        parse(name)


def test_parts_of_a_visit() -> None:
    there = {"rnea", "gradient", "trunk", "rnea_limbs", "rnea_limbs2", "gradient_limbs"}
    assert [[*map(str, level)] for level in levels(parse("rnea_again"), there)] == [
        *(["trunk_again"], ["rnea_limbs_again", "rnea_limbs2_again"], ["rnea_again"]),
    ]
    assert [[*map(str, level)] for level in levels(parse("gradient"), there)] == [
        *(["gradient_limbs"], ["gradient"]),
    ]


def test_parts_beside_each_other() -> None:
    """One leads on, and the stage waits for the others."""
    there = ["trig", "trunk", "rnea_limbs", "rnea_limbs2", "rnea_limbs3", "rnea", "mass"]
    there += ["gradient_limbs", "gradient_limbs2", "gradient"]
    ways = {str(visit): [*map(str, to)] for visit, to in route("did", there).items()}
    assert ways == {
        "trig": ["trunk", "mass"],
        "trunk": ["rnea_limbs", "rnea_limbs2", "rnea_limbs3"],
        "rnea_limbs": ["rnea"],
        "rnea_limbs2": [],
        "rnea_limbs3": [],
        "rnea": ["gradient_limbs", "gradient_limbs2"],
        "mass": [],
        "gradient_limbs": ["gradient"],
        "gradient_limbs2": [],
        "gradient": ["result"],
    }
    assert waits(there) == {
        "rnea": ("rnea_limbs2", "rnea_limbs3"),
        "gradient": ("gradient_limbs2",),
        "gradient_limbs": ("mass",),
        "gradient_limbs2": ("mass",),
    }


def test_no_two_visits_share_a_name() -> None:
    steps = {visit.step for own in ROUTES.values() for visit in own}
    visits = [
        StageVisit(step, part, again) for step in steps for part in PARTS for again in (False, True)
    ]
    assert len(set(map(str, visits))) == len(visits)
    assert [parse(str(visit)) for visit in visits] == visits


def test_nobody_else_reads_or_spells_names() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in modules().values()
        if not path.as_posix().endswith(("tasks/routes.py", *OTHERS))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if BY_HAND.search(line)
    ]
    assert not found, "\n".join(found)
