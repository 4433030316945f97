"""``--error`` is kept in states that no pass has seen, by designs of all kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.errors import Error, Mismatch, keep_promise, without_noise
from rbdgen.api.integer_model import integer_results
from rbdgen.api.simulation import batches, outputs_and_golden, to_words
from rbdgen.compile.flow import Core, compile_core, front_end
from rbdgen.graph.node import Op
from rbdgen.passes import words
from rbdgen.passes.given import Given
from rbdgen.robot.model import RobotError

ROBOTS = Path(__file__).parents[1] / "robots"
NAMES = ("pendulum", "gantry", str(ROBOTS / "walker.urdf"), str(ROBOTS / "swinger.urdf"))
FUNCTIONS = ("id", "m", "minv", "fd", "did", "did,m", "difd", "dfd")
STATES, SEED = 20_000, 4321


def errors(core: Core) -> dict[str, Error]:
    """Of each array, against the golden model."""
    found: dict[str, Error] = {}
    for state in batches(core, STATES, SEED):
        expected, flags = integer_results(core, to_words(core, state))
        assert not flags.any()
        for name, values, reference in outputs_and_golden(core, state, expected):
            found.setdefault(name, Error()).add(values, reference)
    return found


def random_design(seed: int) -> dict[str, Any]:
    """A robot, functions, limits, conventions and an error from 3e-6 to 3e-2."""
    rng = np.random.default_rng(seed)
    choices: dict[str, Any] = {
        "robot": NAMES[seed % len(NAMES)],
        "functions": tuple(FUNCTIONS[rng.integers(len(FUNCTIONS))].split(",")),
        "error": float(f"{10 ** rng.uniform(-5.5, -1.5):.2g}"),
        "velocity": float(rng.choice([1.0, 5.0, 20.0])),
        "target": str(rng.choice(["ecp5-85f", "xcup"])),
        "angles": str(rng.choice(["on-chip", "sincos"])),
        "rotation": int(rng.choice([3, 4])),
        "formulation": str(rng.choice(["composite", "recursive"])),
    }
    if rng.random() < 0.3:
        choices |= {"style": "latency", "clock": 18.0, "target": "xcup"}
    return choices


SEEDS = [pytest.param(k, marks=[pytest.mark.slow] if k >= 12 else []) for k in range(40)]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_designs(seed: int) -> None:
    choices = random_design(seed)
    front = front_end(choices.pop("robot"), fit=False, **choices)
    if all(node.op is Op.CONST for node in front.graph.outputs.values()):
        with pytest.raises(RobotError, match="the same in every state"):
            compile_core(front)
        return
    for name, error in errors(compile_core(front)).items():
        assert error.report().relative_rms <= choices["error"], (name, choices)


@pytest.mark.parametrize(
    ("robot", "error", "choices"),
    [
        ("iiwa14", 0.01, {}),
        ("gantry", 1e-5, {"style": "latency", "clock": 18.0}),
    ],
)
def test_both_triangles_count(robot: str, error: float, choices: dict[str, Any]) -> None:
    """The graph has M's lower triangle only; what the user gets, and is promised, is M."""
    core = compile_core(front_end(robot, functions=("m",), error=error, fit=False, **choices))
    (found,) = errors(core).values()
    rms = found.report().relative_rms
    assert 0.5 * error <= rms <= error


def test_of_a_large_graph_ranges_are_searched_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    climbed: list[bool] = []
    searched = Given.searched

    def watch(self: Given, *args: Any) -> Any:
        climbed.append(self.domain is not None)
        return searched(self, *args)

    monkeypatch.setattr(words, "MANY", 0)
    monkeypatch.setattr(Given, "searched", watch)
    core = compile_core(front_end("gantry", functions=("fd",), error=1e-5, fit=False))
    assert climbed[0] and climbed.count(True) == 1 < len(climbed)
    assert max(own.report().relative_rms for own in errors(core).values()) <= 1e-5


def test_a_promise_that_is_broken_is_said() -> None:
    rng = np.random.default_rng(0)
    exact = rng.normal(size=(1000, 3))
    found = Error()
    found.add(exact + 0.02 * rng.normal(size=exact.shape), exact)
    keep_promise("there", {"tau": found}, None)
    keep_promise("there", {"tau": found}, 0.0199)  # not surely
    with pytest.raises(Mismatch, match=r"there: error of tau 0\.02 \(RMS, 1000 states\), 0\.015"):
        keep_promise("there", {"tau": found}, 0.015)


def test_an_array_that_is_zero_has_no_relative_error() -> None:
    """The golden model's rounding is no value, whatever the hardware makes of it; a small is."""
    rng = np.random.default_rng(1)
    exact = rng.normal(size=(100, 2, 2))
    sizes = {"dqdd_dq": 9.0, "dqdd_dqd": 1e-16, "tau": 1e-9}
    found = {name: Error() for name in sizes}
    for name, size in sizes.items():
        found[name].add(np.zeros_like(exact) if size < 1 else size * exact, size * exact)
    known = without_noise(found)
    relative = {name: error.report().relative_rms for name, error in known.items()}
    assert relative == {"dqdd_dq": 0.0, "dqdd_dqd": 0.0, "tau": 1.0}
    assert known["dqdd_dqd"].report().max_absolute == found["dqdd_dqd"].largest > 0
    keep_promise("there", {"dqdd_dqd": known["dqdd_dqd"]}, 1e-3)
    with pytest.raises(Mismatch, match="there: error of tau 1 "):
        keep_promise("there", known, 1e-3)
