"""How far the words of a fixed-point graph may be from the real numbers that they stand for.

First order, roundings independent of each other: each adds the variance of a uniform error of its
last bit, and operands bring theirs times the largest slope. A word of few bits needs that room
above its range, or rounding carries it over; of a word of 18 bits it is less than a thousandth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from ..graph.fixed import Format
from ..graph.node import Node, Op
from .ranges import Ranges

MOST = 2.0**-9  # of its range, that operands bring on: slopes are not all largest at once
DEVIATIONS = 4.0  # standard deviations of room: more than a last bit for its own rounding

# Node, ranges, the operands' deviations → what they make of the result, its own rounding aside.
CARRIED: dict[Op, Callable[[Node, Ranges, Sequence[float]], float]] = {
    Op.INPUT: lambda node, ranges, of: 0.0,
    Op.CONST: lambda node, ranges, of: 0.0,
    Op.ADD: lambda node, ranges, of: math.hypot(*of),
    Op.SUB: lambda node, ranges, of: math.hypot(*of),
    Op.NEG: lambda node, ranges, of: of[0],
    Op.MUL: lambda node, ranges, of: math.hypot(
        of[0] * ranges.bound[node.args[1]], of[1] * ranges.bound[node.args[0]]
    ),
    Op.MULC: lambda node, ranges, of: node.value * of[0],
    Op.SIN: lambda node, ranges, of: of[0] * math.tau / node.value,
    Op.COS: lambda node, ranges, of: of[0] * math.tau / node.value,
    # of a quotient relative to the largest operand: where that is small its word has more bits
    Op.RECIP: lambda node, ranges, of: _relative(node, ranges, of[0]),
    Op.MANTISSA: lambda node, ranges, of: _relative(node, ranges, of[0]),
    Op.EXPONENT: lambda node, ranges, of: 0.0,
    Op.SCALE: lambda node, ranges, of: _relative(node, ranges, of[0]),
    Op.SELECT: lambda node, ranges, of: max(of[1:]),
}


def _relative(node: Node, ranges: Ranges, of: float) -> float:
    return ranges.bound[node] * of / ranges.bound[node.args[0]] if of else 0.0


def headroom(node: Node, ranges: Ranges, of: Mapping[Node, float], ulp: float) -> float:
    """What a word needs above its range, its own last bit included.

    ``of``: operands' standard deviations.
    """
    return DEVIATIONS * _with(_carried(node, ranges, of), ulp) + ulp


def deviation(node: Node, ranges: Ranges, of: Mapping[Node, float], word: Format) -> float:
    """Standard deviation of a word from the real number that it stands for."""
    carried = min(_carried(node, ranges, of), MOST * ranges.bound[node])
    return _with(carried, 2.0**-word.fraction)


def _carried(node: Node, ranges: Ranges, of: Mapping[Node, float]) -> float:
    return CARRIED[node.op](node, ranges, [of[a] for a in node.args])


def _with(carried: float, ulp: float) -> float:
    return math.hypot(carried, ulp / math.sqrt(12))
