"""Rotors, damping and friction in hardware: every bit that of the integer model, which is near."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api, golden
from rbdgen.api.facts import port_facts
from rbdgen.api.integer_model import ports_of
from rbdgen.api.stimulus import Traffic, inputs_of, within_limits
from rbdgen.api.verilog import shells_of
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.functions import GIVES
from rbdgen.design.loading import load
from rbdgen.shell.emit import emit
from rbdgen_host.driver import Dynamics
from tests.support.cores import any_words, check
from tests.support.geared import JOINTS
from tests.support.icarus import Icarus, binary, written
from tests.support.made import accelerate
from tests.support.marks import fast_at

pytestmark = pytest.mark.rtl

CASES: dict[str, dict[str, Any]] = {
    "pipelined": {"functions": ("did", "m")},
    "reciprocals": {"functions": ("dfd",), "ii": 4},
    "joints_in_turn": {"functions": ("id",), "ii": 8, "fold": "joints"},
    "latency": {"functions": ("did",), "style": "latency", "clock": 20.0},
}


@pytest.mark.parametrize("case", fast_at(range(2), [*CASES]))
def test_every_bit(case: str, tmp_path: Path) -> None:
    binary("iverilog")
    core = compile_front(front_end("pendulum", joints=JOINTS, **CASES[case]))
    source, ports = written(core, case, tmp_path)
    expected = any_words(core, 40, 1)
    simulated = Icarus(source, case, ports, tmp_path / "run")
    check(simulated.run(expected.tasks), expected)


BUDGETS: dict[str, tuple[dict[str, Any], float]] = {
    **{case: (choices, 1e-3) for case, choices in CASES.items()},
    "error": ({"functions": ("id",), "error": 1e-4}, 1e-4),
    "error_of_gradients": ({"functions": ("did",), "error": 1e-4}, 1e-4),
}


@pytest.mark.parametrize("case", BUDGETS)
def test_words_are_near(case: str) -> None:
    """In random states, a quarter of them slow, of every array's RMS; and without overflow."""
    choices, within = BUDGETS[case]
    choices = {"joints": JOINTS, **choices}
    states = api.states("pendulum", 500, 3, **choices)
    found, golden = (api.evaluate("pendulum", states, m, **choices) for m in ("fixed", "golden"))
    assert not found["overflow"].any()
    for name in {name for function in choices["functions"] for name in GIVES[function]}:
        error = np.sqrt(np.mean((found[name] - golden[name]) ** 2) / np.mean(golden[name] ** 2))
        assert error < within, name


@pytest.mark.slow
def test_an_accelerator(tmp_path: Path) -> None:
    """Every bit; and a rollout slows down as the golden model's does."""
    binary("iverilog")
    choices: dict[str, Any] = {"functions": ("id", "fd", "rk4"), "ii": 4, "target": "xcup"}
    made = accelerate("pendulum", joints=JOINTS, accelerator=True, **choices)
    emitted = emit(made.accelerator, "made", partial(shells_of, made=made, identity=1))
    source = tmp_path / "made.v"
    source.write_text(emitted.files[source.name])
    ports = ports_of(port_facts(made))
    traffic = Traffic(made, inputs_of(made, within_limits(made, 30, 1)))
    traffic.run(Icarus(source, "made", ports, tmp_path / "run"), traffic.mixed(30, 2))
    driver = Dynamics("pendulum", "integer", joints=JOINTS, **choices)
    q, v, tau = np.zeros((1, 2)), np.full((1, 2), 0.3), np.zeros((1, 2))
    found = driver.rollout(q, v, tau, 2.0**-10, 60)
    robot = load("pendulum", joints=JOINTS)[1]
    expected = golden.rollout(robot, "rk4", (q, v), tau, np.array([2.0**-10]), np.array([60]))
    np.testing.assert_allclose(found[0], expected[0], atol=1e-4)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-3)
