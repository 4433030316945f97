"""Every kind of plan has its hardware, its features and its picture; nobody asks which it is."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

import rbdgen
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.draw.picture import PICTURES
from rbdgen.rtl.cores import CORES
from rbdgen.schedule.channels import Pipeline
from rbdgen.schedule.features import FEATURES
from rbdgen.schedule.fold import Fold
from rbdgen.schedule.limbs import LimbPlan
from rbdgen.schedule.plan import Plan
from rbdgen.schedule.round_plan import RoundPlan
from tests.test_imports import modules

KINDS = {
    Pipeline: {"robot": "pendulum"},
    Fold: {"robot": "pendulum", "ii": 3},
    LimbPlan: {"robot": "hyq", "functions": ("m",), "fold": "limbs"},
    RoundPlan: {"robot": "pendulum", "functions": ("did",), "fold": "joints", "ii": 6},
}


@pytest.mark.parametrize("table", [CORES, FEATURES, PICTURES], ids=["core", "features", "picture"])
def test_tables_have_no_holes(table: Mapping[str, object]) -> None:
    files = (Path(rbdgen.__file__).parent / "schedule").glob("*.py")
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    plans = {
        node.name
        for node in nodes
        if isinstance(node, ast.ClassDef)
        and any(getattr(member, "name", "") == "flagged" for member in node.body)
    }
    assert plans == {"Plan", *table} == {"Plan", *(kind.__name__ for kind in KINDS)}
    members = {name for name in vars(Plan) if name[0] != "_"}
    for kind in KINDS:
        assert members <= set(dir(kind)) | set(kind.__annotations__)


def test_nobody_asks_of_what_kind_a_plan_is() -> None:
    kinds = {kind.__name__ for kind in KINDS}
    asked = []
    for file in modules().values():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                names = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
                asked += [f"{file.name}:{node.lineno}"] if names & kinds else []
    assert asked == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_a_plan_says_of_itself(kind: type) -> None:
    choices = {"fit": False} | KINDS[kind]
    plan: Plan = compile_front(front_end(choices.pop("robot"), **choices)).plan
    assert type(plan) is kind
    assert plan.latency > 0 and plan.multipliers == plan.binding.multipliers > 0
    assert plan.interval % plan.takes_every == 0
    assert (plan.whole is plan.fixed) == (plan.turns is None)
    if plan.turns is None:
        assert plan.interval == plan.takes_every
    elif plan.turns.what == "limbs":
        assert plan.interval == plan.turns.count * plan.takes_every
        assert plan.turns.graph.outputs
    else:
        assert plan.interval == plan.takes_every == plan.turns.count * plan.turns.latency
