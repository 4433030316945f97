"""Gradients of forward dynamics and Lathrop's links in turn: every bit, on time."""

from __future__ import annotations

from typing import Any

import pytest

from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import as_core
from rbdgen.schedule.candidates import Candidates
from rbdgen.schedule.round_plan import RoundPlan
from rbdgen.schedule.rounds import in_rounds
from tests.support.cores import (
    any_words,
    check_runs,
    shared_folder,
    states_within_limits,
    verilated,
)
from tests.support.marks import slow

pytestmark = pytest.mark.rtl


@pytest.mark.parametrize(
    ("choices", "templates"),
    [
        # at an acceleration that is given, at none, and at the one that is found
        ({"functions": ("id", "dfd"), "ii": 24}, {"out", "out_unforced", "out_again", "slope_of2"}),
        slow(
            ({"formulation": "lathrop-linear", "ii": 12}, {"out_base", "out", "back_last", "back"})
        ),
    ],
    ids=["dfd", "lathrop"],
)
def test_every_bit(
    choices: dict[str, Any],
    templates: set[str],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    core = compile_front(front_end("pendulum", fold="joints", **choices))
    assert isinstance(core.plan, RoundPlan)
    assert templates <= {visit.template for visit in core.plan.program.real.reads}
    folder = shared_folder(tmp_path_factory, "in_turn")
    model = verilated(core, folder, f"pendulum_{request.node.callspec.id}")
    inside, anywhere = states_within_limits(core, 500, 1), any_words(core, 300, 2)
    assert anywhere.flags.any()
    assert not inside.flags.any()
    for expected in (inside, anywhere):
        check_runs(model, core, expected)


@pytest.mark.parametrize(
    ("robot", "function", "rounds", "budget"),
    [("pendulum", "did", 3, 3), ("iiwa14", "id", 7, 60)],
)
def test_rounds_of_one_cycle(
    robot: str,
    function: str,
    rounds: int,
    budget: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Results leave one after the other without a pause, and products in logic are the same."""
    core = compile_front(front_end(robot, functions=(function,), fold="joints", ii=4 * rounds))
    program, _ = FixedFunctions(core.front).program
    target = core.front.target
    plan = in_rounds(Candidates(program, target).program(rounds), target, rounds, 1, budget)
    assert plan.interval == rounds
    assert plan.multipliers == budget
    assert "logic" in plan.template.binding.style.values()
    core = as_core(core.front, core.ranges, plan)
    model = verilated(core, shared_folder(tmp_path_factory, "in_turn"), f"{robot}_one_cycle")
    for expected in (states_within_limits(core, 300, 1), any_words(core, 300, 2)):
        check_runs(model, core, expected)
