"""Designs with AMD's multipliers as cells, in Verilator: every bit, in the cycles of the plan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen.api.facts import port_facts
from rbdgen.api.integer_model import ports_of
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.rtl.multiplier_cells import emit_cells
from rbdgen.rtl.separate_module import with_own_names
from rbdgen.shell.emit import emit, to_verilog
from rbdgen.system.templates import data_folder
from rbdgen.tools.verilate import build
from tests.support.cores import any_words, check, states_within_limits

MODEL = data_folder("sim") / "xcup" / "dsp48e2_sim.v"


@pytest.mark.rtl
@pytest.mark.synthesis
def test_words_of_24_bits(tmp_path: Path) -> None:
    """A pendulum: a DSP48E2 for each product, 24 x 24 bits and, of the sines, 21 x 20; of their
    second order, 10 x 10, LUTs."""
    core = compile_front(front_end("pendulum", target="xcup", width=24))
    made = emit(core.accelerator, "core")
    of_cells = [unit for unit in made.multipliers if unit.style == "dsp"]
    assert {unit.rows for unit in of_cells} == {(0, 6), (0, 2)}
    assert core.plan.multipliers == len(of_cells)
    assert {unit.name for unit in made.multipliers if unit not in of_cells} == {
        "rbdgen_mul_10x10_l4_logic"
    }
    cells = with_own_names(emit_cells(made.multipliers, "xcup"), "core")
    source = tmp_path / "core.v"
    source.write_text(text := to_verilog(made.files["core.il"] + cells))
    assert text.count("DSP48E2 ") == 2  # in two modules
    model = build([source, MODEL], "core", ports=ports_of(port_facts(core)))
    for expected in (states_within_limits(core, 300, 1), any_words(core, 300, 2)):
        run = model.run(expected.tasks, seed=3)
        check(run, expected)
        np.testing.assert_array_equal(run.result_cycle - run.accept_cycle, core.plan.latency)
        check(model.run(expected.tasks, stall_in=0.2, stall_out=0.5, seed=4), expected)
