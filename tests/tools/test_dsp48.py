"""Designs with AMD's multipliers as cells, in Verilator: every bit, in the cycles of the plan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen.api.facts import port_facts
from rbdgen.api.integer_model import ports_of
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.rtl.multiplier_cells import emit_cells
from rbdgen.rtl.multiply_add import MultiplyAdd
from rbdgen.rtl.separate_module import with_own_names
from rbdgen.shell.emit import emit, to_verilog
from rbdgen.system.templates import data_folder
from rbdgen.tools.verilate import build
from tests.support.cores import any_words, check, states_within_limits

MODEL = data_folder("sim") / "xcup" / "dsp48e2_sim.v"


def simulated(core: Product, place: Path) -> str:
    """The Verilog of a core of cells, after every bit of it was compared, with stalls and without;
    portable Verilog of the same is compared, too."""
    made = emit(core.accelerator, "core")
    cells = with_own_names(emit_cells(made.multipliers, "xcup"), "core")
    files = {"cells": to_verilog(made.files["core.il"] + cells), "core": made.files["core.v"]}
    for name, text in files.items():
        source = place / f"{name}.v"
        source.write_text(text)
        sources = [source, MODEL] if name == "cells" else [source]
        model = build(sources, "core", ports=ports_of(port_facts(core)))
        for expected in (states_within_limits(core, 300, 1), any_words(core, 300, 2)):
            run = model.run(expected.tasks, seed=3)
            check(run, expected)
            np.testing.assert_array_equal(run.result_cycle - run.accept_cycle, core.plan.latency)
            check(model.run(expected.tasks, stall_in=0.2, stall_out=0.5, seed=4), expected)
    return files["cells"]


@pytest.mark.rtl
@pytest.mark.synthesis
def test_sums_in_cells(tmp_path: Path) -> None:
    """A sum that rounds, behind its product in one DSP48E2."""
    core = compile_front(front_end("pendulum", target="xcup", width=18))
    text = simulated(core, tmp_path)
    units = emit(core.accelerator, "core").multipliers
    sums = [own for own in units if isinstance(own, MultiplyAdd)]
    assert [own.name for own in sums] == ["rbdgen_mac_18x18_34_h16_late"]
    assert len(core.fixed.fused) == 1 and "  core_mac_18x18_34_h16_late multiply_add" in text
    for product, total in core.fixed.fused.items():
        assert not core.fixed.overflowing(product)
        assert core.plan.schedule.time[product] == core.plan.schedule.time[total]


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
    assert not core.fixed.fused  # the adders of all cells are taken
    assert simulated(core, tmp_path).count("DSP48E2 ") == 2  # in two modules
