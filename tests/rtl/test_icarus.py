"""Designs in Icarus Verilog: every bit, started by a reset alone or by initial values alone.

Only few tasks each: Icarus takes a hundred times as long as Verilator, which has the others.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rbdgen.api.facts import port_facts
from rbdgen.api.integer_model import ports_of
from rbdgen.api.stimulus import Traffic, inputs_of, within_limits
from rbdgen.api.verilog import shells_of
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.shell.emit import emit, stream_shells
from tests.support.cores import any_words, check, check_on_time
from tests.support.icarus import Icarus, binary, started, without_initial_values, written
from tests.support.made import accelerate
from tests.support.marks import fast_at

pytestmark = pytest.mark.rtl

TASKS = 40
PLAIN: dict[str, dict[str, Any]] = {
    "pipelined": {},
    "multipliers_shared": {"ii": 4},
    "joints_in_turn": {"ii": 6, "fold": "joints"},
    "latency": {"style": "latency", "clock": 20.0},
    "reciprocals": {"functions": ("fd",), "ii": 3},
}
ACCELERATOR: dict[str, Any] = {
    "functions": ("id", "fd"),
    "ii": 4,
    "target": "xcup",
    "accelerator": True,
}


@pytest.mark.parametrize("case", fast_at(range(3), [*PLAIN]))
def test_every_bit(case: str, tmp_path: Path) -> None:
    binary("iverilog")
    core = compile_front(front_end("pendulum", **PLAIN[case]))
    source, ports = written(core, case, tmp_path)
    expected = any_words(core, TASKS, 1)
    assert expected.flags.any()
    stripped = without_initial_values(source)
    from_reset = Icarus(stripped, case, ports, tmp_path / "reset").run(expected.tasks)
    check(from_reset, expected)
    check_on_time(from_reset, core)
    never_reset = Icarus(source, case, ports, tmp_path / "never_reset", reset=False)
    check(never_reset.run(expected.tasks, stall_in=0.3, stall_out=0.4), expected)


def test_every_bit_of_an_accelerator(tmp_path: Path) -> None:
    binary("iverilog")
    made = accelerate("pendulum", **ACCELERATOR)
    emitted = emit(made.accelerator, "accelerator", partial(shells_of, made=made, identity=1))
    source = tmp_path / "accelerator.v"
    source.write_text(emitted.files[source.name])
    ports = ports_of(port_facts(made))
    traffic = Traffic(made, inputs_of(made, within_limits(made, TASKS, 1)))
    mixed = traffic.mixed(TASKS, 2)
    stripped = without_initial_values(source)
    traffic.run(Icarus(stripped, "accelerator", ports, tmp_path / "reset"), mixed)
    never_reset = Icarus(source, "accelerator", ports, tmp_path / "never_reset", reset=False)
    traffic.run(never_reset, mixed, stall_in=0.3, stall_out=0.4)
    for kind in emitted.shells:
        top = f"accelerator_axi_{kind}"
        check_start(emitted.files[f"{top}.v"], top, source, tmp_path)


def test_shells_start(tmp_path: Path) -> None:
    binary("iverilog")
    made = emit(compile_front(front_end("pendulum", ii=4)).accelerator, "core", stream_shells)
    source = tmp_path / "core.v"
    source.write_text(made.files[source.name])
    for kind in made.shells:
        check_start(made.files[f"core_axi_{kind}.v"], f"core_axi_{kind}", source, tmp_path)


def check_start(text: str, top: str, core: Path, folder: Path) -> None:
    """A shell's handshakes are known from the first cycle on, and it offers nothing by itself."""
    shell = folder / f"{top}.v"
    shell.write_text(text)
    for reset in (True, False):
        seen = started([core, shell], top, folder / f"start_{top}_{reset}", reset)
        assert {"s_axis_tready", "m_axis_tvalid"} <= seen.keys()
        assert seen["m_axis_tvalid"] == {"0"}
        assert "1" in seen["s_axis_tready"]
        for name, values in seen.items():
            # the data of a result that is not there may be anything
            assert values <= {"0", "1"} or name == "m_axis_tlast", f"{name}: {values}"


@pytest.mark.parametrize("choices", [PLAIN["joints_in_turn"], PLAIN["reciprocals"]])
def test_nothing_waits_for_an_event_at_time_zero(choices: dict[str, Any]) -> None:
    """No simulator has to: the standard does not say what of time zero a block sees."""
    made = emit(compile_front(front_end("pendulum", **choices)).accelerator, "core")
    for name, text in made.files.items():
        if name.endswith(".v"):
            assert set(re.findall(r"always(?:\s*@\s*\([^)]*\)|\S*)", text)) <= {
                "always @(posedge clk)"
            }
            assert "\\$" not in text  # Icarus takes such names of functions for system functions
