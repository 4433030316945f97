"""Checks that a graph is one: run after every pass, each failure a defect of the pass before."""

from __future__ import annotations

import math

from .fixed import FixedGraph, Format
from .graph import Graph
from .node import Node, Op
from .reciprocal import WIDEST


class GraphError(AssertionError):
    """A graph that breaks one of its own rules."""


def verify(graph: Graph) -> Graph:
    """The graph, if it is one: arity, order, names, constants; and nothing left to simplify."""
    names = set(graph.inputs)
    if len(names) < len(graph.inputs):
        raise GraphError("an input stands twice in the interface")
    builders = {node.builder for node in graph.nodes}
    if len(builders) > 1:
        raise GraphError("nodes of different builders in one graph")
    for node in graph.nodes:
        if len(node.args) != node.op.arity:  # no text is made for what is right
            raise _wrong(node, f"takes {node.op.arity} operands")
        for operand in node.args:  # every pass asks this of every node: no generator, no call
            if operand.index >= node.index:
                raise _wrong(node, "stands before an operand")
        if not math.isfinite(node.value):
            raise _wrong(node, "has a constant that is no number")
        match node.op:
            case Op.INPUT if node.name not in names:
                raise _wrong(node, f"reads {node.name!r}, not in the interface")
            case Op.MULC:
                if node.value <= 0 or node.value == 1:
                    raise _wrong(node, f"multiplies by {node.value}")
                _require(node.args[0].op is not Op.CONST, node, "multiplies a constant")
            case Op.SATURATE:
                _require(node.value > 0, node, f"has a limit of {node.value}")
            case Op.SIN | Op.COS:
                _require(node.value in (1.0, math.tau), node, f"has a full turn of {node.value}")
            case Op.ADD | Op.SUB | Op.MUL:
                if node.args[0].op is Op.CONST and node.args[1].op is Op.CONST:
                    raise _wrong(node, "is a constant")
    _verify_regions(graph)
    return graph


def _verify_regions(graph: Graph) -> None:
    """Hardware regions hand values on one way only."""
    waits: dict[object, set[object]] = {node.region: set() for node in graph.nodes}
    for node in graph.nodes:
        own = node.region
        for a in node.args:  # mostly of the same region, and the same object
            if a.region is not own and a.op is not Op.INPUT and a.op is not Op.CONST:
                waits[own].add(a.region)
    for region, senders in waits.items():
        senders -= {region, None}
    while waits:
        ready = {region for region, senders in waits.items() if not senders & waits.keys()}
        if not ready:
            raise GraphError(f"regions wait for each other in a circle: {list(waits)}")
        for region in ready:
            del waits[region]


def verify_fixed(fixed: FixedGraph) -> FixedGraph:
    """The fixed-point graph, if hardware can be made of it."""
    verify(fixed.graph)
    sines: dict[Node, int] = {}  # angle → bits of its sine and its cosine, which one unit makes
    for node in fixed.graph.nodes:
        _require(node in fixed.formats, node, "has no format")
        out = fixed.formats[node]
        if not 2 <= out.width <= 2 * fixed.width:
            raise _wrong(node, f"has {out.width} bits")
        of = [fixed.formats[a] for a in node.args]
        match node.op:
            case Op.MULC:
                if not node.is_shift:
                    raise _wrong(node, f"multiplies by {node.value}: lower constants first")
                _require(out.width == of[0].width, node, "renames bits and changes their number")
            case Op.MUL:
                if (widest := max(f.width for f in of)) > fixed.width:
                    raise _wrong(node, f"multiplies a word of {widest} bits")
            case Op.SIN | Op.COS:
                _require(node.value == 1.0, node, "has an angle in radians: lower phases first")
                turns, phase = fixed.sincos(node), of[0].fraction
                _require(phase >= turns.coarsest, node, "has an angle too coarse for its unit")
                _require(phase <= turns.finest, node, "has an angle too fine for its unit")
                both = sines.setdefault(node.args[0], out.width)
                _require(out.width == both, node, "has another width than its angle's other one")
            case Op.RECIP:
                _require(False, node, "has no unit: lower reciprocals first")
            case Op.MANTISSA:
                _require(node.args[0] in fixed.steps, node, "has no range of exponents")
                _require(of[0].width <= WIDEST, node, f"reads a word of {of[0].width} bits")
                _require(not of[0].wraps, node, "reads an angle that has wrapped around")
                width = fixed.reciprocal(node).width
                _require(out == Format(width, width - 2), node, "has another format")
            case Op.EXPONENT:
                _require(node.args[0] in fixed.steps, node, "has no range of exponents")
                unit = fixed.reciprocal(node)
                _require(out == Format(unit.exponent_width, 0), node, "has another format")
            case Op.SCALE:
                _require(node.args[1].op is Op.EXPONENT, node, "scales by what is no exponent")
                shifter = fixed.scale(node)
                _require(shifter.operand + shifter.zeros < 63, node, "shifts too wide a word")
            case Op.ADD | Op.SUB | Op.NEG:
                wraps = any(fixed.formats[a].wraps for a in node.args)
                _require(not wraps, node, "computes with an angle that has wrapped around")
    return fixed


def _require(condition: bool, node: Node, complaint: str) -> None:
    if not condition:
        raise _wrong(node, complaint)


def _wrong(node: Node, complaint: str) -> GraphError:
    return GraphError(f"{node.op.value} node {node.index} {complaint}")
