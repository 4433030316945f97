"""Products and sums in cells: what is built, and that nextpnr's clock leaves the adder out."""

from __future__ import annotations

from pathlib import Path

import pytest
from amaranth.back import rtlil

from rbdgen.design.target import find_target
from rbdgen_benchmarks.bench.cell_delays import ALONE, BYPASSED, CASES, IN_CELL, Cell, clocks


@pytest.mark.parametrize(("part", "products", "what"), CASES)
def test_what_is_built(part: str, products: int, what: str) -> None:
    family = find_target(part).family
    made = Cell(family, products, what)
    text = rtlil.convert(made, ports=[made.domain.clk, made.i, made.o], emit_src=False)
    cells = [line.split()[1].lstrip("\\") for line in text.splitlines() if " cell \\" in line]
    inside = what in (IN_CELL, BYPASSED)
    if family == "nexus":
        assert cells == ["MULTADDSUB18X18" if inside else "MULT18X18"]
        assert ("BYPASS" in text) == (what == BYPASSED)
    else:
        assert cells == ["MULT18X18D"] * products + ["ALU54B"] * inside
        assert ("REG_PIPELINE_CLK" in text) == (what == IN_CELL)


@pytest.mark.slow
@pytest.mark.synthesis
def test_paths_of_the_adder_are_left_out(tmp_path: Path) -> None:
    """If this fails, nextpnr has delays of ALU54B, and sums may go there."""
    ((_, _, _, _, none, alone, _),) = clocks.measure(tmp_path, print, "ecp5-25f", 2, ALONE)
    ((_, _, _, _, adders, both, _),) = clocks.measure(tmp_path, print, "ecp5-25f", 2, BYPASSED)
    assert (none, adders) == (0, 1)
    assert both > alone
