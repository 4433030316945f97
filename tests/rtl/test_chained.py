"""Designs of style latency in Verilator: every bit and flag of the integer model, on time."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.robot.model import RobotError
from rbdgen.schedule.fold import Fold
from tests.support import made
from tests.support.cores import (
    any_words,
    check_runs,
    shared_folder,
    states_within_limits,
    verilated,
)

pytestmark = pytest.mark.rtl

QUADRUPED = str(Path(__file__).parents[1] / "robots" / "quadruped.urdf")
CASES = {
    # with reciprocals, shifters and sine units, all of which have registers inside
    "chained_fd": ("gantry", {"functions": ("fd",), "clock": 18}),
    "chained_did_once": (QUADRUPED, {"functions": ("did",), "width": 18, "clock": 20, "ii": 12}),
    "chained_sines_given": ("pendulum", {"clock": 30, "ii": 2, "angles": "sincos"}),
    "pipelined_fd": ("pendulum", {"functions": ("fd",)}),
    "pipelined_few": ("gantry", {"multipliers": 12}),
}


def compiled(case: str) -> Product:
    robot, choices = CASES[case]
    return made.compiled(robot, style="latency", **choices)


LONG = {"chained_fd", "chained_did_once"}


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.slow] * (case in LONG)) for case in CASES]
)
def test_every_bit_on_time(case: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    core = compiled(case)
    plan = core.plan
    assert isinstance(plan, Fold)
    if case == "chained_did_once":  # one task in flight, at its latency
        assert plan.latency == plan.interval
    model = verilated(core, shared_folder(tmp_path_factory, "chained"), case)
    inside, anywhere = states_within_limits(core, 500, 1), any_words(core, 500, 2)
    assert not inside.flags.any()
    assert anywhere.flags.any()
    for expected in (inside, anywhere):
        check_runs(model, core, expected)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"clock": 18, "target": "ecp5-25f"}, r"clock: \d+ .* take \d+ .*; LFE5U-25F .* has 28"),
        ({"clock": 18, "multipliers": 6}, r"clock: .* or the budget has 6"),
        ({"clock": 5}, r"clock: one \w+ takes [\d.]+ ns, of 5 ns"),
        ({"multipliers": 6, "ii": 2}, r"ii: 2 takes more than the 6 .* from \d+ on it fits"),
        ({"multipliers": 1}, r"the budget has 1: it takes at least \d+ hardware multipliers"),
    ],
)
def test_what_does_not_fit(choices: dict[str, object], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        compile_front(front_end("gantry", style="latency", **choices))


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"clock": 18}, "clock: 18 is for style latency"),
        ({"clock": 0, "style": "latency"}, "clock: a period above 0"),
        ({"style": "fast"}, "style: .*fast.* is unknown"),
        ({"ii": 2, "multipliers": 20}, "give one of them"),
    ],
)
def test_what_makes_no_sense(choices: dict[str, object], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        front_end("pendulum", **choices)
