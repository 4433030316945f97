"""Graphs as text, one node a line: for people, for tests of passes, and for comparing runs.

    input q[0]
    %0 = input q[0]
    %1 = sin %0                                 @ forward 0
    %2 = mulc %1 by 9.81                        @ forward 0
    output tau[0] = %2

Numbers are written so that they read back exactly. Nodes are numbered anew, dead ones left out,
so equal texts mean equal graphs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from .fixed import FixedGraph, Format
from .graph import Graph
from .node import Node, Op, Region

FORMER = {"held": "parameter"}  # names of operations in files of version 0.1
COLUMN = 44  # where regions and formats stand, if the operation leaves room

# What stands before the name or number of an operation that has one.
VALUE_WORD = {Op.INPUT: "", Op.CONST: "", Op.MULC: "by", Op.SIN: "turn", Op.COS: "turn"}
DEFAULT_VALUE = {Op.SIN: math.tau, Op.COS: math.tau}  # not written


def to_text(graph: Graph | FixedGraph) -> str:
    """The graph as text. A fixed-point graph shows formats too.

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
