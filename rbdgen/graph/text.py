"""Graphs as text, one node a line: for people, for tests of passes, and for comparing runs.

    input q[0]
    %0 = input q[0]
    %1 = sin %0                                 @ forward 0
    %2 = mulc %1 by 9.81                        @ forward 0
    output tau[0] = %2

Numbers are written so that they read back exactly. Nodes are numbered anew, dead ones left out,
so equal texts mean equal graphs. ``#`` starts a comment.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from .fixed import FixedGraph, Format
from .graph import Graph
from .node import Builder, Node, Op, Region

NAMED = {op.value: op for op in Op}
FORMER = {"held": "parameter"}  # names of operations in files of version 0.1
COLUMN = 44  # where regions and formats stand, if the operation leaves room

# What stands before the name or number of an operation that has one.
VALUE_WORD = {Op.INPUT: "", Op.CONST: "", Op.MULC: "by", Op.SIN: "turn", Op.COS: "turn"}
DEFAULT_VALUE = {Op.SIN: math.tau, Op.COS: math.tau}  # not written

INTERFACE = re.compile(r"input (?P<name>\S+)")
RESULT = re.compile(r"output (?P<name>\S+) = (?P<node>%\d+)")
NODE = re.compile(
    r"(?P<node>%\d+) = (?P<op>[a-z]+)(?P<args>( %\d+)*)( (?P<rest>[^@]*?))?"
    r"(\s+@ (?P<kind>\w+) (?P<joint>-?\d+))?"
)


class TextError(ValueError):
    """A text that is no graph: the line, and what is wrong with it."""


def to_text(graph: Graph | FixedGraph) -> str:
    """The graph as text. A fixed-point graph shows formats too, and cannot be read back.

    ``: 18.13`` is a word of 18 bits, 13 of them fraction.
    """
    fixed = graph if isinstance(graph, FixedGraph) else None
    graph = graph.graph if isinstance(graph, FixedGraph) else graph
    inputs: Mapping[str, Format] = fixed.inputs if fixed else {}
    formats: Mapping[Node, Format] = fixed.formats if fixed else {}
    number = {node: f"%{k}" for k, node in enumerate(graph.nodes)}
    lines = [_row(f"input {name}", None, inputs.get(name)) for name in graph.inputs]
    for node in graph.nodes:
        words = [number[node], "=", node.op.value, *(number[a] for a in node.args), *_value(node)]
        lines.append(_row(" ".join(words), node.region, formats.get(node)))
    lines += [f"output {name} = {number[node]}" for name, node in graph.outputs.items()]
    return "".join(f"{line}\n" for line in lines)


def from_text(text: str) -> Graph:
    """The graph that the text says, nothing simplified and nothing checked but the grammar.

    Raises TextError where a line is none, names an unknown operation or an unknown node.
    """
    builder = Builder()
    inputs: list[str] = []
    nodes: dict[str, Node] = {}
    outputs: dict[str, Node] = {}

    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        try:
            if not line:
                continue
            if match := INTERFACE.fullmatch(line):
                inputs.append(match["name"])
            elif match := RESULT.fullmatch(line):
                outputs[match["name"]] = nodes[match["node"]]
            elif match := NODE.fullmatch(line):
                if match["node"] in nodes:
                    raise TextError(f"{match['node']} stands twice")
                nodes[match["node"]] = _read(builder, match, nodes)
            else:
                raise TextError("neither an input, nor a node, nor an output")
        except KeyError as error:
            raise TextError(f"line {number}: no node {error.args[0]} above: {line}") from None
        except TextError as error:
            raise TextError(f"line {number}: {error}: {line}") from None
    return Graph(tuple(inputs), outputs)


def same_text(one: str, other: str) -> bool:
    """Whether two texts are of one graph, whatever version named the operations and set columns."""
    return _words(one) == _words(other)


def _words(text: str) -> list[list[str]]:
    """The words of each line, operations by their present names."""
    rows = [line.split() for line in text.splitlines()]
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
