"""How far the words of a fixed-point graph may be from the real numbers that they stand for.

Roundings are independent of each other: each adds the variance of a uniform error of its
last bit, and operands bring theirs times the largest slope. A word of few bits needs that room
above its range, or rounding carries it over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ..graph.fixed import Format
from ..graph.node import Node, Op
from .ranges import Ranges

MOST = 2.0**-9  # of its range, that operands bring on: slopes are not all largest at once
COARSE = 8  # bits: narrower words are as far off as what they stand for
DEVIATIONS = 4.0  # standard deviations of room: more than a last bit for its own rounding

# Node, ranges, each operand's deviation → what they make of the result, its own rounding aside.
CARRIED: dict[Op, Callable[..., float]] = {
    Op.INPUT: lambda node, ranges: 0.0,
    Op.CONST: lambda node, ranges: 0.0,
    Op.PARAMETER: lambda node, ranges: 0.0,
    Op.ADD: lambda node, ranges, a, b: math.hypot(a, b),
    Op.SUB: lambda node, ranges, a, b: math.hypot(a, b),
    Op.NEG: lambda node, ranges, a: a,
    Op.MUL: lambda node, ranges, a, b: math.hypot(
        a * ranges.bound[node.args[1]], b * ranges.bound[node.args[0]], a * b
    ),
    Op.MULC: lambda node, ranges, a: node.value * a,
    Op.SIN: lambda node, ranges, a: a * math.tau / node.value,
    Op.COS: lambda node, ranges, a: a * math.tau / node.value,
    # of a quotient relative to the largest operand: where that is small its word has more bits
    Op.RECIP: lambda node, ranges, a: _relative(node, ranges, a),
    Op.MANTISSA: lambda node, ranges, a: _relative(node, ranges, a),
    Op.EXPONENT: lambda node, ranges, a: 0.0,
    Op.SCALE: lambda node, ranges, x, k: _relative(node, ranges, x),
    Op.SELECT: lambda node, ranges, c, a, b: max(a, b),
}


def _relative(node: Node, ranges: Ranges, of: float) -> float:
    return ranges.bound[node] * of / ranges.bound[node.args[0]] if of else 0.0


def headroom(node: Node, ranges: Ranges, of: Mapping[Node, float], ulp: float) -> float:
    """The headroom of a word above its range, its own last bit included.

    ``of``: operands' standard deviations.
    """
    return DEVIATIONS * _with(_carried(node, ranges, of), ulp) + ulp


class Deviations(dict[Node, float]):
    """Standard deviations of nodes' words from the real numbers that they stand for.

    What operands bring is at most a small share of a node's range. But behind a word of so few bits
    that it is as far off as what it stands for, it is all that it brings, for as long as that is
    more than such a share. That is ``traced`` where words are as short as an error allows; of words
    of one width, few are so short, and matter.
    """

    def __init__(self, ranges: Ranges, traced: bool) -> None:
        super().__init__()
        self.ranges, self._traced = ranges, traced
        self._coarse: set[Node] = set()

    def add(self, node: Node, word: Format) -> None:
        """The deviation of a node in that word; its operands' are known."""
        carried, most = _carried(node, self.ranges, self), MOST * self.ranges.bound[node]
        behind = self._traced and not self._coarse.isdisjoint(node.args) and carried > most
        if word.width < COARSE or behind:
            self._coarse.add(node)
        else:
            carried = min(carried, most)
        self[node] = _with(carried, 2.0**-word.fraction)


def _carried(node: Node, ranges: Ranges, of: Mapping[Node, float]) -> float:
    return CARRIED[node.op](node, ranges, *(of[a] for a in node.args))


def _with(carried: float, ulp: float) -> float:
    return math.hypot(carried, ulp / math.sqrt(12))
