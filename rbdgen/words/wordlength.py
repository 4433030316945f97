"""Binary points: each signal's integer bits come from its range, and the rest are its fraction.

An input's word has room for every angle that it can hold, not only for those within its limits.

An angle means the same a turn further on, so no angle is out of range; what a word holds between
its limits and its ends (a word of ±4 rad is the shortest for ±π) must come out right, too. What
lies between an angle's input and its sine is linear, so its largest value is known exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from ..graph.evaluate import Interval
from ..graph.fixed import FixedGraph, Format
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.reciprocal import WIDEST, exponent_width
from ..system.quoting import Refusal
from .ranges import COARSE, Deviations, Ranges, headroom

GUARD = 1  # extra fraction bits of what only additions read, where nobody says how many
ANGLE_BITS = 3  # extra bits of angles, which meet adders and a table only
SPARE_BINADES = 1  # downward, for operands of reciprocals beyond the margin that they have
LARGEST_INPUT = 32  # an AXI4-Stream word
WIDEST_FACTOR = 32  # bits of a product's operand: two of them fit int64
UNIT_WIDTHS = (12, 32)  # that sine and reciprocal units are made for
NO_FINER: Mapping[Node, int] = {}
NO_FINER_INPUTS: Mapping[str, int] = {}
SMALLEST = 2.0**-40  # a signal that is always zero still has a word


class PrecisionError(Refusal, ValueError):
    """An error budget that no words can meet."""


def integer_bits(bound: float) -> int:
    """Bits above the binary point, sign not counted, so that |x| ≤ bound fits."""
    return math.frexp(max(bound, SMALLEST))[1]


def needed_fraction(
    graph: Graph,
    ranges: Ranges,
    width: int,
    guard: int = GUARD,
    finer: Mapping[Node, int] = NO_FINER,
) -> dict[Node, int]:
    """Fraction bits of each node that its users can still make use of.

    ``finer``: bits more of outputs, where others make use of them.
    """
    outputs = set(graph.outputs.values())
    wide, turning, dividing = sums_only(graph), angles(graph), pivots(graph)
    needed: dict[Node, int] = {}
    for node in reversed(graph.nodes):
        full = width - 1 - integer_bits(ranges.bound[node])
        wants = [full + finer.get(node, 0)] if node in outputs else []
        for user in graph.users[node]:
            match user.op:
                case Op.ADD | Op.SUB:  # one bit below the sum's last one rounds it
                    wants.append(needed[user] + 1)
                case Op.SATURATE:  # likewise
                    wants.append(needed[user] + 1)
                case Op.NEG:
                    wants.append(needed[user])
                case Op.MULC:
                    wants.append(needed[user] + math.frexp(user.value)[1] - 1)
                case Op.SIN | Op.COS:
                    wants.append(phase_bits(width))
                case Op.RECIP | Op.MANTISSA | Op.EXPONENT:  # as many bits of the smallest one
                    wants.append(width + 1 - least_exponent(ranges, node))
                case Op.SCALE if node is user.args[0]:  # one bit below the last one rounds it
                    least = least_exponent(ranges, user.args[1].args[0])
                    wants.append(needed[user] + 1 - least)
                case _:
                    wants.append(full)
        # no multiplier limits what additions read
        limit = full + max(guard if node in wide else 0, finer.get(node, 0))
        if any(user.op in (Op.SIN, Op.COS) for user in graph.users[node]):
            limit = phase_bits(width)
        elif node.op is Op.INPUT and node in turning:
            limit = full + ANGLE_BITS
        elif node in turning:
            limit = phase_bits(width) + 2
        elif node in dividing and (node.op is not Op.MULC or node.is_shift):
            # a constant's error is relative, as that of the word which it multiplies
            limit = full + min(width, WIDEST - width)
        needed[node] = min(max(wants, default=full), limit)
    return needed


def phase_bits(width: int) -> int:
    """Fraction bits of an angle in turns."""
    return width + ANGLE_BITS


def least_exponent(ranges: Ranges, pivot: Node) -> int:
    """k of the smallest a = f · 2^k, f in [½, 1), that a reciprocal is sized for."""
    return integer_bits(ranges.least.get(pivot, ranges.bound[pivot])) - SPARE_BINADES


def sums_only(graph: Graph) -> set[Node]:
    """The nodes that no multiplier reads: they may be wider.

    What only additions, shifters and reciprocals read, through powers of two or not.
    """
    dividing = (Op.SCALE, Op.RECIP, Op.MANTISSA, Op.EXPONENT)
    return _read_only_by(graph, (Op.ADD, Op.SUB, Op.NEG, Op.SATURATE, *dividing))


def pivots(graph: Graph) -> set[Node]:
    """The nodes that end, through sums, in reciprocals, shifters, saturations and phases only; or
    are compared, where a controller is.

    They keep up to twice the bits of a word, for the sake of small values.
    """
    sums = (Op.ADD, Op.SUB, Op.NEG)
    direct = (Op.SCALE, Op.RECIP, Op.MANTISSA, Op.EXPONENT, Op.SATURATE, Op.SIN, Op.COS)
    follows = any(node.op is Op.SATURATE for node in graph.nodes)
    return _read_only_by(graph, direct, sums, follows)


def _read_only_by(
    graph: Graph, ends: tuple[Op, ...], between: tuple[Op, ...] = (), compared: bool = False
) -> set[Node]:
    """The nodes that only ``ends`` read, directly, by a power of two or through ``between``, and
    conditions of selections, if nodes that are ``compared`` count."""
    found: set[Node] = set()
    outputs = set(graph.outputs.values())
    for node in reversed(graph.nodes):
        if node not in outputs and all(
            user.op in ends
            or ((user.is_shift or user.op in between) and user in found)
            or (compared and user.op is Op.SELECT and node not in user.args[1:])
            for user in graph.users[node]
        ):
            found.add(node)
    return found


def angles(graph: Graph) -> set[Node]:
    """The nodes that end in phases only, and meet no multiplier before."""
    found: set[Node] = set()
    for node in reversed(graph.nodes):
        users = graph.users[node]
        if users and all(
            user.op in (Op.SIN, Op.COS) or (user in found and user.op is not Op.MUL)
            for user in users
        ):
            found.add(node)
    return found


def input_formats(
    graph: Graph,
    limits: Mapping[str, tuple[float, float]],
    width: int,
    chosen: Mapping[Node, int] | None = None,
    finer: Mapping[str, int] = NO_FINER_INPUTS,
) -> dict[str, Format]:
    """The word of each graph input, of ``chosen`` fraction bits where an input is read.

    Otherwise of the design's width; angles carry ``ANGLE_BITS`` more, ``finer`` ones as many as it
    says. An AXI word at most.
    """
    turning = {n.name for n in angles(graph) if n.op is Op.INPUT}
    own = {n.name: chosen[n] for n in graph.nodes if n.op is Op.INPUT} if chosen else {}
    formats = {}
    for name in graph.inputs:
        whole = integer_bits(max(abs(x) for x in limits[name]))
        bits = width + (ANGLE_BITS if name in turning else finer.get(name, 0))
        bits = min(max(own.get(name, bits - 1 - whole) + 1 + whole, 2), LARGEST_INPUT)
        formats[name] = Format(bits, bits - 1 - whole)
    return formats


def finer_inputs(graph: Graph, ranges: Ranges, width: int) -> dict[str, int]:
    """Inputs that saturations read, and no multiplier: the bits more that those make use of."""
    law = _read_only_by(graph, (Op.SATURATE,), (Op.ADD, Op.SUB, Op.NEG), True)
    if not any(node.op is Op.SATURATE for node in graph.nodes):
        return {}
    needed, wide = needed_fraction(graph, ranges, width), pivots(graph)
    return {
        node.name: needed[node] - (width - 1 - integer_bits(ranges.bound[node]))
        for node in graph.nodes
        if node.op is Op.INPUT and node in wide and any(user in law for user in graph.users[node])
    }


def unit_widths(graph: Graph, chosen: Mapping[Node, int]) -> dict[Node, int]:
    """Operand of SIN, COS or MANTISSA → the width of its unit, from chosen fraction bits."""
    whole = {Op.SIN: 1, Op.COS: 1, Op.MANTISSA: 2}
    found: dict[Node, int] = {}
    for node in graph.nodes:
        if node.op in whole:
            (operand,) = node.args
            width = min(max(chosen[node] + whole[node.op], UNIT_WIDTHS[0]), UNIT_WIDTHS[1])
            found[operand] = max(width, found.get(operand, 0))
    return found


def wordlength(
    graph: Graph,
    ranges: Ranges,
    width: int,
    inputs: Mapping[str, Format],
    chosen: Mapping[Node, int] | None = None,
    guard: int = GUARD,
    finer: Mapping[Node, int] = NO_FINER,
) -> FixedGraph:
    """Formats for a graph whose constants are powers of two already.

    ``width`` is the widest word that meets a multiplier. Signals are narrower where their
    operands have no more bits to give, and ``guard`` wider where only additions read them; up to
    twice as wide where they end in reciprocals and shifts. ``chosen`` fraction bits of each node
    (``precision``) take the place of all that. Above its largest value every word has room for
    what rounding, its own and its operands', makes of it.
    """
    needed = needed_fraction(graph, ranges, width, guard, finer) if chosen is None else chosen
    units = {} if chosen is None else unit_widths(graph, chosen)
    wide = sums_only(graph)
    if chosen is not None:
        width = WIDEST_FACTOR
    steps: dict[Node, int] = {}
    formats: dict[Node, Format] = {}
    off = Deviations(ranges, traced=chosen is not None)
    for node in graph.nodes:
        for a in node.args:
            if a not in off:
                off.add(a, formats[a])
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
                own = units.get(node.args[0], width)
                formats[node] = Format(own, own - 1)
                continue
            case Op.MANTISSA | Op.EXPONENT:
                (pivot,) = node.args
                top = of[0].width - 1 - of[0].fraction
                lowest = max(least_exponent(ranges, pivot), 1 - of[0].fraction)
                steps[pivot] = max(1, (top - lowest).bit_length())
                own = units.get(pivot, width)
                formats[node] = Format(own, own - 2)
                if node.op is Op.EXPONENT:
                    lowest = top - (1 << steps[pivot]) + 1
                    formats[node] = Format(exponent_width(lowest, top), 0)
                continue
            case Op.SCALE:
                unit = FixedGraph(graph, {}, formats, width, steps, units).reciprocal(node.args[1])
                # bits that some exponent brings up; and what shifters turn fits int64
                room = of[0].fraction + unit.lowest + WIDEST - of[0].width
                fraction = min(needed[node], of[0].fraction + unit.top, room)
            case Op.MUL:
                fraction = min(needed[node], of[0].fraction + of[1].fraction)
            case Op.NEG | Op.SATURATE:
                fraction = min(needed[node], of[0].fraction)
            case Op.SELECT:
                fraction = min(needed[node], *(f.fraction for f in of[1:]))
            case _:
                fraction = min(needed[node], max(f.fraction for f in of))
        if phase:
            bits = phase_bits(units.get(node, width))
            formats[node] = Format(bits, bits, wraps=True)
            continue
        rounded = node.op is Op.MUL and node not in wide
        most = max(whole + fraction + 1, width)  # a word as wide as it may be has no more bits
        if chosen is not None and fraction < -WIDEST:
            raise PrecisionError(f"errors grow beyond words of {WIDEST_FACTOR} bits")
        spare = headroom(node, ranges, off, 2.0**-fraction)
        if node.op is Op.SATURATE:  # nothing is beyond its limit, which may be one word too high
            spare = -(2.0**-fraction)
        whole = integer_bits(ranges.bound[node] + spare)
        fraction = min(fraction, most - 1 - whole)
        if whole + fraction + 1 < COARSE:  # one more: roundings upstream are as large as it is
            whole += 1
        size = max(whole + fraction + 1, 2)
        formats[node] = Format(size, fraction, rounded=rounded)
    return FixedGraph(graph, dict(inputs), formats, width, steps, units)


ROUNDING = 1 + 2.0**-10  # sums are rounded, which may carry them beyond what is exact

Linear = dict[str | None, float]  # input → factor; None: what is added


def for_wraparound(graph: Graph, ranges: Ranges, limits: Mapping[str, Interval]) -> Ranges:
    """The ranges, where they are smaller those of angles raised to what whole words make of them.

    ``limits``: of each input; its word goes to the next power of two.
    """
    towards = _towards(graph)
    largest = {name: 2.0 ** integer_bits(max(map(abs, ends))) for name, ends in limits.items()}
    bound, proven = dict(ranges.bound), set(ranges.proven)
    found: dict[Node, Linear] = {}
    for node in graph.nodes:
        if node not in towards:
            continue
        linear = _linear(node, [found.get(a) for a in node.args])
        if linear is None:
            continue
        found[node] = linear
        if node.op is not Op.INPUT:
            whole = sum(
                abs(factor) * (1.0 if name is None else largest[name])
                for name, factor in linear.items()
            )
            bound[node] = max(bound[node], whole * ROUNDING)
            proven.add(node)
    return replace(ranges, bound=bound, proven=frozenset(proven))


def whole_limits(graph: Graph, limits: Mapping[str, Interval]) -> dict[str, Interval]:
    """The limits, those of angles to the ends of their words."""
    found = dict(limits)
    for node in _towards(graph):
        if node.op is Op.INPUT:
            largest = 2.0 ** integer_bits(max(map(abs, limits[node.name])))
            found[node.name] = -largest, largest
    return found


def _towards(graph: Graph) -> set[Node]:
    """The graph's angles, and what they are made of."""
    found = angles(graph)
    for node in reversed(graph.nodes):
        if node in found:
            found.update(node.args)
    return found


def _linear(node: Node, args: list[Linear | None]) -> Linear | None:
    """The node as factors of inputs, None where it is not linear in them."""
    match node.op, args:
        case Op.INPUT, _:
            return {node.name: 1.0}
        case Op.CONST, _:
            return {None: node.value}
        case (Op.MULC, [dict(a)]):
            return {name: node.value * factor for name, factor in a.items()}
        case (Op.NEG, [dict(a)]):
            return {name: -factor for name, factor in a.items()}
        case (Op.ADD | Op.SUB as op, [dict(a), dict(b)]):
            sign = 1.0 if op is Op.ADD else -1.0
            names = dict.fromkeys((*a, *b))
            return {name: a.get(name, 0.0) + sign * b.get(name, 0.0) for name in names}
    return None
