"""Joints that are time-multiplexed in stages of an accelerator: what is right, and who goes
where."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from rbdgen.api.stimulus import Traffic, inputs_of, within_limits
from rbdgen.compile import front as front_room
from rbdgen.compile import joint_choice
from rbdgen.compile.accelerator_area import (
    accelerator_features,
    luts_of_sums,
    stage_luts,
)
from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.compile.stage_pieces import GUARD, by_columns, pieces_of_joints, sums_apart
from rbdgen.compile.ways import of_joints
from rbdgen.design.functions import ON_ACCELERATORS
from rbdgen.graph.text import to_text
from rbdgen.robot.model import RobotError
from rbdgen.schedule.area import estimated
from rbdgen.schedule.round_plan import RoundPlan
from rbdgen.tasks.routes import parse
from tests.support.coordinates import worst_in
from tests.support.limbs import WALKER
from tests.support.made import accelerate
from tests.support.marks import slow

# of each array's worst coordinate, relative RMS, against float64; 18 bits
LARGEST = {"tau": 5e-4, "M": 1e-5, "Minv": 4e-4, "dtau": 1e-3, "qdd": 2e-2, "dqdd": 3e-2}


@cache
def made_of(robot: str, **choices: Any) -> Product:
    own = {"functions": ON_ACCELERATORS, "ii": 32, "fold": "joints", "target": "xcup"}
    return accelerate(robot, **{**own, "fit": False, **choices})


def made(case: str) -> Product:
    return made_of("iiwa14") if case == "arm" else made_of(str(WALKER), base="floating")


@pytest.mark.parametrize("case", ["arm", slow("walker")])
def test_joints_take_turns_where_a_stage_is_theirs_alone(case: str) -> None:
    accelerator = made(case).accelerator
    plans = {name: stage.plan for name, stage in accelerator.stages.items()}
    turns = [name for name, plan in plans.items() if isinstance(plan, RoundPlan)]
    assert turns == ["rnea", "mass", "gradient"]
    assert "trig" not in plans  # they make their own sines
    for name in turns:
        assert not accelerator.stages[name].piece.reads
        assert plans[name].whole is accelerator.stages[name].fixed
    assert all(stage.interval <= 32 for stage in accelerator.stages.values())
    (note,) = (note for note in made(case).notes if note.startswith("joints are time-multiplexed"))
    assert all(name in note for name in turns)


def test_tasks_go_only_where_words_are_read() -> None:
    """RNEA once, for the bias; gradients neither wait for M nor for RNEA."""
    accelerator = made("arm").accelerator
    visits = {f: [str(v) for v in accelerator.ordered(f)] for f in accelerator.functions}
    assert visits["did"] == ["gradient"]
    assert visits["difd"] == ["gradient", "product"]
    assert sorted(visits["dfd"]) == sorted(
        ["rnea", "mass", "inverse", "forward", "gradient", "product"]
    )
    assert accelerator.entries("did") == (parse("gradient"),)
    assert "gradient" not in accelerator.waits
    assert accelerator.interval("dfd") == 32


@pytest.mark.parametrize("case", ["arm", "walker"])
def test_errors_against_the_golden_model(case: str) -> None:
    state = within_limits(made(case), 300, 2)
    traffic = Traffic(made(case), inputs_of(made(case), state))
    for function in made(case).accelerator.functions:
        assert not traffic.expected[function][1].any(), function
        for name, error in worst_in(traffic, function, state).items():
            limit = LARGEST.get(name.partition("_")[0], 5e-4)
            assert error < limit, (function, name)


def test_what_m_inverse_magnifies_has_longer_words() -> None:
    """Without M⁻¹ there is nothing that does."""
    stages = made("arm").accelerator.stages
    assert stages["mass"].outputs["M[0,0]"].width == 18 + GUARD
    assert stages["rnea"].outputs["tau[0]"].width == 18 + GUARD
    assert stages["gradient"].outputs["dtau_dq[1,1]"].width == 18
    alone = made_of("pendulum", functions=("id", "m")).accelerator
    assert max(w.width for stage in alone.stages.values() for w in stage.outputs.values()) == 18


def test_a_word_of_the_task_has_one_format() -> None:
    """The hardware reads it in one, whichever function brings it to whichever stage."""
    accelerator = made("arm").accelerator
    formats: dict[str, set[tuple[int, int]]] = {}
    for words in accelerator.formats.values():
        for name, word in words.items():
            formats.setdefault(name, set()).add((word.width, word.fraction))
    assert all(len(own) == 1 for own in formats.values())
    own = {
        n: s.fixed.inputs["qd[1]"].width
        for n, s in accelerator.stages.items()
        if n != "mass" and "qd[1]" in s.fixed.inputs
    }
    assert own == {"rnea": 18 + GUARD, "gradient": 18}
    assert accelerator.formats["did"]["qd[1]"].width == 18 + GUARD


def test_less_logic_where_many_joints_are_alike() -> None:
    luts = {}
    for fold in ("joints", "none"):
        own = made_of(str(WALKER), base="floating", functions=("did",), fold=fold)
        luts[fold] = estimated("xcup", accelerator_features(own.accelerator))["luts"]
    assert luts["joints"] < 0.85 * luts["none"]


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        (
            {"factorisation": "mminvgen"},
            "factorisation: mminvgen: where joints are time-multiplexed",
        ),
        ({"angles": "sincos"}, "angles: time-multiplexed joints compute the sines themselves"),
        (
            {"formulation": "logarithmic"},
            "formulation: time-multiplexed joints support composite, lathrop-",
        ),
        ({"ii": None}, "give the interval with ii"),
        ({"ii": 4}, "stage rnea: ii: 4: time-multiplexed joints take 5 cycles and more"),
    ],
)
def test_what_cannot_be_is_one_line(choices: dict[str, Any], says: str) -> None:
    with pytest.raises(RobotError, match=says) as raised:
        made_of("pendulum", **choices)
    assert "\n" not in str(raised.value)


def test_a_budget_of_multipliers_finds_its_interval() -> None:
    few = made_of("pendulum", ii=None, multipliers=40)
    assert few.accelerator.multipliers <= 40
    assert max(stage.interval for stage in few.accelerator.stages.values()) > 4


@pytest.mark.parametrize(
    ("luts", "joints"), [(9000, True), (100_000, False)], ids=["too large", "it fits"]
)
def test_joints_take_turns_where_nothing_else_fits(luts: int, joints: bool) -> None:
    """Of what does not fit its part the smaller is made, and a note says what the other takes."""
    front = front_end("iiwa14", accelerator=True, functions=("id", "m"), ii=32, target="xcup")
    found = compile_front(replace(front, target=replace(front.target, luts=luts)))
    plans = [stage.plan for stage in found.accelerator.stages.values()]
    assert any(isinstance(plan, RoundPlan) for plan in plans) == joints
    notes = [note for note in found.notes if note.startswith("made with time-multiplexed joints")]
    assert len(notes) == joints
    for note in notes:
        few, many = (int(n) for n in re.findall(r"about (\d+) of", note))
        features = accelerator_features(found.accelerator)
        assert estimated("xcup", features)["luts"] == few < many


def test_of_a_large_robot_stages_are_chosen_before_the_whole_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Joints are time-multiplexed where additions alone would take more; no words of the whole are
    found."""
    monkeypatch.setattr(front_room, "LARGE", 1)
    front = front_end("iiwa14", accelerator=True, functions=("id",), ii=32, target="xcup")
    said: list[str] = []
    monkeypatch.setattr(joint_choice, "sums_apart", lambda graph: {"rnea": 10_000})
    found = compile_front(front, said.append)
    assert isinstance(found.accelerator.stages["rnea"].plan, RoundPlan)
    (note,) = (note for note in found.notes if "sums alone" in note)
    luts = stage_luts(found.accelerator, front.target)["rnea"]
    assert f"rnea take about {luts} LUTs" in note
    assert f"take {luts_of_sums(10_000, front)}" in note
    assert "ranges and word lengths" not in said
    monkeypatch.setattr(joint_choice, "sums_apart", lambda graph: {"rnea": 1})
    assert not isinstance(compile_front(front).accelerator.stages["rnea"].plan, RoundPlan)


def test_sums_are_of_the_first_stage_that_has_them() -> None:
    front = front_end("pendulum", accelerator=True, functions=("id", "m", "did"))
    found, all_of = sums_apart(front.graph), front.graph.operations()
    assert sum(found.values()) == all_of["add"] + all_of["mul"] + all_of["mulc"]
    assert all(found.values())


@pytest.mark.parametrize("stages", [("mass",), ("rnea", "gradient")])
def test_some_stages_alone(stages: tuple[str, ...]) -> None:
    """The others are as without time-multiplexed joints, and all give what is right."""
    choices = {"functions": ON_ACCELERATORS, "ii": 24, "fold": "joints", "target": "xcup"}
    front = front_end("pendulum", accelerator=True, fit=False, **choices)
    made = of_joints(front, FixedFunctions(front), stages)
    plans = {name: stage.plan for name, stage in made.accelerator.stages.items()}
    assert {name for name, plan in plans.items() if isinstance(plan, RoundPlan)} == set(stages)
    assert "trig" in plans
    state = within_limits(made, 300, 2)
    traffic = Traffic(made, inputs_of(made, state))
    for function in made.accelerator.functions:
        assert not traffic.expected[function][1].any(), function
        for name, error in worst_in(traffic, function, state).items():
            limit = LARGEST.get(name.partition("_")[0], 5e-4)
            assert error < limit, (function, name)


def test_what_columns_replace_needs_no_words() -> None:
    """All other stages have the same bits as where the product got words first."""
    choices = {"functions": ("difd",), "ii": 24, "fold": "joints", "target": "xcup"}
    front = front_end("pendulum", accelerator=True, fit=False, **choices)
    words = FixedFunctions(front)
    assert by_columns(front, front.design) == ["product"]
    short, long = (
        pieces_of_joints(front, words.searched, words.progress, by_columns=names).pieces
        for names in (["product"], [])
    )
    assert not short["product"].fixed.formats and long["product"].fixed.formats
    assert short["product"].reads == long["product"].reads
    assert list(short) == list(long)
    assert to_text(short["gradient"].fixed) == to_text(long["gradient"].fixed)
