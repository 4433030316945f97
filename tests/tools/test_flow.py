"""From Verilog to a placed design on the smallest part: a few products and a sum."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Cat, Module, Signal

from rbdgen.design.target import TARGETS, find_target
from rbdgen.rtl.arithmetic import NOT_SHARED
from rbdgen.rtl.multiplier import Multiplier
from rbdgen.rtl.multiplier_cells import emit_cells
from rbdgen.rtl.multiply_add import behaviours
from rbdgen.tools.nextpnr import Placement, place_and_route
from rbdgen.tools.report import Pace, SynthesisReport, Usage, synthesize
from rbdgen.tools.toolchain import SynthesisError, Tool, run_tool
from rbdgen.tools.yosys import Cells, count_ecp5, synth, synth_xilinx

UNIT = Multiplier(18, 18, 3)
TOP = """
module dot2 (input clk, input [71:0] x, output reg signed [36:0] y, output constant);
    wire signed [35:0] p, q;
    rbdgen_mul_18x18_l3 m0 (.clk(clk), .a(x[17:0]), .b(x[35:18]), .p(p));
    rbdgen_mul_18x18_l3 m1 (.clk(clk), .a(x[53:36]), .b(x[71:54]), .p(q));
    always @(posedge clk) y <= p + q;
    assign constant = 0;
endmodule
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dot2")
    (folder / "dot2.v").write_text(TOP)
    (folder / "multipliers.v").write_text(behaviours([UNIT]))
    (folder / "multipliers.il").write_text(emit_cells([UNIT], "ecp5"))
    return folder


@pytest.fixture(scope="module")
def report(folder: Path) -> SynthesisReport:
    sources = [folder / "dot2.v", folder / "multipliers.v", folder / "multipliers.il"]
    return synthesize(sources, "dot2", "ecp5-25f", folder / "out", speeds=(6, 8))


@pytest.mark.synthesis
@pytest.mark.slow
def test_cells_are_the_designs_own(report: SynthesisReport) -> None:
    assert report.cells == {"MULT18X18D": 2, "CCU2C": 19, "TRELLIS_FF": 37}
    assert report.usage["multipliers"] == Usage(2, 28)
    assert report.usage["LUT sites"] == Usage(38, 24288)
    assert report.fits


@pytest.mark.synthesis
@pytest.mark.slow
def test_placed_with_pins_around(report: SynthesisReport) -> None:
    # 72 inputs; 37 outputs that vary, then 10, 3 and 1 exclusive-ors
    assert report.pins_cells == {"TRELLIS_FF": 72 + 37 + 10 + 3 + 1, "LUT4": 14}
    slow, fast = report.placements
    assert (slow.speed, fast.speed) == (6, 8)
    assert 120 < slow.fmax < fast.fmax < 500
    for placement in (slow, fast):
        assert placement.used["MULT18X18D"] == 2
        assert placement.used["TRELLIS_FF"] == 37 + 123
        assert placement.used["TRELLIS_IO"] == 3
        assert placement.available["TRELLIS_COMB"] == find_target("ecp5-25f").luts
        delay = sum(step.delay for step in placement.critical_path)
        assert 1000 / placement.fmax == pytest.approx(delay, rel=0.01)


@pytest.mark.synthesis
@pytest.mark.slow
def test_report_is_written(report: SynthesisReport, folder: Path) -> None:
    written = json.loads((folder / "out" / "report.json").read_text())
    assert written["cells"]["MULT18X18D"] == 2
    assert [p["seed"] for p in written["placements"]] == [1, 1]
    best = report.best(8)
    assert best is not None
    assert f"{best.fmax:.1f} (seed 1) MHz" in (folder / "out" / "report.txt").read_text()


def test_clocks_of_several_seeds_and_time() -> None:
    """The median, least and best; µs and tasks a second follow from it."""

    def placed(seed: int, fmax: float) -> Placement:
        return Placement("ecp5-25f", 8, seed, fmax, {}, {}, {}, (), 1.0)

    made = SynthesisReport.of(TARGETS["ecp5-25f"], Cells("dot2", {}, 1.0))
    paces = {"id": Pace(90, 5)}
    three = tuple(placed(k + 1, fmax) for k, fmax in enumerate((150.0, 180.0, 160.0)))
    text = str(replace(made, placements=three, paces=paces))
    assert "median of 3 seeds 160.0 MHz, least 150.0, best 180.0" in text
    assert "id at the median: 0.56 µs a task, 32.0 M tasks/s" in text
    waits = {"id": Pace(90, 5, 98)}
    text = str(replace(made, placements=three, paces=waits))
    said = "0.56 µs a task, 0.61 µs at most with its wait, 32.0 M tasks/s"
    assert f"id at the median: {said}" in text
    text = str(replace(made, placements=three[:1], paces=paces))
    assert "median of" not in text
    assert "id at this clock (--seeds 3: the median): 0.60 µs a task, 30.0 M tasks/s" in text


@pytest.mark.synthesis
@pytest.mark.slow
def test_a_seed_repeats(report: SynthesisReport, folder: Path) -> None:
    again = place_and_route(folder / "out" / "dot2-pins.json", TARGETS["ecp5-25f"])
    assert again.critical_path == report.placements[0].critical_path
    assert again.floor == report.placements[0].floor
    assert again.floor is not None
    assert len({len(row) for row in again.floor.rows}) == 1
    assert {"control", "pins"} <= {*again.floor.regions.values()}


@pytest.mark.synthesis
@pytest.mark.slow
def test_other_placer_and_router(report: SynthesisReport, folder: Path) -> None:
    """Both are of use on large designs; a small one shows that they are asked."""
    other = place_and_route(
        folder / "out" / "dot2-pins.json", TARGETS["ecp5-25f"], placer="static", router="router2"
    )
    assert other.used == report.placements[0].used
    assert other.critical_path != report.placements[0].critical_path
    assert 100 < other.fmax < 500


@pytest.mark.synthesis
@pytest.mark.slow
@pytest.mark.parametrize("floorplanned", [True, False])
def test_blocks_have_their_sites_before(
    report: SynthesisReport, folder: Path, floorplanned: bool
) -> None:
    said: list[str] = []
    placed = place_and_route(
        folder / "out" / "dot2-pins.json",
        TARGETS["ecp5-25f"],
        floorplanned=floorplanned,
        progress=said.append,
    )
    assert ("2 multipliers and block RAMs have their sites" in said) == floorplanned
    assert placed.used == report.placements[0].used


@pytest.mark.synthesis
@pytest.mark.slow
def test_placed_on_gowin(folder: Path) -> None:
    """Multipliers, chains and registers of their own; a seed repeats; a grade must be there."""
    (folder / "gowin.il").write_text(emit_cells([UNIT], "gowin"))
    sources = [folder / "dot2.v", folder / "gowin.il"]
    found = synthesize(sources, "dot2", "gw2a-18", folder / "gowin", speeds=(8,), seeds=(1, 1))
    assert found.usage["multipliers"] == Usage(2, 48)
    # as of the ECP5, and the constant output, which a cell drives
    assert found.pins_cells == {"DFF": 72 + 38 + 10 + 3 + 1, "LUT4": 14, "IBUF": 2, "OBUF": 1}
    one, again = found.placements
    assert one.critical_path == again.critical_path
    assert one.fmax > 50  # nextpnr has no delays of the multipliers there
    part = find_target("gw2a-18")
    sites = ("LUT4", "DFF", "MULT18X18", "RAM16SDP4", "BSRAM")
    assert [one.available[site] for site in sites] == [
        *(part.luts, part.flip_flops, part.multipliers, part.lut_rams, part.block_rams)
    ]
    with pytest.raises(ValueError, match="speed grade 6: GW2A-18 is made in speed 8 alone"):
        place_and_route(folder / "gowin" / "dot2-pins.json", part, speed=6)
    with pytest.raises(SynthesisError, match=r"2 of 1 multipliers of GW2A-18: generate it with"):
        synthesize(sources, "dot2", replace(part, multipliers=1), folder / "no", speeds=(8,))


@pytest.mark.synthesis
@pytest.mark.slow
def test_placed_on_nexus(folder: Path) -> None:
    (folder / "nexus.il").write_text(emit_cells([UNIT], "nexus"))
    sources = [folder / "dot2.v", folder / "nexus.il"]
    found = synthesize(sources, "dot2", "lifcl-40", folder / "nexus", speeds=(9,))
    assert found.usage["multipliers"] == Usage(2, 56)
    (placed,) = found.placements
    assert placed.fmax > 100
    part = find_target("lifcl-40")
    sites = ("OXIDE_COMB", "OXIDE_FF", "MULT18_CORE", "RAMW", "OXIDE_EBR")
    assert [placed.available[site] for site in sites] == [
        *(part.luts, part.flip_flops, part.multipliers, part.lut_rams, part.block_rams)
    ]
    # a LUT for each constant, too
    luts = found.usage["LUT sites"].used + found.pins_cells["LUT4"] + 2
    assert placed.used["OXIDE_COMB"] == luts
    flip_flops = found.usage["flip-flops"].used + found.pins_cells["FD1P3IX"]
    assert placed.used["OXIDE_FF"] == flip_flops


@pytest.mark.synthesis
@pytest.mark.slow
def test_xilinx_counts(folder: Path) -> None:
    cells = synth_xilinx([folder / "dot2.v", folder / "multipliers.v"], "dot2")
    assert cells["DSP48E2"] == 2


@pytest.mark.synthesis
def test_equal_registers_are_shared_unless_marked(tmp_path: Path) -> None:
    m = Module()
    x, y = Signal(), Signal(4)
    for k, attrs in enumerate([NOT_SHARED, NOT_SHARED, {}, {}]):
        delay = Signal(2, name=f"delay_{k}", attrs=attrs)
        m.d.sync += delay.eq(Cat(x, delay))
        m.d.comb += y[k].eq(delay[1])
    source = tmp_path / "twins.il"
    source.write_text(rtlil.convert(m, name="twins", ports=[x, y], emit_src=False))
    cells = synth("ecp5", [source], "twins", tmp_path / "twins.json")
    assert cells.count == {"TRELLIS_FF": 4}  # the unmarked two went into one of the others


@pytest.mark.synthesis
def test_errors_are_the_tools_own(folder: Path) -> None:
    with pytest.raises(SynthesisError, match=r"Yosys: ERROR: .*nowhere"):
        synth("ecp5", [folder / "dot2.v"], "nowhere", folder / "nowhere.json")
    assert not (folder / "nowhere.json").exists()
    with pytest.raises(SynthesisError, match=r"no such source: .*absent\.v"):
        synth("ecp5", [folder / "absent.v"], "dot2", folder / "nowhere.json")


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match=r'pip install "rbdgen\[synthesis\]"'):
        run_tool(Tool("Yosys", "a_package_that_is_not", "run"), [], tmp_path)


def test_unknown_target() -> None:
    with pytest.raises(ValueError, match="there are ecp5-25f, ecp5-45f, ecp5-85f"):
        find_target("ice40")


PARTS = """
module twice_part(input clk, input signed [17:0] a, b, output reg signed [35:0] y);
  always @(posedge clk) y <= a * b;
endmodule
module twice(input clk, input signed [17:0] a, b, c, output signed [35:0] y, z, output reg w);
  twice_part one (.clk(clk), .a(a), .b(b), .y(y));
  twice_part other (.clk(clk), .a(a), .b(c), .y(z));
  always @(posedge clk) w <= a[0] & b[0] & c[0];
endmodule
"""


@pytest.mark.synthesis
@pytest.mark.slow
def test_modules_mapped_once_count_as_often_as_they_stand(tmp_path: Path) -> None:
    source = tmp_path / "twice.v"
    source.write_text(PARTS)
    xilinx = synth_xilinx([source], "twice")
    assert xilinx["DSP48E2"] == 2
    assert xilinx["FDRE"] == 2 * 36 + 1
    assert xilinx["LUT3"] == 1
    whole = synth("ecp5", [source], "twice", tmp_path / "twice.json")
    assert count_ecp5([source], "twice").count == whole.count
    assert whole["MULT18X18D"] == 2
    assert whole["TRELLIS_FF"] == 2 * 36 + 1
