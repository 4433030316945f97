"""Netlists with watched nets: cells as in Yosys' models, and toggles as a VCD counts them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.design.target import Ports
from rbdgen.system.records import NamedWord
from rbdgen.system.templates import data_folder
from rbdgen.tools.dump import read_vcd
from rbdgen.tools.model import Model
from rbdgen.tools.observed_netlist import (
    CARRIES,
    FLIP_FLOPS,
    LUT_RAMS,
    LUTS,
    OPERANDS,
    PRODUCTS,
    SUMS,
    WRITES,
    ObservedNetlist,
    observed,
)
from rbdgen.tools.toolchain import SimulationError
from rbdgen.tools.verilate import build
from rbdgen.tools.yosys import synth
from tests.support.cell_models import cell_models
from tests.tools.test_gate_level import models, to_verilog

CHAIN, WORDS = 40, 2000
PORTS = Ports.of([NamedWord("x", 16, signed=False)], [NamedWord("y", 17, signed=False)])
LATENCY = CHAIN + 5  # a word is always taken; ``y`` is what the cells made of it and others
STREAMS = """
module {name}(input clk, input rst, input [15:0] i__payload, input i__valid, output i__ready,
              output [16:0] o__payload, output o__valid, input o__ready);
  assign i__ready = 1;
  reg [{latency} - 1:0] there;
  always @(posedge clk) if (rst) there <= 0; else there <= {{there, i__valid}};
  assign o__valid = there[{latency} - 1];
  wire [15:0] x = i__payload;
  reg [16:0] y;
  assign o__payload = y;
{body}
endmodule
"""
CELLS = """
  reg [15:0] a, b;
  reg [17:0] product;
  reg held;
  reg [3:0] low;
  reg [3:0] at;
  reg [7:0] memory [0:15];
  (* keep *) reg [7:0] read;
  always @(posedge clk) begin
    if (rst) {a, at} <= {16'h5a5a, 4'h0}; else begin if (x[0]) a <= x; at <= at + 1; end
    b <= a - x;
    if (x[3]) memory[at] <= b[7:0];
    read <= memory[x[7:4]];
    product <= $signed(a[8:0]) * $signed(b[8:0]);
    if (!x[1]) low <= x[9:6];
    held <= x[5:2] == 3 ? a[x[13:10]] : ^b[12:4] & x[9];
    y <= product[16:0] + {read, held, b[7:0] ^ low};
  end
"""
REGISTERS = f"""
  reg [{CHAIN - 1}:0] chain;
  always @(posedge clk) {{y[0], chain}} <= {{chain, x[0]}};
"""


def mapped(folder: Path, body: str, name: str = "core") -> dict[str, Any]:
    (folder / "source.v").write_text(STREAMS.format(name=name, body=body, latency=LATENCY))
    synth("ecp5", [folder / "source.v"], name, folder / "netlist.json")
    module: dict[str, Any] = json.loads((folder / "netlist.json").read_text())["modules"][name]
    return module


def watched(folder: Path, netlist: ObservedNetlist) -> Model:
    (folder / "observed.v").write_text(netlist.text)
    cells = data_folder("sim") / "ecp5"
    sources = [folder / "observed.v", cells / "mult18x18d_sim.v", cells / "dp16kd_sim.v"]
    return build(sources, "core", ports=PORTS, observed=len(netlist.kinds))


@pytest.mark.rtl
@pytest.mark.synthesis
@pytest.mark.slow
def test_toggles_equal_a_dump_of_the_same_netlist(tmp_path: Path) -> None:
    """Each net of each kind, with Yosys' models of its cells in the dump; and every output word."""
    module = mapped(tmp_path, CELLS)
    netlist = observed(module, "core")
    kinds = {FLIP_FLOPS, LUTS, SUMS, CARRIES, LUT_RAMS, PRODUCTS, OPERANDS, WRITES}
    assert kinds <= set(netlist.kinds)
    cells = module["cells"].values()
    assert "PFUMX" in {cell["type"] for cell in cells}
    assert "INV" in {cell["parameters"].get("CEMUX") for cell in cells}
    words = np.random.default_rng(1).integers(0, 2**16, (WORDS, 1))
    run = watched(tmp_path, netlist).run(words, seed=5, settle=20)
    to_verilog(tmp_path, "core")
    sources = [tmp_path / "netlist.v", *models(tmp_path, "ecp5")]
    other = build(sources, "core", ports=PORTS, include_dirs=[cell_models()], trace=True)
    dumped = other.run(words, seed=5, waves=tmp_path / "waves.vcd")
    np.testing.assert_array_equal(run.outputs, dumped.outputs)
    assert run.toggles is not None
    # nets by one of their names in the dump, and the bit there
    of = {
        bit: (name, k)
        for name, net in sorted(module["netnames"].items())
        for k, bit in enumerate(net["bits"])
        if isinstance(bit, int) and "$" not in name and "[" not in name
    }
    names = {of[net][0] for net in netlist.nets if net in of}
    dump = read_vcd(tmp_path / "waves.vcd", "TOP/core/clk", [f"TOP/core/{n}" for n in names])
    counts, seen = run.toggles.count.sum(axis=0), Counter[str]()
    for kind, net, count in zip(netlist.kinds, netlist.nets, counts, strict=True):
        if net in of:
            name, k = of[net]
            values = dump[f"TOP/core/{name}"][4:] >> k & 1  # four cycles of reset come first
            assert np.abs(np.diff(values)).sum() == count, name
            seen[kind] += 1
    assert all(seen[kind] for kind in kinds - {OPERANDS, WRITES})


@pytest.mark.rtl
@pytest.mark.synthesis
def test_a_chain_of_registers_toggles_once_for_each(tmp_path: Path) -> None:
    """A signal that changes in each cycle changes each register of a chain in each; none at rest,
    where it stays."""
    netlist = observed(mapped(tmp_path, REGISTERS), "core")
    kinds = np.array(netlist.kinds)
    words = (np.arange(300) % 2)[:, None]
    run = watched(tmp_path, netlist).run(words, settle=100, drain=150)
    assert run.toggles is not None
    moving, resting = run.toggles.count[1], run.toggles.count[3]
    assert sum(netlist.flip_flops.values()) == CHAIN + 1 + LATENCY  # y[0] is the last of the chain
    # of the registers that say when a result comes none changes at full rate
    assert moving[kinds == FLIP_FLOPS].sum() == (CHAIN + 1) * run.toggles.cycles[1]
    assert not resting.any()


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ({"type": "EHXPLLL"}, "no model of a cell 'EHXPLLL'"),
        ({"type": "TRELLIS_FF", "parameters": {"SRMODE": "ASYNC"}}, "SRMODE 'ASYNC' is not"),
        ({"type": "CCU2C", "parameters": {"INJECT1_0": "YES"}}, "INJECT1_0 'YES' is not"),
        ({"type": "LUT4", "parameters": {"INIT": "); $finish"}}, r"no name or value.*\$finish"),
        ({"type": "MULT18X18D", "parameters": {"A)": "1"}}, r"no name or value.*A\)"),
    ],
)
def test_other_cells_are_refused(cell: dict[str, Any], message: str) -> None:
    whole = {"parameters": {}, "connections": {"Z": [2]}, "port_directions": {}, **cell}
    with pytest.raises(SimulationError, match=message):
        observed({"ports": {}, "cells": {"a": whole}}, "core")


@pytest.mark.parametrize(
    ("port", "message"),
    [
        (("a", "inout"), "no port of direction 'inout'"),
        (("a", 'input wire x); initial $system("…"); endmodule'), "no port of direction 'input w"),
        (("a b", "input"), "no name or value.*'a b'"),
    ],
)
def test_other_ports_are_refused(port: tuple[str, str], message: str) -> None:
    name, direction = port
    with pytest.raises(SimulationError, match=message):
        observed({"ports": {name: {"direction": direction, "bits": [2]}}, "cells": {}}, "core")
