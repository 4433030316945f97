"""Every function in hardware, on an arm and on a quadruped that floats: every bit and flag of the
integer model, under stalls, on time."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.compile.flow import compile_front, front_end
from tests.support.cores import (
    any_words,
    check_runs,
    shared_folder,
    states_within_limits,
    verilated,
)

pytestmark = [pytest.mark.rtl, pytest.mark.slow]

QUADRUPED = str(Path(__file__).parents[1] / "robots" / "quadruped.urdf")
ROBOTS = {
    "iiwa14": ("iiwa14", {}),
    "quadruped": (QUADRUPED, {"base": "floating"}),
    "hyq": ("hyq", {"base": "floating"}),
    "mixed": ("pendulum", {"error": 1e-5}),  # words narrower and wider than a multiplier's
}
# All functions of HyQ, which take too long here: `rbdgen bench quadruped`. `dfd` has in it what
# `fd`, `did` and `minv` have, `difd` the products that `dfd` ends with: both robots have each.
# Gradients alone are in `test_folded`, and in `tests/rtl/test_limbs.py`.
CASES = [("iiwa14", f) for f in ("dfd", "m", "nle")]
CASES += [("quadruped", f) for f in ("difd", "fd", "minv", "id", "g")]
CASES += [("hyq", "id"), ("mixed", "fd"), ("mixed", "id")]


@pytest.mark.parametrize(("robot", "function"), CASES)
def test_every_bit_of_every_function(
    robot: str, function: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A task a clock, each result after the latency that was predicted; and under stalls."""
    path, choices = ROBOTS[robot]
    core = compile_front(front_end(path, functions=(function,), fit=False, **choices))
    model = verilated(core, shared_folder(tmp_path_factory, "functions"), f"{robot}_{function}")
    inside, anywhere = states_within_limits(core, 1000, 1), any_words(core, 500, 2)
    assert not inside.flags.any()
    # configurations have no limits to be outside of but a slide's, and here nothing slides, and
    # the length of a base's quaternion, which gravity is seen through
    free = ("m", "minv") if "base" in choices else ("m", "minv", "g")
    assert anywhere.flags.any() == (function not in free)
    for expected in (inside, anywhere):
        check_runs(model, core, expected)
