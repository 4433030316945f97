"""The longest path of a mapped ECP5 netlist, by the delays of its cells, before it is placed.

Arrival times go through the logic between registers, multipliers and memories in one pass (static
timing analysis). Wires are not known yet: each connection that leaves its slice is a hop, and all
hops are as long. Carries, the multiplexers that join LUTs, and a register behind its LUT are
reached within a slice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ..design.clock import FAMILY, NETLIST, ROOT, ClockEstimate, clock_estimates
from ..design.least_squares import Terms
from ..design.target import Target
from ..system.records import Record
from .toolchain import Module, read_netlist

Bit = int  # a net of the netlist, by its number there
# ns of a wire, for the choice of the longest path alone, about what routed ones take; and of one
# from or to a block: multipliers and block RAMs stand in columns of their own.
HOP, FAR = 0.7, 1.2
BLOCKS = ("MULT18X18D", "DP16KD")
NAMES = {
    "logic": "ns of the cells on the longest path, clock-to-output and setup with them",
    "hops": "connections on it that leave their slice",
    "far": "those of them from or to a multiplier or a block RAM",
    "hops by cells": "the same, times the root of the netlist's cells",
    ROOT: "the root of the netlist's cells",
}
# ns at speed 8, as nextpnr's own SDF of a placed design has them: from an input to an output.
_A, _B = (tuple(f"{pin}{half}" for pin in "ABCD") for half in (0, 1))
_LUT = tuple("ABCD")
Arc = tuple[Sequence[str], str, float]
ARCS: Mapping[str, tuple[Arc, ...]] = {
    "LUT4": ((_LUT, "Z", 0.18),),
    "PFUMX": ((("ALUT", "BLUT"), "Z", 0.126), (("C0",), "Z", 0.193)),
    "L6MUX21": ((("D0", "D1"), "Z", 0.126), (("SD",), "Z", 0.193)),
    "CCU2C": (
        (_A, "S0", 0.18),
        (_A, "S1", 0.683),
        (_A, "COUT", 0.411),
        (_B, "S1", 0.18),
        (_B, "COUT", 0.411),
        (("CIN",), "S0", 0.293),
        (("CIN",), "S1", 0.328),
        (("CIN",), "COUT", 0.056),
    ),
    "TRELLIS_DPR16X4": ((("RAD",), "DO", 0.18),),
}
# From the clock to outputs, and from inputs to the clock where that is not 0. A block RAM without
# its output register takes far longer.
LAUNCH = {"TRELLIS_FF": 0.395, "MULT18X18D": 0.578, "DP16KD": 0.738}
UNREGISTERED = 4.4
CAPTURE = {"MULT18X18D": 0.042, "DP16KD": 0.174, "TRELLIS_FF": 0.0, "TRELLIS_DPR16X4": 0.0}
CONTROLS = {
    ("TRELLIS_FF", "LSR"): 0.287,
    ("MULT18X18D", "CE0"): 0.21,
    ("TRELLIS_DPR16X4", "WRE"): 0.266,
}
# Connections within a slice: the driver's kind, and the reader's with its pins.
_SLICE = {"LUT4", "PFUMX", "L6MUX21", "CCU2C"}
_INSIDE = {
    "PFUMX": ({"LUT4"}, {"ALUT", "BLUT"}),
    "L6MUX21": ({"PFUMX", "L6MUX21"}, {"D0", "D1"}),
    "CCU2C": ({"CCU2C"}, {"CIN"}),
    "TRELLIS_FF": (_SLICE, {"DI"}),
}


@dataclass(frozen=True)
class LongestPath(Record):
    """A path: ns of its cells, hops of its wires, those of them from or to blocks (``far``), and
    the cells at its ends; ``cells`` of the netlist."""

    logic: float
    hops: int
    far: int
    begins: str
    ends: str
    cells: int

    @property
    def terms(self) -> Terms:
        """The value of each of ``NAMES``."""
        root = self.cells**0.5
        return {
            "logic": self.logic,
            "hops": float(self.hops),
            "far": float(self.far),
            "hops by cells": self.hops * root,
            ROOT: root,
        }

    def __str__(self) -> str:
        return (
            f"{self.begins} to {self.ends}: {self.logic:.2f} ns of logic and {self.hops} "
            "connections between slices"
        )


@dataclass(frozen=True)
class _Arrival:
    """When a net changes last after the clock: as `LongestPath` has it; ``giver`` drives it."""

    logic: float
    begins: str
    giver: str
    hops: int = 0
    far: int = 0

    @property
    def time(self) -> float:
        return self.logic + HOP * self.hops + (FAR - HOP) * self.far

    def through(self, reader: str, pin: str, delay: float) -> _Arrival:
        """The arrival behind a connection to a reader's pin, and so many ns in the reader."""
        givers, pins = _INSIDE.get(reader, ((), ()))
        hop = not (self.giver in givers and pin in pins)
        far = hop and (self.giver in BLOCKS or reader in BLOCKS)
        return _Arrival(self.logic + delay, self.begins, reader, self.hops + hop, self.far + far)


def netlist_clocks(
    part: Target, netlist: Path, top: str
) -> tuple[LongestPath | None, tuple[ClockEstimate, ...]]:
    """The longest path of a flat netlist, and the clock that is expected of it at each speed grade;
    none of a family whose delays are not known."""
    if part.family != FAMILY:
        return None, ()
    path = longest_path(netlist, top)
    return path, clock_estimates(part, NETLIST, path.terms)


def longest_path(netlist: Path, top: str) -> LongestPath:
    """The longest path of a flat netlist, JSON of Yosys; SynthesisError for what is none."""
    return read_netlist(netlist, top, longest_of)


def longest_of(module: Module) -> LongestPath:
    """The same of a module of it; LookupError where no path ends in a register or a block."""
    cells = module["cells"]
    driven: set[Bit] = set()
    arrivals: dict[Bit, _Arrival] = {}
    waiting: Counter[str] = Counter()  # operands of logic that have not come yet
    readers: dict[Bit, list[str]] = {}
    for name, cell in cells.items():
        kind = cell["type"]
        for pin, bits in cell["connections"].items():
            for bit in (b for b in bits if isinstance(b, int)):
                if cell["port_directions"][pin] == "output":
                    driven.add(bit)
                    if kind in LAUNCH:
                        arrivals[bit] = _Arrival(_launched(cell, pin), name, kind)
                elif kind in ARCS and _in_logic(kind, pin):
                    waiting[name] += 1
                    readers.setdefault(bit, []).append(name)
    # ports of the module launch nothing: a task's words go straight into registers
    outside = {bit for bit in readers if bit not in driven}
    ready = [name for name in cells if cells[name]["type"] in ARCS and not waiting[name]]
    for bit in chain(arrivals, outside):
        ready += _came(bit, readers, waiting)
    while ready:
        name = ready.pop()
        for bit in _passed(cells[name], arrivals):
            ready += _came(bit, readers, waiting)
    ends = [
        (found, name)
        for name, cell in cells.items()
        if cell["type"] in CAPTURE
        for found in _captured(cell, arrivals)
    ]
    if not ends:
        raise LookupError("no path from a register or a block to another")
    found, end = max(ends, key=lambda own: own[0].time)
    logic = round(found.logic, 3)
    return LongestPath(logic, found.hops, found.far, found.begins, end, len(cells))


def _launched(cell: Module, pin: str) -> float:
    """ns from the clock to an output."""
    kind = cell["type"]
    if kind == "DP16KD" and pin.startswith("DO"):
        mode = cell["parameters"].get(f"REGMODE_{pin[2]}")
        return LAUNCH[kind] if mode == "OUTREG" else UNREGISTERED
    return LAUNCH[kind]


def _in_logic(kind: str, pin: str) -> bool:
    """Whether an input goes through the cell; the write port of a memory does not."""
    return kind != "TRELLIS_DPR16X4" or pin == "RAD"


def _came(bit: Bit, readers: Mapping[Bit, Sequence[str]], waiting: Counter[str]) -> list[str]:
    """The cells whose operands are all there, now that a net is."""
    ready = []
    for name in readers.get(bit, ()):
        waiting[name] -= 1
        if not waiting[name]:
            ready.append(name)
    return ready


def _passed(cell: Module, arrivals: dict[Bit, _Arrival]) -> list[Bit]:
    """Put the arrivals of a cell's outputs where they belong, and say which nets those are."""
    kind, pins = cell["type"], cell["connections"]
    outputs: dict[str, list[_Arrival]] = {}
    for inputs, output, delay in ARCS[kind]:
        for pin in inputs:
            for bit in pins.get(pin, ()):
                if own := arrivals.get(bit):
                    outputs.setdefault(output, []).append(own.through(kind, pin, delay))
    done = []
    for pin, bits in pins.items():
        if cell["port_directions"][pin] != "output":
            continue
        for bit in (b for b in bits if isinstance(b, int)):
            if pin in outputs:
                arrivals[bit] = max(outputs[pin], key=lambda own: own.time)
            done.append(bit)
    return done


def _captured(cell: Module, arrivals: Mapping[Bit, _Arrival]) -> list[_Arrival]:
    """The arrivals at the inputs that a cell stores."""
    kind = cell["type"]
    return [
        own.through(kind, pin, CONTROLS.get((kind, pin), CAPTURE[kind]))
        for pin, bits in cell["connections"].items()
        if cell["port_directions"][pin] == "input" and pin != "RAD"
        for bit in bits
        if (own := arrivals.get(bit))
    ]
