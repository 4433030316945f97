"""Carry chains as nextpnr likes them.

Yosys ties the first CIN of a chain to 0 and gives the last COUT a net, read or not. nextpnr takes
the one for a signal to be fed in and the other for one to be fed out, and spends a CCU2C on each.
"""

from __future__ import annotations

from typing import Any

from .tool import SynthesisError

OPEN = ["x"]  # how a netlist says that a pin is not connected; nextpnr wants every pin named


def trim_carries(module: dict[str, Any]) -> int:
    """Disconnect, in a module of a Yosys JSON netlist, carry ends that carry nothing.

    A COUT that nothing reads goes. A constant CIN goes where the first half of the cell makes its
    own carry whatever comes in (the multipliers of :mod:`rbdgen.rtl.multiplier` start so).

    Returns:
        The number of connections removed; each saves one CCU2C.
    """
    carries = [cell for cell in module["cells"].values() if cell["type"] == "CCU2C"]
    read = {
        bit
        for cell in module["cells"].values()
        for pin, bits in cell["connections"].items()
        if cell["port_directions"][pin] == "input"
        for bit in bits
    }
    read |= {bit for port in module["ports"].values() for bit in port["bits"]}
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
