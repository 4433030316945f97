"""Graphs as text, one node a line: for people, for tests of passes, and for simulations.

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
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from .fixed import FixedGraph, Flagged, Format
from .graph import Graph
from .node import Node, Op, Region

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
