"""``--error`` is kept in states that no pass has seen, by designs of all kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.integer_model import integer_results
from rbdgen.api.results import Mismatch, keep_promise
from rbdgen.api.simulation import batches, entries_beside_golden, to_words
from rbdgen.compile.flow import Front, compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.compile.samples import accuracy_of
from rbdgen.compile.words import sample_inputs
from rbdgen.graph.accuracy import SCALES, Accuracy, worst_of
from rbdgen.graph.evaluate import evaluate
from rbdgen.robot.model import RobotError
from rbdgen.words import order as words
from rbdgen.words.input_domain import InputDomain

ROBOTS = Path(__file__).parents[1] / "robots"
NAMES = ("pendulum", "gantry", str(ROBOTS / "walker.urdf"), str(ROBOTS / "swinger.urdf"))
FUNCTIONS = ("id", "m", "minv", "fd", "did", "did,m", "difd", "dfd")
STATES, SEED = 10_000, 4321  # at each scale


def accuracy(core: Product) -> Accuracy:
    """The errors of each coordinate, against the golden model."""
    found = accuracy_of(core.design, core.front.canonical)
    for scale, own in enumerate(SCALES):
        for state in batches(core, STATES, SEED, own.share):
            expected, flags = integer_results(core, to_words(core, state))
            assert not flags.any()
            found.add(scale, *entries_beside_golden(core, state, expected))
    return found


def made(front: Front) -> Product | None:
    """None where, within the error, nothing moves."""
    try:
        return compile_front(front)
    except RobotError as error:
        if "the same in every state" not in str(error):
            raise
        return None


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


SEEDS = [pytest.param(k, marks=[pytest.mark.slow] if k >= 8 else []) for k in range(40)]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_designs(seed: int) -> None:
    choices = random_design(seed)
    front = front_end(choices.pop("robot"), fit=False, **choices)
    core = made(front)
    if core is None:
        given = sample_inputs(front)
        exact = evaluate(front.graph, given.few)
        found = Accuracy(given.factors)
        found.add_parts({name: np.full_like(x, np.mean(x)) for name, x in exact.items()}, exact)
        assert worst_of(found.shares()).share <= 2 * choices["error"]
        return
    worst = worst_of(accuracy(core).shares())
    assert worst.share <= choices["error"], (str(worst), choices)


@pytest.mark.parametrize(
    ("robot", "error", "choices"),
    [
        ("iiwa14", 0.01, {}),
        ("gantry", 1e-5, {"style": "latency", "clock": 18.0}),
    ],
)
def test_both_triangles_count(robot: str, error: float, choices: dict[str, Any]) -> None:
    """The graph has M's lower triangle only; what the user gets, and is promised, are M's rows."""
    core = compile_front(front_end(robot, functions=("m",), error=error, fit=False, **choices))
    found = accuracy(core)
    assert len(found.sums) == core.front.robot.nv
    assert 0.5 * error <= worst_of(found.shares()).share <= error


def test_of_a_large_graph_ranges_are_searched_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    climbed: list[bool] = []
    searched = InputDomain.searched

    def watch(self: InputDomain, *args: Any) -> Any:
        climbed.append(self.domain is not None)
        return searched(self, *args)

    monkeypatch.setattr(words, "MANY", 0)
    monkeypatch.setattr(InputDomain, "searched", watch)
    core = compile_front(front_end("gantry", functions=("fd",), error=1e-5, fit=False))
    assert climbed[0] and climbed.count(True) == 1 < len(climbed)
    assert worst_of(accuracy(core).shares()).share <= 1e-5


def test_a_promise_that_is_broken_is_said() -> None:
    """Of the coordinate that is off most, at the scale where that is more than was promised."""
    rng = np.random.default_rng(0)
    found = Accuracy({})
    for scale, off in ((0, 0.001), (1, 0.2)):
        exact = {f"tau[{k}]": rng.normal(size=1000) for k in range(3)}
        words = {name: x + 0.001 * rng.normal(size=1000) for name, x in exact.items()}
        words["tau[2]"] = exact["tau[2]"] + off * rng.normal(size=1000)
        found.add(scale, words, exact)
    keep_promise("there", found, None)
    keep_promise("there", found, 0.0199)  # not surely
    with pytest.raises(
        Mismatch, match=r"there: error of tau\[2\] at a tenth 0\.\d+ .*, 0\.15 promised"
    ):
        keep_promise("there", found, 0.015)


def test_an_array_that_is_zero_has_no_relative_error() -> None:
    """The golden model's rounding is no value, whatever the hardware makes of it; a small is."""
    rng = np.random.default_rng(1)
    sizes = {"dqdd_dq": 9.0, "dqdd_dqd": 1e-16, "tau": 1e-9}
    found = Accuracy({})
    for scale in range(len(SCALES)):
        exact = {
            f"{name}[{k}{',0' if name != 'tau' else ''}]": size * rng.normal(size=100)
            for name, size in sizes.items()
            for k in range(2)
        }
        words = {name: x if name.startswith("dqdd_dq[") else 0 * x for name, x in exact.items()}
        found.add(scale, words, exact)
    errors = {row: found.error(row, 0) for row in found.sums}
    assert {row.partition("[")[0]: x for row, x in errors.items()} == {
        "dqdd_dq": 0.0,
        "dqdd_dqd": 0.0,
        "tau": 1.0,
    }
    assert found.absolute("dqdd_dqd[0,:]", 0)[1] > 0
    with pytest.raises(Mismatch, match=r"there: error of tau\[[01]\] at the limits 1 "):
        keep_promise("there", found, 1e-3)
