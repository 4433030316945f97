"""A mapped netlist of an ECP5 as Verilog whose nets can be watched: one more port has them all.

LUTs and carries become expressions, registers words and LUT-RAMs memories of up to 32 bits:
instances of Yosys' models would take a C++ compiler ten times as long. Multipliers and block RAMs
are instances of the models in ``sim/ecp5``. What has no net of its own is a bit that changes each
time: a write of a LUT-RAM, a clock of a block RAM. Operands are those that a multiplier multiplies,
behind its input registers.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from .toolchain import SimulationError

PORT = "rbdgen_nets"
FLIP_FLOPS, LUTS, SUMS, CARRIES = "flip-flops", "LUTs", "sums", "carries"
LUT_RAMS, WRITES = "LUT-RAM outputs", "LUT-RAM writes"
PRODUCTS, OPERANDS = "products", "operands"
BLOCK_RAMS, CLOCKS = "block RAM outputs", "block RAM clocks"
TOP = "control"  # the region of what stands in no module
WORD = 32

Cell = Mapping[str, Any]  # as Yosys writes it in JSON
Placed = tuple[str, Cell]  # with its region
_NAME, _BITS, _TEXT = re.compile(r"[A-Za-z_]\w*"), re.compile(r"[01xz]+"), re.compile(r"[\w.]* ?")
_CONSTANT = {"0": "1'b0", "1": "1'b1", "x": "1'b0", "z": "1'b0"}
_OUTPUTS = {"MULT18X18D": (r"P(\d+)", PRODUCTS), "DP16KD": (r"DO[AB](\d+)", BLOCK_RAMS)}
# Modes of cells that are written as expressions; all others are refused.
_MODES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "TRELLIS_FF": {
        "GSR": ("DISABLED",),
        "CLKMUX": ("CLK",),
        "LSRMUX": ("LSR",),
        "SRMODE": ("LSR_OVER_CE",),
        "CEMUX": ("1", "CE", "INV"),
        "REGSET": ("SET", "RESET"),
    },
    "CCU2C": {"INJECT1_0": ("NO",), "INJECT1_1": ("NO",)},
    "TRELLIS_DPR16X4": {"WCKMUX": ("WCK",), "WREMUX": ("WRE",)},
    "LUT4": {},
    "PFUMX": {},
    "L6MUX21": {},
}
_INITIAL = ("INIT", "INIT0", "INIT1", "INITVAL")


@dataclass(frozen=True)
class ObservedNetlist:
    """``text``: Verilog. ``kinds`` and ``regions`` of the bits of `PORT`; ``nets``: their numbers
    in the netlist, None of those that are none. ``flip_flops`` by region; ``cells``: how many."""

    text: str
    kinds: Sequence[str]
    regions: Sequence[str]
    nets: Sequence[int | None]
    flip_flops: Mapping[str, int]
    cells: int


def region_of(cell: str) -> str:
    """The module in the top that a flattened cell's name begins with."""
    first, found, _ = cell.partition(".")
    return first if found else TOP


def observed(module: Mapping[str, Any], name: str) -> ObservedNetlist:
    """A module of a netlist as Yosys writes it in JSON, which is called ``name``.

    Raises SimulationError for a cell, a mode or a name that no netlist of ours has.
    """
    of: dict[str, list[Placed]] = {kind: [] for kind in (*_MODES, *_OUTPUTS)}
    for cell_name, cell in sorted(module["cells"].items()):
        if cell["type"] in of:
            _check_modes(cell)
            of[cell["type"]].append((region_of(cell_name), cell))
        elif cell["type"] != "$scopeinfo":
            raise SimulationError(f"netlist: no model of a cell {cell['type']!r:.40}")
    own = _Writer()
    ports = []
    for key, port in module["ports"].items():
        if port["direction"] not in ("input", "output"):
            raise SimulationError(f"netlist: no port of direction {port['direction']!r:.40}")
        ports.append(f"{port['direction']} wire [{len(port['bits']) - 1}:0] {_named(_NAME, key)}")
        if port["direction"] == "input":
            own.name |= {bit: f"{key}[{k}]" for k, bit in enumerate(port["bits"])}
    # registers and memories name the bits that the others read
    words = [own.words(of["TRELLIS_FF"], _register_inputs, "Q", FLIP_FLOPS, "q")]
    words += [own.words(of["TRELLIS_DPR16X4"], _memory_inputs, "DO", LUT_RAMS, "o")]
    for inputs, found, cells in words[0]:
        own.lines.append(_registers(own, inputs, found, cells))
    for inputs, found, cells in words[1]:
        own.lines.append(_memories(own, inputs, found, cells))
    for kind, write in (("LUT4", _lut), ("PFUMX", _mux), ("L6MUX21", _mux), ("CCU2C", _carry)):
        for region, cell in of[kind]:
            own.lines += write(own, region, cell)
    for kind, (pattern, what) in _OUTPUTS.items():
        for region, cell in of[kind]:
            own.lines.append(_instance(own, region, cell, pattern, what))
    own.lines += [
        f"assign {key} = {_joined(own.bit(bit) for bit in port['bits'])};"
        for key, port in module["ports"].items()
        if port["direction"] == "output"
    ]
    ports.append(f"output wire [{max(len(own.watched), 1) - 1}:0] {PORT}")
    text = [f"module {_named(_NAME, name)} ({', '.join(ports)});"]
    text += [f"wire {net};" for net in own.wires]
    for at in range(0, len(own.watched), WORD):
        bits = own.watched[at : at + WORD]
        own.lines.append(f"assign {PORT}[{at + len(bits) - 1}:{at}] = {_joined(bits)};")
    text += [*own.lines, "endmodule\n"]
    flip_flops = Counter(region for region, _ in of["TRELLIS_FF"])
    total = sum(len(cells) for cells in of.values())
    return ObservedNetlist("\n".join(text), own.kinds, own.regions, own.nets, flip_flops, total)


Word = tuple[tuple[str, ...], str, list[Placed]]  # common inputs, its name, its cells


class _Writer:
    """Collects lines, the names of nets, and the bits that are watched."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.wires: dict[str, None] = {}
        self.name: dict[int, str] = {}  # net → what it is called, if not by its number
        self.watched: list[str] = []
        self.kinds: list[str] = []
        self.regions: list[str] = []
        self.nets: list[int | None] = []
        self._made = count()

    def bit(self, bit: int | str) -> str:
        """The name of a net, or a constant."""
        if not isinstance(bit, int):
            if bit not in _CONSTANT:
                raise SimulationError(f"netlist: no bit {bit!r:.40}")
            return _CONSTANT[bit]
        if bit in self.name:
            return self.name[bit]
        self.wires[f"n{bit}"] = None
        return f"n{bit}"

    def pin(self, cell: Cell, pin: str) -> str:
        """The name of the net at an input of one bit; 0 where it is not connected."""
        return self.bit((cell["connections"].get(pin) or "0")[0])

    def watch(self, expression: str, kind: str, region: str, net: int | None = None) -> None:
        self.watched.append(expression)
        self.kinds.append(kind)
        self.regions.append(region)
        self.nets.append(net)

    def drive(self, cell: Cell, pin: str, kind: str, region: str, value: str) -> list[str]:
        """The net at an output is ``value``, and watched; nothing where there is no net."""
        (net,) = cell["connections"].get(pin) or ["x"]
        if not isinstance(net, int):
            return []
        self.watch(self.bit(net), kind, region, net)
        return [f"assign {self.bit(net)} = {value};"]

    def words(
        self, cells: Sequence[Placed], inputs: Any, output: str, kind: str, letter: str
    ) -> list[Word]:
        """Cells with equal ``inputs`` together, in words whose bits their outputs are named by."""
        groups: dict[Any, list[Placed]] = defaultdict(list)
        for region, cell in cells:
            groups[inputs(cell)].append((region, cell))
        found: list[Word] = []
        for key, members in groups.items():
            most = WORD // len(members[0][1]["connections"][output])
            for at in range(0, len(members), most):
                name, part = f"{letter}{next(self._made)}", members[at : at + most]
                found.append((key, name, part))
                bits = [(r, bit) for r, cell in part for bit in cell["connections"][output]]
                for k, (region, bit) in enumerate(bits):
                    if isinstance(bit, int):
                        self.name[bit] = f"{name}[{k}]"
                        self.watch(self.name[bit], kind, region, bit)
        return found


def _register_inputs(cell: Cell) -> tuple[Any, ...]:
    """Clock, enable with its mode (1: always), and reset."""
    pins, mode = cell["connections"], _mode(cell, "CEMUX")
    enable = None if mode == "1" else pins["CE"][0]
    return pins["CLK"][0], (mode, enable), pins.get("LSR", ["0"])[0]


def _registers(own: _Writer, inputs: Any, name: str, cells: list[Placed]) -> str:
    clock, (mode, enable), reset = inputs
    initial = [_CONSTANT["1" if _mode(cell, "REGSET") == "SET" else "0"] for _, cell in cells]
    data = _joined(own.pin(cell, "DI") for _, cell in cells)
    to = f"{name} <= {data};"
    if enable is not None:
        to = f"if ({'!' if mode == 'INV' else ''}{own.bit(enable)}) {to}"
    if reset != "0":
        to = f"if ({own.bit(reset)}) {name} <= {_joined(initial)}; else {to}"
    return (
        f"reg [{len(cells) - 1}:0] {name} = {_joined(initial)};\n"
        f"always @(posedge {own.bit(clock)}) {to}"
    )


def _memory_inputs(cell: Cell) -> tuple[Any, ...]:
    """Clock, enable of writes, addresses to write and to read."""
    pins = cell["connections"]
    return pins["WCK"][0], pins["WRE"][0], tuple(pins["WAD"]), tuple(pins["RAD"])


def _memories(own: _Writer, inputs: Any, name: str, cells: list[Placed]) -> str:
    clock, enable, *addresses = inputs
    write, read = (_joined(map(own.bit, address)) for address in addresses)
    width = 4 * len(cells)
    data = _joined(own.bit(bit) for _, cell in cells for bit in cell["connections"]["DI"])
    for region, _ in cells:
        own.watch(f"w{name}", WRITES, region)
    return (
        f"reg [{width - 1}:0] m{name} [0:15]; reg w{name} = 0; wire [{width - 1}:0] {name};\n"
        f"integer i{name}; initial for (i{name} = 0; i{name} < 16; i{name} = i{name} + 1) "
        f"m{name}[i{name}] = 0;\n"
        f"always @(posedge {own.bit(clock)}) if ({own.bit(enable)}) begin "
        f"m{name}[{write}] <= {data}; w{name} <= !w{name}; end\n"
        f"assign {name} = m{name}[{read}];"
    )


def _lut(own: _Writer, region: str, cell: Cell) -> list[str]:
    """The net that a LUT drives."""
    return own.drive(cell, "Z", LUTS, region, _table(own, cell, "INIT", "ABCD"))


def _table(own: _Writer, cell: Cell, table: str, pins: Iterable[str]) -> str:
    """The entry of a table that inputs select."""
    entries = int(_named(_BITS, cell["parameters"][table]), 2)
    return f"1'(16'h{entries:04x} >> {_joined(own.pin(cell, pin) for pin in pins)})"


def _mux(own: _Writer, region: str, cell: Cell) -> list[str]:
    """The net behind a multiplexer that joins LUTs."""
    select, one, zero = ("C0", "ALUT", "BLUT") if cell["type"] == "PFUMX" else ("SD", "D1", "D0")
    chosen = f"{own.pin(cell, select)} ? {own.pin(cell, one)} : {own.pin(cell, zero)}"
    return own.drive(cell, "Z", LUTS, region, chosen)


def _carry(own: _Writer, region: str, cell: Cell) -> list[str]:
    """Two bits: each sum is a LUT's output ⊕ the carry, which goes on where the LUT gives 1 and is
    else what the table's first four entries make of A and B."""
    name, carry = f"c{next(own._made)}", own.pin(cell, "CIN")
    found = [f"wire [3:0] {name};"]  # a LUT and a carry of each bit
    for k in "01":
        lut, out = f"{name}[{2 * int(k)}]", f"{name}[{2 * int(k) + 1}]"
        made = _table(own, cell, f"INIT{k}", [f"{pin}{k}" for pin in "ABCD"])
        ahead = int(cell["parameters"][f"INIT{k}"], 2) & 15
        below = f"1'(4'h{ahead:x} >> {_joined(own.pin(cell, pin + k) for pin in 'AB')})"
        found += [f"assign {lut} = {made};", f"assign {out} = {lut} ? {carry} : {below};"]
        found += own.drive(cell, f"S{k}", SUMS, region, f"{lut} ^ {carry}")
        carry = out
    return found + own.drive(cell, "COUT", CARRIES, region, carry)


def _instance(own: _Writer, region: str, cell: Cell, pattern: str, kind: str) -> str:
    """A multiplier or a block RAM, with what is watched in it."""
    name, pins, lines = f"u{next(own._made)}", cell["connections"], []
    for pin in sorted(pin for pin in pins if re.fullmatch(pattern, pin)):
        if isinstance(pins[pin][0], int):
            own.watch(own.pin(cell, pin), kind, region, pins[pin][0])
    if cell["type"] == "MULT18X18D":
        for k in range(36):
            own.watch(f"{name}.{'ab'[k // 18]}1[{k % 18}]", OPERANDS, region)
    else:
        for side in "AB":
            clock = pins.get(f"CLK{side}", ["x"])[0]
            if isinstance(clock, int):
                bit, enable = f"t{name}{side}", own.pin(cell, f"CE{side}")
                lines.append(
                    f"reg {bit} = 0;\nalways @(posedge {own.bit(clock)}) {bit} <= {bit} ^ {enable};"
                )
                own.watch(bit, CLOCKS, region)
    parameters = ", ".join(
        f".{_named(_NAME, key)}({_value(value)})"
        for key, value in sorted(cell["parameters"].items())
    )
    connected = ", ".join(
        f".{_named(_NAME, pin)}({own.pin(cell, pin)})"
        for pin, bits in sorted(pins.items())
        if not (bits == ["x"] and cell["port_directions"][pin] == "output")
    )
    return "\n".join([f"{cell['type']} #({parameters}) {name} ({connected});", *lines])


def _check_modes(cell: Cell) -> None:
    for key in cell["parameters"] if cell["type"] in _MODES else ():
        known = _MODES[cell["type"]].get(key, ())
        if key not in _INITIAL and _mode(cell, key) not in known:
            raise SimulationError(
                f"netlist: {cell['type']}: {key} {_mode(cell, key)!r:.40} is not modelled"
            )
    if int(cell["parameters"].get("INITVAL", "0").replace("x", "0"), 2):
        raise SimulationError(f"netlist: {cell['type']}: INITVAL is not modelled")


def _mode(cell: Cell, key: str) -> str:
    return str(cell["parameters"][key]).rstrip()


def _value(value: str) -> str:
    """A parameter: Yosys writes numbers in binary, and texts that look so with a blank behind."""
    if _BITS.fullmatch(value):
        return f"{len(value)}'b{value}"
    return f'"{_named(_TEXT, value).rstrip()}"'


def _joined(bits: Iterable[str]) -> str:
    """Bits, the lowest first, as a word."""
    return f"{{{', '.join([*bits][::-1])}}}"


def _named(pattern: re.Pattern[str], text: str) -> str:
    if not pattern.fullmatch(text):
        raise SimulationError(f"netlist: no name or value of a cell: {text!r:.40}")
    return text
