"""A whole core as a netlist of ECP5 cells, simulated with the cells' models: every bit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rbdgen.compiler import compile_core, front_end
from rbdgen.data import data_folder
from rbdgen.rtl.emit import emit
from rbdgen.simulate.verilate import build
from rbdgen.synthesize.carries import OPEN
from rbdgen.synthesize.tool import YOSYS, run_tool
from rbdgen.synthesize.yosys import synth_ecp5
from tests.rtl.cores import any_words, cell_models, check, ports_of, states_within_limits

STATES = 200


def without_block_ram(folder: Path) -> Path:
    """Yosys' models but for the empty one of DP16KD, which ours replaces."""
    text = (cell_models() / "cells_sim.v").read_text()
    start = text.index("(* blackbox *)\nmodule DP16KD")
    end = text.index("endmodule", start) + len("endmodule")
    path = folder / "cells.v"
    path.write_text(text[:start] + text[end:])
    return path


def to_verilog(folder: Path, top: str) -> None:
    """netlist.json → netlist.v, outputs without a wire left open."""
    document = json.loads((folder / "netlist.json").read_text())
    for cell in document["modules"][top]["cells"].values():
        for pin, direction in cell["port_directions"].items():
            if direction == "output" and cell["connections"][pin] == OPEN:
                cell["connections"][pin] = []
    (folder / "open.json").write_text(json.dumps(document))
    commands = ["read_json open.json", f"select {top}", "write_verilog -noattr -selected netlist.v"]
    (folder / "script.ys").write_text("\n".join(commands) + "\n")
    run_tool(YOSYS, ["-s", "script.ys"], folder)


@pytest.mark.rtl
@pytest.mark.synthesis
@pytest.mark.slow
def test_core_of_cells(tmp_path: Path) -> None:
    """A pendulum: carry chains, LUT-RAM, block RAM, hardware multipliers and their registers."""
    core = compile_core(front_end("pendulum"))
    made = emit(core.plan, "core")
    sources = [tmp_path / "core.il", tmp_path / "core_ecp5.il"]
    for source in sources:
        source.write_text(made.files[source.name])
    cells = synth_ecp5(sources, "core", tmp_path / "netlist.json")
    for cell in ("CCU2C", "TRELLIS_FF", "TRELLIS_DPR16X4", "DP16KD", "LUT4"):
        assert cells[cell] > 0
    assert cells["MULT18X18D"] == core.plan.schedule.binding.multipliers

    to_verilog(tmp_path, "core")
    model = build(
        [
            tmp_path / "netlist.v",
            without_block_ram(tmp_path),
            data_folder("sim") / "ecp5" / "mult18x18d_sim.v",
            data_folder("sim") / "ecp5" / "dp16kd_sim.v",
        ],
        "core",
        tmp_path,
        ports=ports_of(core, made),
        include_dirs=[cell_models()],
        opt="-O0",
    )
    for expected in (states_within_limits(core, STATES, 1), any_words(core, STATES, 2)):
        run = model.run(expected.tasks, seed=3)
        check(run, expected)
        np.testing.assert_array_equal(run.result_cycle - run.accept_cycle, core.plan.latency)
        check(model.run(expected.tasks, stall_in=0.2, stall_out=0.5, seed=4), expected)
