"""Hardware that takes a payload: every bit and flag of the integer model, on time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen.api import evaluate, states
from rbdgen.api.stimulus import Traffic, inputs_of, within_limits
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.functions import ON_ACCELERATORS, ROLLOUTS
from rbdgen_benchmarks.compare.integer_errors import integer_errors
from tests.support.coordinates import worst_in, worst_of
from tests.support.cores import (
    any_words,
    check_runs,
    shared_folder,
    states_within_limits,
    verilated,
)
from tests.support.made import accelerate

SLOW = pytest.mark.slow
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "pendulum": ("pendulum", {"functions": ("did", "m"), "payload": "lower_rod"}),
    "shared": ("gantry", {"functions": ("id",), "payload": "tool", "ii": 4}),
    "joints": ("gantry", {"functions": ("id",), "payload": "tool", "fold": "joints", "ii": 40}),
    "iiwa14": ("iiwa14", {"functions": ("id",), "payload": "link_7"}),
    "sums": ("iiwa14", {"functions": ("fd",), "payload": "link_7", "formulation": "logarithmic"}),
}


@pytest.mark.rtl
@pytest.mark.parametrize(
    "case", ["pendulum", *(pytest.param(case, marks=SLOW) for case in list(CASES)[1:])]
)
def test_every_bit(case: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path, choices = CASES[case]
    core = compile_front(front_end(path, fit=False, **choices))
    assert sum(name.startswith("payload") for name in core.fixed.inputs) == 10
    model = verilated(
        core, shared_folder(tmp_path_factory, "payload"), f"payload_{list(CASES).index(case)}"
    )
    inside, anywhere = states_within_limits(core, 500, 1), any_words(core, 300, 2)
    assert not inside.flags.any()
    for expected in (inside, anywhere):
        check_runs(model, core, expected)


@pytest.mark.parametrize("function", ["id", "m", "did", "g", "nle", "com", "energy", "hg"])
def test_words_are_nearly_golden(function: str) -> None:
    core = compile_front(front_end("gantry", functions=(function,), payload="tool"))
    report = integer_errors(core, 50)
    assert report.overflows == 0
    assert all(error < 0.002 for error in worst_of(report.coordinates).values())


def test_joints_in_turn() -> None:
    choices: dict[str, Any] = {"functions": ("did", "m"), "payload": "tool"}
    given = states("gantry", 50, **choices)
    expected = evaluate("gantry", given, "golden", **choices)
    found = evaluate("gantry", given, "fixed", fold="joints", ii=64, **choices)
    for name in ("tau", "dtau_dq", "dtau_dqd", "M"):
        size = np.abs(expected[name]).max()
        assert np.abs(found[name] - expected[name]).max() < 1e-3 * size, name


@pytest.mark.parametrize(
    "functions", [("id", "m"), pytest.param((*ON_ACCELERATORS, *ROLLOUTS), marks=SLOW)], ids=str
)
def test_an_accelerator_takes_it_with_every_task(functions: tuple[str, ...]) -> None:
    tried("gantry", {"functions": functions, "payload": "tool", "ii": 16})


@pytest.mark.slow
@pytest.mark.parametrize("link", ["trunk", "lf_shin"])
def test_an_accelerator_of_limbs_takes_it(link: str) -> None:
    tried("hyq", {"functions": ("id", "m"), "payload": link, "base": "floating", "ii": 16})


def tried(robot: str, choices: dict[str, Any]) -> None:
    """Each function of an accelerator takes ten words more, and is nearly golden."""
    made = accelerate(robot, accelerator=True, **choices)
    state = within_limits(made, 50, 0)
    traffic = Traffic(made, inputs_of(made, state))
    for function in (name for name in choices["functions"] if name not in ROLLOUTS):
        formats = made.accelerator.formats[function]
        assert sum(word.startswith("payload") for word in formats) == 10
        errors = worst_in(traffic, function, state).values()
        assert all(error < 0.05 for error in errors), function
