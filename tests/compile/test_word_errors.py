"""Which errors are too large for a design to be chosen by itself."""

from __future__ import annotations

import pytest

from rbdgen.compile.expected import errors_in_graph, too_inexact
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.coordinates import CoordinateError, ScaleError
from rbdgen.graph.accuracy import SCALES
from rbdgen.schedule.round_plan import RoundPlan


def off(row: str, limits: float, tenth: float) -> CoordinateError:
    scales = {
        "at the limits": ScaleError(limits, limits, limits),
        "at a tenth": ScaleError(tenth, tenth, tenth),
    }
    return CoordinateError(row, "elbow", "N·m", 10.0, scales)


@pytest.mark.parametrize(
    ("own", "other", "said"),
    [
        ((5e-4, 5e-3), (4e-4, 4e-3), ""),
        ((2e-3, 5e-3), (4e-4, 4e-3), "2.0e-03 at the limits (0.002 N·m, 0.0002 of its effort"),
        ((5e-4, 2e-2), (4e-4, 4e-3), "2.0e-02 at a tenth"),
        ((2e-3, 2e-2), (1.5e-3, 2e-2), ""),  # the other is hardly better
        ((9e-4, 9e-4), (8e-5, 8e-5), "9.0e-04 at the limits"),  # ten times the other
        ((9e-4, 9e-4), (1e-4, 1e-4), ""),
    ],
)
def test_too_inexact(own: tuple[float, float], other: tuple[float, float], said: str) -> None:
    found = too_inexact([off("tau[1]", *own)], [off("tau[1]", *other)], 1e-3)
    assert bool(found) == bool(said) and said in found
    alone = too_inexact([off("tau[1]", *own)], [], 1e-3)
    assert bool(alone) == (max(own[0], own[1] / 10) > 1e-3)


def test_joints_of_an_arm_with_a_light_wrist_do_not_take_turns_by_themselves() -> None:
    """Words of 18 bits have one binary point for all of them; the note says what that would take
    and leave. `--fold joints` makes it all the same."""
    choices = {"functions": ("id",), "width": 18, "ii": 24, "target": "xcup"}
    made = compile_front(front_end("iiwa14_fast", **choices))
    assert not isinstance(made.plan, RoundPlan)
    (note,) = (note for note in made.notes if "joints are not time-multiplexed" in note)
    joints = compile_front(front_end("iiwa14_fast", fold="joints", **choices))
    assert isinstance(joints.plan, RoundPlan)
    found = errors_in_graph(joints.front, joints.fixed).errors
    worst = max(own.relative(SCALES[1]) for own in found)
    assert f"off by {worst:.1e} at a tenth" in note and note.endswith("; --fold joints for that")


@pytest.mark.slow
def test_joints_that_keep_the_error_take_turns() -> None:
    made = compile_front(front_end("baxter", functions=("id",), ii=30, target="xcup"))
    assert isinstance(made.plan, RoundPlan)
