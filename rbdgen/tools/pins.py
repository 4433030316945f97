"""A design with more ports than the part has pins, placed all the same.

:func:`add_pins` edits a mapped netlist: every input comes from a stage of one long shift register,
every output goes through a flip-flop into a tree of registered exclusive-ors. Three pins remain.
Every port so keeps a flip-flop next to it, and the paths measured are the design's own; nothing of
it is shared with or optimised into its surroundings, which are counted apart: one flip-flop per
input bit, about 4/3 flip-flops and 1/3 LUT4 per output bit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cells import FAMILIES, Cell, Family
from .toolchain import SynthesisError
from .yosys import Cells, write_json

FAN_IN = 4  # inputs of one LUT4

Bit = int | str  # a net's number, or a constant "0", "1", "x"


def add_pins(
    netlist: Path, top: str, out_json: Path, *, clock: str = "clk", family: str = "ecp5"
) -> Cells:
    """Write ``netlist`` with three pins (the clock, ``feed``, ``seen``) in place of its ports.

    Args:
        netlist: of :func:`rbdgen.tools.yosys.synth`, one flat module ``top``.
        clock: the port that is the clock.

    Returns:
        The cells that were added, the design's own not among them.

    Raises:
        SynthesisError: no such module or clock, or no other input or output.
    """
    document = json.loads(netlist.read_text("utf-8"))
    if top not in document["modules"]:
        raise SynthesisError(f"{netlist.name} has no module {top!r}")
    module = document["modules"][top]
    ports = module["ports"]
    if clock not in ports:
        raise SynthesisError(f"{top} has no clock {clock!r}")

    inputs = _bits(ports, "input", leave_out=clock)
    outputs = [bit for bit in _bits(ports, "output") if isinstance(bit, int)]
    if not inputs or not outputs:
        raise SynthesisError(f"{top} has no input or no output beside its clock")

    shell = _Shell(module, ports[clock]["bits"][0], FAMILIES[family])
    source: Bit = shell.net()
    pins: dict[str, Bit] = {clock: shell.clock, "feed": source}
    pins = {name: shell.buffered_input(bit) for name, bit in pins.items()}
    for bit in inputs:
        shell.flip_flop(source, bit)
        source = bit
    level = [shell.flip_flop(bit, shell.net()) for bit in outputs]
    while len(level) > 1:
        groups = [level[n : n + FAN_IN] for n in range(0, len(level), FAN_IN)]
        level = [shell.flip_flop(shell.parity(group), shell.net()) for group in groups]

    module["ports"] = {
        **{name: {"direction": "input", "bits": [bit]} for name, bit in pins.items()},
        "seen": {"direction": "output", "bits": [shell.buffered_output(level[0])]},
    }
    write_json(document, out_json)
    return Cells(top, shell.count, 0.0)


def _bits(ports: dict[str, Any], direction: str, leave_out: str = "") -> list[Bit]:
    """All bits of the ports of one direction."""
    return [
        bit
        for name, port in ports.items()
        if port["direction"] == direction and name != leave_out
        for bit in port["bits"]
    ]


@dataclass
class _Shell:
    """Adds cells to a module of a Yosys JSON netlist."""

    module: dict[str, Any]
    clock: Bit
    family: Family

    def __post_init__(self) -> None:
        used = {
            bit
            for group in ("cells", "netnames")
            for item in self.module[group].values()
            for bits in (item["connections"].values() if group == "cells" else [item["bits"]])
            for bit in bits
            if isinstance(bit, int)
        }
        self._next = max(used, default=1) + 1
        self.count: dict[str, int] = {}
        self.constants: dict[Bit, Bit] = {}

    def net(self) -> int:
        """A new net."""
        number = self._next
        self._next += 1
        self.module["netnames"][f"pins.{number}"] = {
            "hide_name": 1,
            "bits": [number],
            "attributes": {},
        }
        return number

    def flip_flop(self, d: Bit, q: Bit) -> Bit:
        """``q``, driven one cycle after ``d``."""
        return self._cell(self.family.flip_flop, [self.clock, d], q)

    def parity(self, bits: list[Bit]) -> Bit:
        """A new net, the exclusive-or of up to four bits."""
        return self._cell(self.family.parity, [*bits, *"000"][:FAN_IN], self.net())

    def buffered_input(self, bit: Bit) -> Bit:
        """The pin that drives ``bit``."""
        if self.family.buffers is None:
            return bit
        pin = self.net()
        self._cell(self.family.buffers[0], [pin], bit)
        return pin

    def buffered_output(self, bit: Bit) -> Bit:
        """The pin that ``bit`` drives."""
        if self.family.buffers is None:
            return bit
        return self._cell(self.family.buffers[1], [bit], self.net())

    def _constant(self, bit: Bit) -> Bit:
        """The bit; or a net of its value, where the family has cells for constants."""
        if bit not in self.family.constants:
            return bit
        if bit not in self.constants:
            self.constants[bit] = self._cell(self.family.constants[str(bit)], [], self.net())
        return self.constants[bit]

    def _cell(self, cell: Cell, inputs: list[Bit], output: Bit) -> Bit:
        """One more cell; its output."""
        number = self.count[cell.kind] = self.count.get(cell.kind, 0) + 1
        given: dict[str, Bit] = dict(zip(cell.inputs, inputs, strict=True)) | dict(cell.tied)
        given = {pin: self._constant(bit) for pin, bit in given.items()}
        self.module["cells"][f"pins.{cell.kind}.{number}"] = {
            "hide_name": 1,
            "type": cell.kind,
            "parameters": dict(cell.parameters),
            "attributes": {},
            "port_directions": dict.fromkeys(given, "input") | {cell.output: "output"},
            "connections": {pin: [bit] for pin, bit in (given | {cell.output: output}).items()},
        }
        return output
