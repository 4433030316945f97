"""Memories: one module for each size and kind, which Yosys maps to what it says, however deep."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.rtl.delay_line import BlockRam, LutRam, emit_rams
from rbdgen.tools.yosys import synth


def test_each_size_is_emitted_once_whatever_the_order() -> None:
    small, large = LutRam(4, 16), LutRam(18, 512)
    text = emit_rams([large, small, large])
    assert text == emit_rams([small, large])
    assert [line for line in text.splitlines() if line.startswith("module")] == [
        "module \\rbdgen_ram_4x16",
        "module \\rbdgen_ram_18x512",
    ]


def test_kinds_of_a_size_are_two_modules() -> None:
    kinds = LutRam(18, 64), BlockRam(18, 64)
    assert emit_rams(kinds) == emit_rams(reversed(kinds))
    assert emit_rams(kinds).count("\nmodule ") == 2
    assert len({ram.name for ram in kinds}) == 2


@pytest.mark.synthesis
@pytest.mark.parametrize("width", [18, 50])
def test_ecp5_takes_block_ram(width: int, tmp_path: Path) -> None:
    ram = BlockRam(width, 64)
    (tmp_path / "ram.il").write_text(ram.to_rtlil())
    cells = synth("ecp5", [tmp_path / "ram.il"], ram.name, tmp_path / "ram.json")
    assert cells["DP16KD"] + cells["PDPW16KD"] == -(-width // 36)
    assert cells["TRELLIS_DPR16X4"] == 0


@pytest.mark.synthesis
def test_ecp5_takes_lut_ram_even_where_a_register_follows(tmp_path: Path) -> None:
    top = """
    module top (input clk, input write, input [7:0] w, r, input [17:0] data,
                output reg [17:0] q);
        wire [17:0] word;
        rbdgen_ram_18x256 ram (.clk(clk), .write(write), .write_address(w), .data(data),
                               .read_address(r), .q(word));
        always @(posedge clk) q <= word;
    endmodule
    """
    (tmp_path / "top.v").write_text(top)
    (tmp_path / "ram.il").write_text(LutRam(18, 256).to_rtlil())
    cells = synth("ecp5", [tmp_path / "ram.il", tmp_path / "top.v"], "top", tmp_path / "top.json")
    assert cells["TRELLIS_DPR16X4"] == 256 // 16 * -(-18 // 4)
    assert cells["DP16KD"] == 0
