"""Accelerators whose joints are time-multiplexed, and when a board has one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.joint_choice import small
from rbdgen.design.design import with_choice
from rbdgen.graph.fixed import evaluate_fixed
from rbdgen.graph.node import Op
from rbdgen.robot.model import RobotError
from rbdgen.schedule.area import estimated
from rbdgen.schedule.features import features
from rbdgen.schedule.round_plan import RoundPlan
from rbdgen.tasks.model import evaluate_task
from rbdgen.tasks.routes import place
from tests.support.made import accelerate

ARM: dict[str, Any] = {"functions": ("id",), "target": "ecp5-25f"}


def test_its_words_are_the_cores() -> None:
    """What the accelerator's model gives is what a core of the same joints gives."""
    made = accelerate("gantry", functions=("id",), fold="joints", ii=16)
    choices = {"width": 18, "fold": "joints", "ii": 16}
    core = compile_front(front_end("gantry", functions=("id",), **choices))
    (stage,) = made.accelerator.stages.values()
    assert isinstance(stage.plan, RoundPlan) and stage.name == "rnea"
    assert made.accelerator.multipliers == core.plan.multipliers
    rng = np.random.default_rng(2)
    words = {
        name: rng.integers(word.lowest, word.highest, 40, endpoint=True)
        for name, word in core.fixed.inputs.items()
    }
    found, flags = evaluate_task(
        made.accelerator, "id", {place(name): values for name, values in words.items()}
    )
    alone = evaluate_fixed(core.fixed, words)
    assert set(found) == set(alone.outputs)
    for name, values in alone.outputs.items():
        np.testing.assert_array_equal(found[name], values)
    np.testing.assert_array_equal(flags, np.any(list(alone.overflowed.values()), axis=0))


def test_a_result_that_is_constant_in_other_units() -> None:
    """Visits have M in units of joints, powers of two; an entry of the gantry's is a constant."""
    front = front_end("gantry", functions=("minv", "m"), fold="joints", ii=48)
    fixed, entries = compile_front(front).fixed, front.graph.outputs
    same = {name: node.value for name, node in entries.items() if node.op is Op.CONST}
    zeros = {name: np.zeros(1, np.int64) for name in fixed.inputs}
    made = evaluate_fixed(fixed, zeros).outputs
    assert same
    for name, value in same.items():
        assert fixed.formats[fixed.graph.outputs[name]].real(made[name]) == pytest.approx(
            value, rel=3e-3
        )


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"functions": ("id",)}, "give the interval with ii"),
        ({"functions": ("id",), "ii": 12, "angles": "sincos"}, "compute the sines themselves"),
    ],
)
def test_what_is_refused(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(RobotError, match=said):
        accelerate("pendulum", fold="joints", **choices)


def test_a_board_has_the_smallest() -> None:
    """Of iiwa 14's `id` on an LFE5U-25F; the choice is what generate makes of it, with its note."""
    front = front_end("iiwa14", accelerator=True, **ARM)
    chosen = small(front)
    assert chosen is not None and chosen.options["fold"] == "joints"
    interval = chosen.options["ii"]
    made = compile_front(replace(front, design=with_choice(front.design, chosen)))
    assert chosen.note in made.notes and made.accelerator.interval("id") == interval
    (stage,) = made.accelerator.stages.values()
    assert stage.plan is not None

    def luts(interval: int) -> int:
        core = compile_front(front_end("iiwa14", width=18, fold="joints", ii=interval, **ARM))
        return estimated("ecp5", features(core.plan))["luts"]

    own = estimated("ecp5", features(stage.plan))["luts"]
    assert own == pytest.approx(luts(interval), rel=1e-3)
    assert own < min(luts(12), luts(18), luts(48))


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("iiwa14", {"functions": ("id",), "ii": 8}),  # somebody said how often
        ("iiwa14", {"functions": ("did",)}),  # of which no board's joints are time-multiplexed
        ("pendulum", {"functions": ("id",)}),  # there is room
    ],
)
def test_where_it_has_not(robot: str, choices: dict[str, Any]) -> None:
    assert small(front_end(robot, accelerator=True, target="ecp5-25f", **choices)) is None


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("function", ["id", "m"])
def test_every_bit(tmp_path: Path, function: str) -> None:
    """Under stalls too, with the latency that was predicted."""
    folder = api.generate(
        "gantry", tmp_path / "made", accelerator=True, functions=(function,), fold="joints", ii=16
    )
    report = api.simulate(folder, 300)
    assert report["bit_exact"] and report["functions"][function]["interval"] == 16
