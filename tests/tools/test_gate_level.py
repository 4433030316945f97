"""A whole core as a netlist of a family's cells, simulated with the cells' models: every bit."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.facts import port_facts
from rbdgen.api.integer_model import ports_of
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.design.target import SITES, Ports
from rbdgen.rtl.multiplier_cells import emit_cells
from rbdgen.rtl.separate_module import with_own_names
from rbdgen.shell.emit import Emitted, emit
from rbdgen.system.templates import data_folder
from rbdgen.tools.cells import OPEN
from rbdgen.tools.model import Model
from rbdgen.tools.toolchain import YOSYS, run_tool
from rbdgen.tools.verilate import build
from rbdgen.tools.yosys import Cells, synth
from tests.support import small_cores
from tests.support.cell_models import cell_models
from tests.support.cores import any_words, check, states_within_limits
from tests.support.two_joints import mass_matrices, minv_of_two_joints

STATES = 200


def models(folder: Path, family: str) -> list[Path]:
    """Yosys' models but for those that ours replace, which are empty; and ours."""
    own = sorted((data_folder("sim") / family).glob("*_sim.v"))
    text = (cell_models(family) / "cells_sim.v").read_text()
    for cell in re.findall(r"^module (\w+)", "".join(file.read_text() for file in own), re.M):
        empty = rf"^\(\* blackbox \*\)\nmodule {cell}\b.*?^endmodule"
        text = re.sub(empty, "", text, flags=re.DOTALL | re.M)
    path = folder / "cells.v"
    path.write_text(text)
    return [path, *own]


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


def of_cells(
    folder: Path, made: Emitted[Any], ports: Ports, family: str = "ecp5"
) -> tuple[Cells, Model]:
    """The design ``core`` mapped to cells, and these simulated."""
    sources = [folder / "core.il", folder / "multipliers.il"]
    sources[0].write_text(made.files["core.il"])
    sources[1].write_text(with_own_names(emit_cells(made.multipliers, family), "core"))
    cells = synth(family, sources, "core", folder / "netlist.json")
    to_verilog(folder, "core")
    model = build(
        [folder / "netlist.v", *models(folder, family)],
        "core",
        ports=ports,
        include_dirs=[cell_models(family)],
    )
    return cells, model


@pytest.mark.rtl
@pytest.mark.synthesis
@pytest.mark.slow
@pytest.mark.parametrize("target", ["ecp5-85f", "gw2a-18", "lifcl-40"])
def test_core_of_cells(target: str, tmp_path: Path) -> None:
    """A pendulum: carry chains, LUT-RAM, block RAM, hardware multipliers and their registers."""
    core = compile_front(front_end("pendulum", target=target))
    made = emit(core.accelerator, "core")
    family = core.front.target.family
    cells, model = of_cells(tmp_path, made, ports_of(port_facts(core)), family)
    for kinds in SITES[family].values():
        assert any(cells[cell] for cell in kinds)
    assert sum(cells[cell] for cell in SITES[family]["multipliers"]) == core.plan.multipliers
    check_cells(core, model, STATES)


@pytest.mark.rtl
@pytest.mark.synthesis
@pytest.mark.slow
def test_joints_in_turn_of_cells(tmp_path: Path) -> None:
    """A pendulum on Nexus: block RAMs with words of several widths, with contents and without."""
    core = compile_front(front_end("pendulum", target="lifcl-40", fold="joints", ii=8))
    made = emit(core.accelerator, "core")
    cells, model = of_cells(tmp_path, made, ports_of(port_facts(core)), "nexus")
    module = json.loads((tmp_path / "netlist.json").read_text())["modules"]["core"]
    memories = [own for own in module["cells"].values() if own["type"] == "PDPSC16K"]
    assert len(memories) == cells["PDPSC16K"]
    assert {own["parameters"]["DATA_WIDTH_W"] for own in memories} == {"X1", "X18", "X36"}
    check_cells(core, model, STATES)


@pytest.mark.rtl
@pytest.mark.synthesis
@pytest.mark.slow
def test_arm_of_cells(tmp_path: Path) -> None:
    """iiwa 14, time-multiplexed joints: block RAMs that are written, on a family other than
    ECP5."""
    core = compile_front(front_end("iiwa14", target="gw2a-18", fold="joints", ii=24))
    made = emit(core.accelerator, "core")
    family = core.front.target.family
    cells, model = of_cells(tmp_path, made, ports_of(port_facts(core)), family)
    assert sum(cells[cell] for cell in SITES[family]["block_rams"]) > 10
    check_cells(core, model, 40)


def check_cells(core: Product, model: Model, states: int) -> None:
    """Every bit and the latency, of states and of any words, under stalls too."""
    for expected in (states_within_limits(core, states, 1), any_words(core, states, 2)):
        run = model.run(expected.tasks, seed=3)
        check(run, expected)
        np.testing.assert_array_equal(run.result_cycle - run.accept_cycle, core.plan.latency)
        check(model.run(expected.tasks, stall_in=0.2, stall_out=0.5, seed=4), expected)


@pytest.mark.rtl
@pytest.mark.synthesis
@pytest.mark.slow
def test_reciprocals_of_cells(tmp_path: Path) -> None:
    """A block RAM with its output register for each, and the multipliers that it is said to use."""
    states = mass_matrices(STATES, 1)
    fixed = small_cores.in_fixed_point(minv_of_two_joints(), states, 22)
    plan = small_cores.plan_of(fixed)
    made = emit(small_cores.alone(plan), "core")
    cells, model = of_cells(tmp_path, made, small_cores.ports(fixed))
    assert cells["DP16KD"] == 2
    assert cells["MULT18X18D"] == plan.schedule.binding.multipliers
    memories = [
        cell["parameters"]
        for cell in json.loads((tmp_path / "netlist.json").read_text())["modules"]["core"][
            "cells"
        ].values()
        if cell["type"] == "DP16KD"
    ]
    assert all("OUTREG" in (m["REGMODE_A"], m["REGMODE_B"]) for m in memories)
    words = {name: fixed.inputs[name].quantize(v) for name, v in states.items()}
    anywhere = small_cores.any_words(fixed, STATES, 2)
    for expected in (small_cores.batch(plan, words), small_cores.batch(plan, anywhere)):
        run = model.run(expected.tasks, seed=3)
        check(run, expected)
        np.testing.assert_array_equal(run.result_cycle - run.accept_cycle, plan.latency)
