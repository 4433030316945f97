"""Block RAMs with their output registers on.

Yosys leaves an ECP5 block RAM's own output register unused and puts flip-flops behind it: data
then takes most of a 150 MHz cycle to come out (5.8 ns at speed 6).
"""

from __future__ import annotations

from typing import Any

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
