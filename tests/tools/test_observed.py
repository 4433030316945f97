"""Named frames, masses, regressors, steps and second derivatives in hardware, and nle with
time-multiplexed joints: every bit and flag of the integer model, on time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.functions import AT_FRAMES, OF_FRAMES, OF_MASSES, REGRESSING
from tests.support.cores import (
    any_words,
    check_runs,
    shared_folder,
    states_within_limits,
    verilated,
)

pytestmark = [pytest.mark.rtl]

QUADRUPED = str(Path(__file__).parents[1] / "robots" / "quadruped.urdf")
SLOW = pytest.mark.slow
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "pendulum": (
        "pendulum",
        {"functions": ("nle", "pose", "jac", "drift", "com", "subcom", "energy", "hg")},
    ),
    "regressor": ("pendulum", {"functions": REGRESSING}),
    "second": ("pendulum", {"functions": ("ddid",)}),
    "in turn": ("pendulum", {"functions": ("nle",), "fold": "joints", "ii": 12}),
    "step": ("pendulum", {"functions": ("step",), "ii": 4}),
    "iiwa14-frames": ("iiwa14", {"functions": OF_FRAMES}),
    "iiwa14-masses": ("iiwa14", {"functions": OF_MASSES}),
    "quadruped": (QUADRUPED, {"functions": ("pose", "twist", "ag"), "base": "floating"}),
}


@pytest.mark.parametrize(
    "case",
    [
        "pendulum",
        "regressor",
        "second",
        *(pytest.param(case, marks=SLOW) for case in list(CASES)[3:]),
    ],
)
def test_every_bit(case: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path, choices = CASES[case]
    frames = front_end(path, functions=("m",), base=choices.get("base", "fixed")).robot.joints[-1:]
    if not set(AT_FRAMES).isdisjoint(choices["functions"]):
        choices = {**choices, "frames": tuple(joint.body for joint in frames)}
    core = compile_front(front_end(path, fit=False, **choices))
    model = verilated(
        core, shared_folder(tmp_path_factory, "observed"), f"observed_{list(CASES).index(case)}"
    )
    inside, anywhere = states_within_limits(core, 500, 1), any_words(core, 300, 2)
    assert not inside.flags.any()
    for expected in (inside, anywhere):
        check_runs(model, core, expected)
