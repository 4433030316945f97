"""Give every signal its own binary point: integer bits from its range, the rest fraction."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..graph.fixed import FixedGraph, Format
from ..graph.graph import Graph
from ..graph.node import Node, Op
from .ranges import Ranges

GUARD = 1  # extra fraction bits of what only additions read: no multiplier limits its width
ANGLE_BITS = 3  # extra bits of angles, which meet adders and a table only
LARGEST_INPUT = 32  # an AXI4-Stream word
SMALLEST = 2.0**-40  # a signal that is always zero still has a word


def integer_bits(bound: float) -> int:
    """Bits above the binary point, sign not counted, so that |x| ≤ bound fits."""
    return math.frexp(max(bound, SMALLEST))[1]


def needed_fraction(graph: Graph, ranges: Ranges, width: int) -> dict[Node, int]:
    """Fraction bits of each node that its users can still make use of."""
    outputs = set(graph.outputs.values())
    wide, turning = sums_only(graph), angles(graph)
    needed: dict[Node, int] = {}
    for node in reversed(graph.nodes):
        full = width - 1 - integer_bits(ranges.bound[node])
        wants = [full] if node in outputs else []
        for user in graph.users[node]:
            match user.op:
                case Op.ADD | Op.SUB:  # one bit below the sum's last one rounds it
                    wants.append(needed[user] + 1)
                case Op.NEG:
                    wants.append(needed[user])
                case Op.MULC:
                    wants.append(needed[user] + math.frexp(user.value)[1] - 1)
                case Op.SIN | Op.COS:
                    wants.append(phase_bits(width))
                case _:
                    wants.append(full)
        limit = full + (GUARD if node in wide else 0)
        if any(user.op in (Op.SIN, Op.COS) for user in graph.users[node]):
            limit = phase_bits(width)
        elif node.op is Op.INPUT and node in turning:
            limit = full + ANGLE_BITS
        elif node in turning:
            limit = phase_bits(width) + 2
        needed[node] = min(max(wants, default=full), limit)
    return needed


def phase_bits(width: int) -> int:
    """Fraction bits of an angle in turns."""
    return width + ANGLE_BITS


def sums_only(graph: Graph) -> set[Node]:
    """The nodes that only additions read (through shifts too): they may be wider."""
    found: set[Node] = set()
    outputs = set(graph.outputs.values())
    for node in reversed(graph.nodes):
        if node not in outputs and all(
            user.op in (Op.ADD, Op.SUB, Op.NEG) or (user.is_shift and user in found)
            for user in graph.users[node]
        ):
            found.add(node)
    return found


def angles(graph: Graph) -> set[Node]:
    """The nodes that end in phases only."""
    found: set[Node] = set()
    for node in reversed(graph.nodes):
        users = graph.users[node]
        if users and all(user.op in (Op.SIN, Op.COS) or user in found for user in users):
            found.add(node)
    return found


def input_formats(
    graph: Graph, limits: Mapping[str, tuple[float, float]], width: int
) -> dict[str, Format]:
    """The word of each graph input. Angles carry ``ANGLE_BITS`` more, up to an AXI word."""
    turning = {n.name for n in angles(graph) if n.op is Op.INPUT}
    formats = {}
    for name in graph.inputs:
        bits = min(width + ANGLE_BITS, LARGEST_INPUT) if name in turning else width
        whole = integer_bits(max(abs(x) for x in limits[name]))
        formats[name] = Format(bits, bits - 1 - whole)
    return formats


def wordlength(
    graph: Graph, ranges: Ranges, width: int, inputs: Mapping[str, Format]
) -> FixedGraph:
    """Formats for a graph whose constants are powers of two already.

    ``width`` is the widest word that meets a multiplier. Signals are narrower where their
    operands have no more bits to give, and one bit wider where only additions read them.
    """
    needed = needed_fraction(graph, ranges, width)
    wide = sums_only(graph)
    formats: dict[Node, Format] = {}
    for node in graph.nodes:
        whole = integer_bits(ranges.bound[node])
        of = [formats[a] for a in node.args]
        phase = any(user.op in (Op.SIN, Op.COS) for user in graph.users[node])
        match node.op:
            case Op.INPUT:
                formats[node] = inputs[node.name]
                continue
            case Op.CONST:
                fraction = needed[node]
            case Op.MULC:
                k = math.frexp(node.value)[1] - 1
                formats[node] = Format(of[0].width, of[0].fraction - k, wraps=of[0].wraps)
                continue
            case Op.SIN | Op.COS:
                formats[node] = Format(width, width - 1)
                continue
            case Op.MUL:
                fraction = min(needed[node], of[0].fraction + of[1].fraction)
            case Op.NEG:
                fraction = min(needed[node], of[0].fraction)
            case Op.SELECT:
                fraction = min(f.fraction for f in of[1:])
            case _:
                fraction = min(needed[node], max(f.fraction for f in of))
        if phase:
            formats[node] = Format(phase_bits(width), phase_bits(width), wraps=True)
            continue
        rounded = node.op is Op.MUL and node not in wide
        size = max(whole + fraction + 1, 2)
        formats[node] = Format(size, fraction, rounded=rounded)
    return FixedGraph(graph, dict(inputs), formats, width)
