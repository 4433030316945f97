"""The terms of plans' clocks, of designs whose structure is known."""

import pytest

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.target import find_target
from rbdgen.schedule.area import NoModel
from rbdgen.schedule.clock import NAMES, plan_clocks, terms
from rbdgen.schedule.features import features


def test_structures_of_plans() -> None:
    alone, shared = (
        terms("ecp5", features(compile_front(front_end("pendulum", width=18, ii=ii)).plan))
        for ii in (1, 4)
    )
    assert set(alone) == set(shared) == set(NAMES)
    assert shared["root of cells"] < alone["root of cells"]
    assert (alone["operands chosen"], shared["operands chosen"]) == (0, 1)
    assert alone["reciprocals"] == 0


def test_forward_dynamics_inverts_pivots() -> None:
    plan = compile_front(front_end("pendulum", functions="fd", width=18, ii=4)).plan
    assert terms("ecp5", features(plan))["reciprocals"] == 1
    slow, *_, fast = plan_clocks(find_target("ecp5-25f"), features(plan))
    assert slow.speed == 6 and slow.mhz.about < fast.mhz.about
    assert plan_clocks(find_target("gw2a-18"), features(plan)) == ()


def test_no_terms_without_an_area_model() -> None:
    with pytest.raises(NoModel):
        terms("xc7", {})
