"""A long module parted at its registers, so that Yosys maps it in pieces.

A mapper changes what lies between registers and leaves those where they are: pieces that meet at
registers only are mapped as the whole is, but for what is the same in two of them. Delays, register
after register, stay together, for they may become shift registers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

PIECE = ".piece_"  # between the name of a module and the number of a piece

_HEAD = re.compile(r"(?:attribute .*\n)*module \S+\n")
_ITEM = re.compile(
    r"(?P<attributes>(?:  attribute .*\n)*)"
    r" *(?:wire (?P<wire>.*)|connect (?P<connect>.*)|(?P<kind>cell|process) (?P<what>.*)\n"
    r"(?P<body>(?:    .*\n)*)  end)\n"
)
_REGISTER = "$dff"
_OPERATION = ("\\A", "\\B", "\\S", "\\Y")  # the ports of a cell that computes
_INIT = re.compile(r"  attribute \\init .*\n")
_NAME = re.compile(r"[\\$]\S+")
_SIGNAL = re.compile(r"\s*(\{[^}]*\}|\S+(?: \[[\d:]+\])?)")
_DIRECTION = re.compile(r"\b(?:input|output) \d+ +")


@dataclass
class _Item:
    """A cell, a process or a connection: its text, and the wires that it reads and writes."""

    text: str
    kind: str  # of a cell its type; "process" or "connect"
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)


@dataclass
class _Netlist:
    head: str
    wires: dict[str, str] = field(default_factory=dict)  # name → its declaration
    items: list[_Item] = field(default_factory=list)

    @property
    def drivers(self) -> dict[str, list[int]]:
        """Wire → the items that write it."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for k, item in enumerate(self.items):
            for wire in item.writes:
                found[wire].append(k)
        return found


class _Unknown(Exception):
    """Something in a module that `partition` does not know."""


def partition(
    name: str, text: str, outputs: Mapping[str, frozenset[str]], size: int
) -> dict[str, str] | None:
    """RTLIL of the module and of its pieces, by their names; None: it is in one piece.

    Args:
        name: of the module; names are with their backslash.
        text: its RTLIL, as Amaranth writes it: registers are $dff, processes combinational.
        outputs: module → its outputs, of those that may stand in this one.
        size: bytes of RTLIL that a piece is filled up to.
    """
    try:
        netlist = _read(text, outputs)
    except _Unknown:
        return None
    filled: list[list[_Item]] = [[]]
    length = 0
    for cluster in _clusters(netlist):
        more = sum(len(item.text) for item in cluster)
        if length and length + more > size:
            filled.append([])
            length = 0
        filled[-1] += cluster
        length += more
    if len(filled) < 2:
        return None
    pieces = {f"{name}{PIECE}{k}": _Piece(items) for k, items in enumerate(filled)}
    wanted = _wanted(pieces.values(), netlist)
    texts = {own: _module(own, piece, wanted, netlist) for own, piece in pieces.items()}
    return texts | {name: _around(pieces, wanted, netlist)}


def _read(text: str, outputs: Mapping[str, frozenset[str]]) -> _Netlist:
    head = _HEAD.match(text)
    assert head
    netlist = _Netlist(head[0])
    at, end = head.end(), text.rindex("end\n")
    while at < end:
        if text[at] == "\n":
            at += 1
            continue
        found = _ITEM.match(text, at)
        if found is None:
            raise _Unknown
        at = found.end()
        if found["wire"]:
            netlist.wires[found["wire"].split()[-1]] = found[0]
        else:
            netlist.items.append(_item(found, outputs))
    return netlist


def _item(found: re.Match[str], outputs: Mapping[str, frozenset[str]]) -> _Item:
    if found["connect"]:
        to, of = _two(found["connect"])
        return _Item(found[0], "connect", _names(of), _names(to))
    lines = [line.strip().partition(" ")[::2] for line in found["body"].splitlines()]
    if found["kind"] == "process":
        item = _Item(found[0], "process")
        for word, rest in lines:
            if word == "assign":
                to, of = _two(rest)
                item.writes |= _names(to)
                item.reads |= _names(of)
            elif word == "switch":
                item.reads |= _names(rest)
            elif word not in ("case", "end", "attribute"):
                raise _Unknown
        return item
    item = _Item(found[0], found["what"].split()[0])
    if item.kind == _REGISTER:
        given = frozenset({"\\Q"})
    elif item.kind.startswith("$"):
        given = frozenset({"\\Y"})
        if any(word == "connect" and rest.split()[0] not in _OPERATION for word, rest in lines):
            raise _Unknown
    elif item.kind in outputs:
        given = outputs[item.kind]
    else:
        raise _Unknown
    for word, rest in lines:
        if word == "connect":
            port, _, signal = rest.partition(" ")
            (item.writes if port in given else item.reads).update(_names(signal))
    return item


def _two(text: str) -> tuple[str, str]:
    """Two signals, one after the other."""
    first = _SIGNAL.match(text)
    assert first
    return first[1], text[first.end() :]


def _names(text: str) -> set[str]:
    return set(_NAME.findall(text))


def _clusters(netlist: _Netlist) -> list[list[_Item]]:
    """Items that must stay together, in the order of the first of each; without mere wiring."""
    items, drivers = netlist.items, netlist.drivers
    leader = list(range(len(items)))

    def find(k: int) -> int:
        while leader[k] != k:
            leader[k] = leader[leader[k]]
            k = leader[k]
        return k

    def join(group: Iterable[int]) -> None:
        leaders = sorted({find(k) for k in group})
        for k in leaders[1:]:
            leader[k] = leaders[0]

    wiring = {w for w, own in drivers.items() if all(items[k].kind == "connect" for k in own)}
    borders = {w for w, own in drivers.items() if all(_ends(items[k]) for k in own)}
    made = drivers.keys() - wiring
    for wire in made:
        join(drivers[wire])
    for k, item in enumerate(items):
        for wire in item.reads & made:
            if item.kind == _REGISTER or wire not in borders:
                join([k, *drivers[wire]])
    found: dict[int, list[_Item]] = {}
    for k, item in enumerate(items):
        if not item.writes <= wiring:
            found.setdefault(find(k), []).append(item)
    return list(found.values())


def _ends(item: _Item) -> bool:
    """Whether what an item gives can be parted: a register, or a module."""
    return item.kind == _REGISTER or item.kind.startswith("\\")


class _Piece:
    """Items that become a module: it is given what they only read, and gives what others want."""

    def __init__(self, items: Sequence[_Item]) -> None:
        self.items = items
        self.writes = set().union(*(item.writes for item in items))
        self.given = set().union(*(item.reads for item in items)) - self.writes

    def ports(self, wanted: Set[str]) -> dict[str, str]:
        """Wire → direction."""
        own = dict.fromkeys(sorted(self.writes & wanted), "output")
        return own | dict.fromkeys(sorted(self.given), "input")


def _wanted(pieces: Iterable[_Piece], netlist: _Netlist) -> set[str]:
    """The wires that are read outside of the piece that writes them."""
    found = {wire for wire, text in netlist.wires.items() if _DIRECTION.search(text)}
    found = found.union(*(piece.given for piece in pieces))
    todo = list(found)
    drivers = netlist.drivers
    for wire in todo:  # grows
        for k in drivers.get(wire, ()):
            if netlist.items[k].kind == "connect":
                new = netlist.items[k].reads - found
                found |= new
                todo += new
    return found


def _module(name: str, piece: _Piece, wanted: Set[str], netlist: _Netlist) -> str:
    ports = piece.ports(wanted)
    number = {wire: k for k, wire in enumerate(ports)}
    wires = []
    for wire in sorted(piece.writes | piece.given):
        declared = netlist.wires[wire]
        *_, last = declared.splitlines()
        options = _DIRECTION.sub("", last).rpartition(" ")[0]
        if wire in ports:
            options += f" {ports[wire]} {number[wire]}"
        attributes = declared.removesuffix(f"{last}\n") if wire in piece.writes else ""
        wires.append(f"{attributes}{options} {wire}\n")
    text = "".join([*wires, *(item.text for item in piece.items)])
    text = _NAME.sub(lambda found: _port(found[0]) if found[0] in ports else found[0], text)
    return f"module {name}\n{text}end\n"


def _port(wire: str) -> str:
    """The name of a port for a wire: $1 would be the first port of any name."""
    return f"\\{wire}" if wire.startswith("$") else wire


def _around(pieces: Mapping[str, _Piece], wanted: Set[str], netlist: _Netlist) -> str:
    """The module itself: wiring, and a cell for each piece."""
    inside = {id(item) for piece in pieces.values() for item in piece.items}
    text = [netlist.head, *(_INIT.sub("", wire) for wire in netlist.wires.values())]
    text += [item.text for item in netlist.items if id(item) not in inside]
    for k, (name, piece) in enumerate(pieces.items()):
        connections = (f"    connect {_port(wire)} {wire}\n" for wire in piece.ports(wanted))
        text += [f"  cell {name} \\piece_{k}\n", *connections, "  end\n"]
    return "".join([*text, "end\n"])
