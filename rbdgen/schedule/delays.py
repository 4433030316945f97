"""A part's small memories and fan-out: sizes that schedules, areas and hardware share.

How long operations take within a clock, in nanoseconds: what chaining them reckons with.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..design.target import Target
from ..graph.fixed import FixedGraph
from ..graph.graph import source
from ..graph.node import Node, Op
from .plan import Channel
from .units import normalising, shifting

BANK = 16  # words of one LUT-RAM
LONGEST_RING = BANK + 1  # cycles that a value waits in a LUT-RAM and the register behind it
ADDRESSED = 200  # bits of memory that one copy of an address reaches
READ = 72  # the same of an address that is read at: every bit is a load, not every fourth
LOADS = 400  # registers that one copy of a phase's bit enables


def capacity(channel: Channel) -> int:
    """Tokens the channel has room for: what the schedule asks for, in whole LUT-RAMs."""
    return -(-channel.depth // BANK) * BANK


@dataclass(frozen=True)
class Delay:
    """The delay of one operation, ns, with the wires in between.

    ``enter``: from the operands to the result, or to the first register where there are registers
    inside; ``leave``: from the last of those to the result; ``check``: from the result to where
    its overflow bit is registered.
    """

    enter: float
    leave: float = 0.0
    check: float = 0.0


def delay(fixed: FixedGraph, target: Target, node: Node) -> Delay:
    """The node's own delays."""
    ns, out = target.delays, fixed.formats[node]
    widths = [fixed.formats[source(a)].width for a in node.args]
    check = 2 * ns.lut if fixed.overflowing(node) else 0.0
    match node.op:
        case Op.INPUT:
            return Delay(0.0)
        case Op.ADD | Op.SUB | Op.NEG:
            return Delay(ns.sum(max(out.width, *widths) + 1), check=check)
        case Op.SELECT:
            return Delay(ns.lut, check=check)
        case Op.MUL:
            rounding = ns.sum(out.width + 1) if out.rounded else 0.0
            return Delay(ns.product(target.hardware_multipliers(*widths)) + rounding, check=check)
        case Op.SCALE:
            first, *_ = shifting(fixed.scale(node).steps)
            return Delay(ns.sum(widths[1]) + len(first) * ns.lut, ns.sum(out.width + 1), check)
        case Op.SIN | Op.COS:  # the first addition of the distance in radians
            return Delay(ns.sum(fixed.sincos(node).phase))
        case Op.MANTISSA | Op.EXPONENT:  # whether the first 2^j bits are empty, and by it a shift
            steps = normalising(fixed.reciprocal(node).steps)[0]
            luts = sum(levels(1 << j) + 1 for j in steps)
            return Delay(luts * ns.lut, check=check)
    raise ValueError(f"no delay for {node.op.value}")


def gathering(target: Target, bits: int) -> float:
    """ns of an OR of so many bits."""
    return levels(bits) * target.delays.lut


def levels(inputs: int) -> int:
    """The levels of a tree of LUTs with four inputs each."""
    count = 0
    while inputs > 1:
        inputs, count = -(-inputs // 4), count + 1
    return max(count, 1)
