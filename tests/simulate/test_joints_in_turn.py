"""Gradients of forward dynamics, and Lathrop's links, in turn: every bit and flag, on time."""

from __future__ import annotations

import pytest

from rbdgen.compile.flow import compile_core, front_end
from rbdgen.schedule.round_plan import RoundPlan
from tests.rtl.cores import (
    any_words,
    check_runs,
    shared_folder,
    states_within_limits,
    verilated,
)

pytestmark = pytest.mark.rtl


def test_at_three_accelerations(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One that is given, none, and the one that is found."""
    core = compile_core(front_end("pendulum", functions=("id", "dfd"), fold="joints", ii=24))
    assert isinstance(core.plan, RoundPlan)
    templates = {visit.template for visit in core.plan.program.real.reads}
    assert {"out", "out_unforced", "out_again"} <= templates
    model = verilated(core, shared_folder(tmp_path_factory, "in_turn"), "pendulum_dfd")
    inside, anywhere = states_within_limits(core, 500, 1), any_words(core, 300, 2)
    assert anywhere.flags.any()
    assert not inside.flags.any()
    for expected in (inside, anywhere):
        check_runs(model, core, expected)


def test_lathrops_links_in_turn(tmp_path_factory: pytest.TempPathFactory) -> None:
    """In a formulation of a few templates of its own."""
    core = compile_core(front_end("pendulum", formulation="lathrop-linear", fold="joints", ii=12))
    assert isinstance(core.plan, RoundPlan)
    model = verilated(core, shared_folder(tmp_path_factory, "in_turn"), "pendulum_lathrop")
    inside, anywhere = states_within_limits(core, 500, 1), any_words(core, 300, 2)
    assert anywhere.flags.any()
    assert not inside.flags.any()
    for expected in (inside, anywhere):
        check_runs(model, core, expected)
