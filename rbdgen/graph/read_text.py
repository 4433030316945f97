"""Read a graph from its text, which `to_text` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from .fixed import FixedGraph, Flagged, Format
from .graph import CopyingBuilder, Graph
from .node import Builder, Node, Op, Region
from .text import DEFAULT_VALUE, FORMER, VALUE_WORD, WIDTH
from .verify import GraphError, verify_fixed

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
