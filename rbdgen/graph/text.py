"""Graphs as text, written and read, one node a line: for people, tests of passes, simulations.

    input q[0]
    %0 = input q[0]
    %1 = sin %0                                 @ forward 0
    %2 = mulc %1 by 9.81                        @ forward 0
    output tau[0] = %2

Numbers are written so that they read back exactly. Nodes are numbered anew, dead ones left out,
so equal texts mean equal graphs. Behind a graph in fixed point stands what concerns few nodes, by
their numbers (``3-7`` are five of them):

    width 18                words that meet a multiplier
    chain 24                registers for many tasks
    saturates of 3-7 9      words that saturate
    steps 11 of 12          of the normalisation of a reciprocal's operand
    mantissa 20 of 12       the width of its mantissa
    flags 0-6 of 3-9        outputs, by number, whose flag an overflow raises
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from .fixed import FixedGraph, Flagged, Format
from .graph import CopyingBuilder, Graph
from .node import Builder, Node, Op, Region
from .verify import GraphError, verify_fixed

FORMER = {"held": "parameter"}  # names of operations in files of version 0.1
NO_FLAGS: Flagged = MappingProxyType({})
WIDTH = "width"  # begins the rows behind a graph, which files of version 0.1 do not have
COLUMN = 44  # where regions and formats stand, if the operation leaves room

# What stands before the name or number of an operation that has one.
VALUE_WORD = {
    Op.INPUT: "",
    Op.CONST: "",
    Op.MULC: "by",
    Op.SIN: "turn",
    Op.COS: "turn",
    Op.SATURATE: "within",
}
DEFAULT_VALUE = {Op.SIN: math.tau, Op.COS: math.tau}  # not written


def to_text(graph: Graph | FixedGraph, flagged: Flagged = NO_FLAGS) -> str:
    """The graph as text. A fixed-point graph shows formats too, and the outputs that are
    ``flagged`` by each node's overflow.

    ``: 18.13`` is a word of 18 bits, 13 of them fraction.
    """
    fixed = graph if isinstance(graph, FixedGraph) else None
    graph = graph.graph if isinstance(graph, FixedGraph) else graph
    inputs: Mapping[str, Format] = fixed.inputs if fixed else {}
    formats: Mapping[Node, Format] = fixed.formats if fixed else {}
    number = {node: f"%{k}" for node, k in graph.number.items()}
    lines = [_row(f"input {name}", None, inputs.get(name)) for name in graph.inputs]
    for node in graph.nodes:
        words = [number[node], "=", node.op.value, *(number[a] for a in node.args), *_value(node)]
        lines.append(_row(" ".join(words), node.region, formats.get(node)))
    lines += [f"output {name} = {number[node]}" for name, node in graph.outputs.items()]
    lines += _properties(fixed, flagged) if fixed else ()
    return "".join(f"{line}\n" for line in lines)


def _properties(fixed: FixedGraph, flagged: Flagged) -> Iterator[str]:
    """The rows behind a graph in fixed point."""
    yield f"{WIDTH} {fixed.width}"
    if fixed.chain:
        yield f"chain {fixed.chain}"
    found: dict[str, list[int]] = {}
    for k, node in enumerate(fixed.graph.nodes):
        if fixed.formats[node].saturates:
            found.setdefault("saturates", []).append(k)
        if node in fixed.steps:
            found.setdefault(f"steps {fixed.steps[node]}", []).append(k)
        if node in fixed.mantissas:
            found.setdefault(f"mantissa {fixed.mantissas[node]}", []).append(k)
        if outputs := flagged.get(node):
            found.setdefault(f"flags {_spans(sorted(outputs))}", []).append(k)
    yield from (f"{what} of {_spans(nodes)}" for what, nodes in found.items())


def _spans(numbers: Iterable[int]) -> str:
    """``3-7 9``: growing numbers, those that follow each other by the first and the last."""
    spans: list[list[int]] = []
    for k in numbers:
        if spans and spans[-1][1] == k - 1:
            spans[-1][1] = k
        else:
            spans.append([k, k])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def is_whole(text: str) -> bool:
    """Whether a text says all of a graph in fixed point: those of version 0.1 do not."""
    return f"\n{WIDTH} " in text


def same_text(one: str, other: str) -> bool:
    """Whether two texts are of one graph, whatever version named the operations and set columns.

    What a version did not say yet is not compared.
    """
    whole = is_whole(one) and is_whole(other)
    return _words(one, whole) == _words(other, whole)


def _words(text: str, whole: bool) -> list[list[str]]:
    """The words of each line, operations by their present names; ``whole``: of all lines."""
    own = text if whole else text.partition(f"\n{WIDTH} ")[0]
    rows = [line.split() for line in own.splitlines()]
    return [[*row[:2], *(FORMER.get(word, word) for word in row[2:3]), *row[3:]] for row in rows]


def _row(text: str, region: Region | None, form: Format | None) -> str:
    notes = [f"@ {region[0]} {region[1]}"] if region else []
    if form is not None:
        notes.append(f": {form.width}.{form.fraction}")
        notes += ["rounded"] * form.rounded + ["wraps"] * form.wraps
    return f"{text:{COLUMN - 1}} {' '.join(notes)}" if notes else text


def _value(node: Node) -> list[str]:
    """The words after the operands."""
    if node.op is Op.PARAMETER:
        return [node.name, repr(node.value)]
    if node.op not in VALUE_WORD or node.value == DEFAULT_VALUE.get(node.op):
        return []
    value = node.name if node.op is Op.INPUT else repr(node.value)
    return [*VALUE_WORD[node.op].split(), value]


NAMED = {op.value: op for op in Op}
FORMAT = r"(\s+: (?P<width>\d+)\.(?P<fraction>-?\d+)(?P<rounded> rounded)?(?P<wraps> wraps)?)?"
INTERFACE = re.compile(rf"input (?P<name>\S+){FORMAT}")
RESULT = re.compile(r"output (?P<name>\S+) = (?P<node>%\d+)")
NODE = re.compile(
    r"(?P<node>%\d+) = (?P<op>[a-z]+)(?P<args>( %\d+)*)( (?P<rest>[^@:]*?))?"
    rf"(\s+@ (?P<kind>\w+) (?P<joint>-?\d+))?{FORMAT}"
)
SPAN = r"( \d+(-\d+)?)"
NUMBER = re.compile(rf"(?P<key>{WIDTH}|chain) (?P<value>\d+)")
PROPERTY = re.compile(
    rf"(?P<key>saturates|steps|mantissa|flags)(?P<value>{SPAN}*) of(?P<nodes>{SPAN}+)"
)


class TextError(ValueError):
    """A text that is no graph: the line, and what is wrong with it."""


def from_text(text: str) -> Graph:
    """The graph that the text says, nothing simplified and nothing checked but the grammar.

    Raises TextError where a line is none, names an unknown operation or an unknown node.
    """
    return _Reader(Builder()).read(text).graph()


def fixed_from_text(text: str) -> tuple[FixedGraph, Flagged]:
    """The graph in fixed point that the text says, and the outputs that each node flags.

    What no output needs is there, too: hardware computes it. Raises TextError as `from_text`, and
    for a graph that no hardware can be made of.
    """
    read = _Reader(CopyingBuilder()).read(text)
    graph = replace(read.graph(), kept=tuple(read.nodes.values()))
    fixed = FixedGraph(
        graph,
        read.formats,
        read.words,
        read.numbers.get(WIDTH, 0),
        read.steps,
        read.mantissas,
        chain=read.numbers.get("chain", 0),
    )
    try:
        return verify_fixed(fixed), read.flagged
    except GraphError as error:
        raise TextError(str(error)) from None


@dataclass
class _Reader:
    """A graph in the making, line by line."""

    builder: Builder
    inputs: list[str] = field(default_factory=list)
    formats: dict[str, Format] = field(default_factory=dict)  # of inputs
    nodes: dict[str, Node] = field(default_factory=dict)
    words: dict[Node, Format] = field(default_factory=dict)
    outputs: dict[str, Node] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    steps: dict[Node, int] = field(default_factory=dict)
    mantissas: dict[Node, int] = field(default_factory=dict)
    flagged: dict[Node, frozenset[int]] = field(default_factory=dict)

    def graph(self) -> Graph:
        """The graph of the outputs."""
        return Graph(tuple(self.inputs), self.outputs)

    def read(self, text: str) -> _Reader:
        """The same with all lines of a text; TextError."""
        for number, line in enumerate(text.splitlines(), 1):
            line = line.partition("#")[0].strip()
            try:
                if line:
                    self._line(line)
            except KeyError as error:
                raise TextError(f"line {number}: no node {error.args[0]} above: {line}") from None
            except TextError as error:
                raise TextError(f"line {number}: {error}: {line}") from None
        return self

    def _line(self, line: str) -> None:
        if match := INTERFACE.fullmatch(line):
            self.inputs.append(match["name"])
            if match["width"]:
                self.formats[match["name"]] = _format(match)
        elif match := RESULT.fullmatch(line):
            self.outputs[match["name"]] = self.nodes[match["node"]]
        elif match := NODE.fullmatch(line):
            if match["node"] in self.nodes:
                raise TextError(f"{match['node']} stands twice")
            node = self.nodes[match["node"]] = _read(self.builder, match, self.nodes)
            if match["width"]:
                self.words[node] = _format(match)
        elif match := NUMBER.fullmatch(line):
            self.numbers[match["key"]] = int(match["value"])
        elif match := PROPERTY.fullmatch(line):
            nodes = [self.nodes[f"%{k}"] for k in _numbers(match["nodes"])]
            self._property(match["key"], tuple(_numbers(match["value"])), nodes)
        else:
            raise TextError("neither an input, nor a node, nor an output")

    def _property(self, key: str, value: tuple[int, ...], nodes: list[Node]) -> None:
        """Note what a row behind the graph says of some nodes."""
        if key == "flags":
            self.flagged |= dict.fromkeys(nodes, frozenset(value))
        elif key == "saturates":
            self.words |= {node: replace(self.words[node], saturates=True) for node in nodes}
        elif len(value) != 1:
            raise TextError(f"{key} is written '{key} NUMBER of NODES'")
        else:
            of = self.steps if key == "steps" else self.mantissas
            of |= dict.fromkeys(nodes, value[0])


def _format(match: re.Match[str]) -> Format:
    """The format that stands at the end of a line."""
    width, fraction = int(match["width"]), int(match["fraction"])
    return Format(width, fraction, bool(match["rounded"]), bool(match["wraps"]))


def _numbers(spans: str) -> Iterator[int]:
    """``3-5 9`` → 3, 4, 5, 9."""
    for span in spans.split():
        first, _, last = span.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _read(builder: Builder, match: re.Match[str], nodes: Mapping[str, Node]) -> Node:
    """The node of a line that has the form of one."""
    op = NAMED.get(FORMER.get(match["op"], match["op"]))
    if op is None:
        raise TextError(f"no operation {match['op']!r}")
    args = [nodes[name] for name in match["args"].split()]
    if len(args) != op.arity:
        raise TextError(f"{op.value} takes {op.arity} operands")
    words = (match["rest"] or "").split()
    if op is Op.PARAMETER:
        if len(words) != 2:
            raise TextError(f"{op.value} is written 'parameter NAME NUMBER'")
        with builder.in_region(_region(match)):
            return builder.node(op, name=words[0], value=_number(words[1]))
    name, value = "", DEFAULT_VALUE.get(op, 0.0)
    if words or (op in VALUE_WORD and op not in DEFAULT_VALUE):
        *before, last = words or [""]
        if not last or " ".join(before) != VALUE_WORD.get(op):
            raise TextError(f"{op.value} is written {_form(op)!r}")
        name, value = (last, 0.0) if op is Op.INPUT else ("", _number(last))
    with builder.in_region(_region(match)):
        return builder.node(op, *args, value=value, name=name)


def _region(match: re.Match[str]) -> Region | None:
    return (match["kind"], int(match["joint"])) if match["kind"] else None


def _form(op: Op) -> str:
    """How a line of this operation looks."""
    words = [op.value, *["%N"] * op.arity]
    if op in VALUE_WORD:
        words += [*VALUE_WORD[op].split(), "NAME" if op is Op.INPUT else "NUMBER"]
    return " ".join(words)


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise TextError(f"{word!r} is no number") from None
