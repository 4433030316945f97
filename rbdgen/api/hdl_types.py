"""The types of a design's tasks and results, as packages of SystemVerilog and of VHDL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..design.coordinates import Field
from ..design.facts import FunctionFacts
from ..design.manifest import HardwareManifest, PortField, RegisterFacts
from ..graph.word import kind_of, spell
from ..shell.emit import LONG, Off, verilog_file
from ..shell.task_packets import Status
from ..system.records import WORD_BITS
from ..system.templates import render
from ..tasks.routes import UNREAD

ROW = 80  # bits in a line of VHDL
SIDES = "task", "result"
RESERVED = {"function": "code"}  # words of both languages
# Of a packet's first word: its field → that word, how many of its bits, and the first of them. A
# status of 1 says that a value in the result overflowed.
HEADER = {"function": (0, 8, 0), "overflow": (0, 8, 8), "tag": (0, 16, 16)}
# The first word's fields of each side, the highest bits first.
HEADER_WORDS = {
    "task": (("tag", 16), ("options", 8), ("code", 8)),
    "result": (("tag", 16), ("status", 8), ("code", 8)),
}
ASCII = {"·": "*", "²": "^2", "³": "^3", "⁴": "^4"}
OFF = (
    LONG,
    Off("few read every fraction", "UNUSED", "unused-package-parameter unused-package-typedef"),
    Off("a constant has the name of its function and its field", verible="parameter-name-style"),
)


@dataclass(frozen=True)
class HdlField:
    """A field of a packed type: bits ``low`` to ``high`` of the payload.

    ``name``: an identifier of both languages; ``word``: the manifest's, as ``qdd[2]``; ``used``:
    the bits that its values need, None where nothing reads or writes them; ``of``, ``unit``: ""
    where there is none; ``example``: its word in an example; ``packet``: its word of 32 bits in a
    packet, and how many bits of it, from which on; None where it is in none.
    """

    name: str
    word: str
    low: int
    width: int
    signed: bool
    fraction: int
    used: int | None
    of: str
    unit: str
    example: int
    packet: tuple[int, int, int] | None

    @property
    def packet_bits(self) -> str:
        """``word 3``, or ``word 0, bits 31:16`` of what shares its word."""
        if self.packet is None:
            return ""
        word, width, low = self.packet
        if self.signed:
            return f"word {word}"
        bits = f"bits {low + width - 1}:{low}" if width > 1 else f"bit {low}"
        return f"word {word}, {bits}"

    @property
    def high(self) -> int:
        return self.low + self.width - 1

    @property
    def bits(self) -> str:
        """``17:0``, or of one bit ``18``."""
        return f"{self.high}:{self.low}" if self.width > 1 else str(self.low)

    @property
    def what(self) -> str:
        """A comment: the word, its joints, its unit."""
        if self.used is None:
            return f"{self.word}, not used"
        owner = f" of {self.of}" if self.of else ""
        unit = f" [{self.unit}]" if self.unit not in ("", "1") else ""
        few = f", in {self.used} bits" if self.used < self.width else ""
        return f"{self.word}{owner}{unit}{few}"

    @property
    def what_in_ascii(self) -> str:
        """The same for languages whose comments are Latin-1."""
        return _in_ascii(self.what)

    @property
    def unit_in_ascii(self) -> str:
        """The unit, for languages whose comments are Latin-1."""
        return _in_ascii(self.unit)


@dataclass(frozen=True)
class HdlType:
    """A packed type; ``fields`` from bit 0 on.

    ``function``: "" of a type for all functions. ``scaled``: whether fractions are known, which an
    accelerator's functions have each for themselves.
    """

    side: str
    function: str
    scaled: bool
    fields: tuple[HdlField, ...]

    @property
    def packet_words(self) -> int:
        """Words of its packet."""
        return 1 + max(field.packet[0] for field in self.fields if field.packet)

    @property
    def name(self) -> str:
        return f"{self.prefix}{self.side}_t"

    @property
    def prefix(self) -> str:
        """The beginning of a function's names."""
        return f"{self.function}_" if self.function else ""

    @property
    def what(self) -> str:
        return f"{self.side} of {self.function}" if self.function else self.side

    @property
    def width(self) -> int:
        return self.fields[-1].low + self.fields[-1].width

    @property
    def example(self) -> int:
        """The example's payload, an integer of `width` bits."""
        return sum((f.example & (1 << f.width) - 1) << f.low for f in self.fields)

    @property
    def example_bits(self) -> list[str]:
        """The example's payload as text: rows of up to `ROW` bits, the highest first."""
        bits = f"{self.example:0{self.width}b}"
        return [bits[at : at + ROW] for at in range(0, self.width, ROW)]

    @property
    def numbers(self) -> list[HdlField]:
        """The fields that are numbers, with fractions."""
        return [field for field in self.fields if field.signed and field.used]

    def fraction_of(self, field: HdlField) -> str:
        """The name of the constant that has a field's bits of fraction.

        It has the side, since a task and its result may have fields of one name.
        """
        return f"{self.prefix}{self.side}_{field.name}_FRACTION"

    def word_of(self, field: HdlField) -> str:
        """The name of the constant that says which word of a packet a field is in."""
        return f"{self.prefix}{self.side}_{field.name}_WORD"


def _in_ascii(text: str) -> str:
    return "".join(ASCII.get(c, c) for c in text)


def identifier(word: str) -> str:
    """``dtau_dq[1,0]`` → ``dtau_dq_1_0``, an identifier of Verilog, VHDL and C."""
    return RESERVED.get(word) or re.sub(r"\W+", "_", word).strip("_")


def hdl_types(entry: HardwareManifest) -> list[HdlType]:
    """Types of all tasks and results; of an accelerator then those of each function.

    A function's have the fields' bits in the same places, by the names of what it takes and gives.
    """
    sides = entry.ports.input.fields, entry.ports.output.fields
    places = [_in_packets(entry, fields) for fields in sides]
    examples = [(own.task, own.result) for own in entry.examples]
    if entry.is_core:
        (first,) = examples
        return [
            HdlType(side, "", True, tuple(_field(own, own, words, at) for own in fields))
            for side, fields, words, at in zip(SIDES, sides, first, places, strict=True)
        ]
    found = [
        HdlType(side, "", False, tuple(_field(own, own, {}, at) for own in fields))
        for side, fields, at in zip(SIDES, sides, places, strict=True)
    ]
    for (name, own), words in zip(entry.tasks.functions.items(), examples, strict=True):
        both, most = (_operands(own), _results(own)), (len(own.inputs), len(own.outputs))
        for k, side in enumerate(SIDES):
            # tags, codes and flags are of all functions
            fields = [(at, both[k].get(at.name, None if at.signed else at)) for at in sides[k]]
            sent = {word: at for word, at in places[k].items() if at[0] <= most[k]}
            both_names = tuple(_field(*own, words[k], sent) for own in fields)
            found.append(HdlType(side, name, True, both_names))
    return found


def _in_packets(
    entry: HardwareManifest, fields: Sequence[PortField]
) -> dict[str, tuple[int, int, int]]:
    """Field → its word of a packet, how many of its bits, and the first of them.

    A core's packet has a word for each number, then the flags, 32 to a word. An accelerator's
    begins with a word of the function, the options or the status, and the tag.
    """
    numbers = [own.name for own in fields if own.signed]
    flags = [own.name for own in fields if not own.signed]
    if entry.is_core:
        found = {name: (k, WORD_BITS, 0) for k, name in enumerate(numbers)}
        at = ((len(numbers) + k // WORD_BITS, 1, k % WORD_BITS) for k in range(len(flags)))
        return found | dict(zip(flags, at, strict=True))
    return HEADER | {name: (1 + k, WORD_BITS, 0) for k, name in enumerate(numbers)}


def _operands(own: FunctionFacts) -> dict[str, Field]:
    """The operands of a function, by the word of a task that they come in."""
    return {i.word: i for i in own.inputs if kind_of(i.name) != UNREAD}


def _results(own: FunctionFacts) -> dict[str, Field]:
    """The outputs of a function, by the word of a result that they leave in."""
    return {spell("w", k): field for k, field in enumerate(own.outputs)}


def _field(
    at: PortField,
    own: Field | None,
    words: Mapping[str, int],
    places: Mapping[str, tuple[int, int, int]],
) -> HdlField:
    """A payload's field with the word that is in it, None of a function that has none there.

    ``words``: of an example, by name; ``places``: of the payload's fields in a packet.
    """
    word = own or at
    return HdlField(
        identifier(word.name),
        word.name,
        at.low,
        at.width,
        at.signed,
        word.fraction,
        own.width if own else None,
        word.of or "",
        word.unit or "",
        words.get(word.name, 0),
        places.get(at.name),
    )


def hdl_packages(entry: HardwareManifest) -> dict[str, str]:
    """``NAME_pkg.sv`` and ``NAME_pkg.vhd``."""
    types, name = hdl_types(entry), entry.name
    scaled = next(own for own in types if own.scaled)
    values = {
        "entry": entry,
        "name": name,
        "types": types,
        "core": entry.is_core,
        "scaled": scaled,
        "first": scaled.numbers[0],
        "header": HEADER_WORDS,
        "statuses": Status,
        "registers": registers_of(entry),
    }
    text = render("verilog/package.sv.jinja", **values)
    return {
        f"{name}_pkg.sv": verilog_file(text, OFF),
        f"{name}_pkg.vhd": render("verilog/package.vhd.jinja", **values, vhdl=vhdl_name(name)),
    }


def registers_of(entry: HardwareManifest) -> tuple[RegisterFacts, ...]:
    """The registers on AXI4-Lite, the same of all shells; none of a core's."""
    return next((own.registers for own in entry.axi.values() if own.registers), ())


def vhdl_name(name: str) -> str:
    """The package's name: an extended identifier where VHDL has no basic one for it."""
    own = f"{name}_pkg"
    return own if re.fullmatch(r"[a-zA-Z]+(_[a-zA-Z0-9]+|[a-zA-Z0-9])*", own) else f"\\{own}\\"
