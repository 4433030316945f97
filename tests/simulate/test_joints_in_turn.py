"""Gradients of forward dynamics and Lathrop's links in turn: every bit, on time."""

from __future__ import annotations

from typing import Any

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


@pytest.mark.parametrize(
    ("choices", "templates"),
    [
        # at an acceleration that is given, at none, and at the one that is found
        ({"functions": ("id", "dfd"), "ii": 24}, {"out", "out_unforced", "out_again", "slope_of2"}),
        ({"formulation": "lathrop-linear", "ii": 12}, {"out_base", "out", "back_last", "back"}),
    ],
    ids=["dfd", "lathrop"],
)
def test_every_bit(
    choices: dict[str, Any],
    templates: set[str],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    core = compile_core(front_end("pendulum", fold="joints", **choices))
    assert isinstance(core.plan, RoundPlan)
    assert templates <= {visit.template for visit in core.plan.program.real.reads}
    folder = shared_folder(tmp_path_factory, "in_turn")
    model = verilated(core, folder, f"pendulum_{request.node.callspec.id}")
    inside, anywhere = states_within_limits(core, 500, 1), any_words(core, 300, 2)
    assert anywhere.flags.any()
    assert not inside.flags.any()
    for expected in (inside, anywhere):
        check_runs(model, core, expected)
