"""Rotors, damping and friction in hardware: every bit that of the integer model, which is near."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.manifest import core_ports
from rbdgen.api.rtl import ports_of
from rbdgen.compile.flow import compile_core, front_end
from rbdgen.design.choices import GIVES
from rbdgen.rtl.emit import emit
from tests.rtl.cores import any_words, check
from tests.rtl.icarus import Icarus, binary

pytestmark = pytest.mark.rtl

JOINTS = {
    "shoulder": {"armature": 0.1, "damping": 0.6, "friction": 1.5, "friction_width": 0.5},
    "elbow": {"armature": 0.02, "damping": 0.2, "friction": 0.5, "friction_width": 1.0},
}
CASES: dict[str, dict[str, Any]] = {
    "pipelined": {"functions": ("did", "m")},
    "reciprocals": {"functions": ("dfd",), "ii": 4},
    "joints_in_turn": {"functions": ("id",), "ii": 8, "fold": "joints"},
    "latency": {"functions": ("did",), "style": "latency", "clock": 20.0},
}


@pytest.mark.parametrize("case", CASES)
def test_every_bit(case: str, tmp_path: Path) -> None:
    binary("iverilog")
    core = compile_core(front_end("pendulum", joints=JOINTS, **CASES[case]))
    made = emit(core.plan, case, shells=False)
    source = tmp_path / f"{case}.v"
    source.write_text(made.files[source.name])
    expected = any_words(core, 40, 1)
    simulated = Icarus(source, case, ports_of(core_ports(core, made.core)), tmp_path / "run")
    check(simulated.run(expected.tasks), expected)


@pytest.mark.parametrize("case", CASES)
def test_words_are_near(case: str) -> None:
    """In random states, a quarter of them slow, of every array's RMS; and without overflow."""
    choices = {"joints": JOINTS, **CASES[case]}
    states = api.states("pendulum", 500, 3, **choices)
    found, golden = (api.evaluate("pendulum", states, m, **choices) for m in ("fixed", "golden"))
    assert not found["overflow"].any()
    gives = {name for function in CASES[case]["functions"] for name in GIVES[function]}
    for name in gives:
        wanted = golden[name]
        error = np.sqrt(np.mean((found[name] - wanted) ** 2) / np.mean(wanted**2))
        assert error < 1e-3, name
