"""How far each word of a fixed-point graph is from the real number that it stands for, at most.

Each operation adds what its own word cuts off, by the rules of ``graph/fixed.py``, to what its
operands bring on: of a sum theirs, of a product each times the largest of the other (Darulova and
Kuncak, *Towards a compiler for reals*, 2017). It holds as long as no word overflows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.sincos import SinCos

OUTWARD = 1 + 2.0**-44  # what float64 rounds off of a bound
MOST_ANGLES = 23  # bits of angles that are all tried
CHUNK = 1 << 18

Errors = Mapping[Node, float]


def errors(fixed: FixedGraph, largest: Mapping[Node, float]) -> dict[Node, float]:
    """Node → |word - real|, at most; infinite where nothing is known.

    ``largest``: the magnitude of each node over real numbers, at most.
    """
    return summed(fixed.graph, largest, rounding(fixed, largest))


def summed(
    graph: Graph, largest: Mapping[Node, float], own: Mapping[Node, float]
) -> dict[Node, float]:
    """Node → its error, at most, if each adds at most its ``own``."""
    found: dict[Node, float] = {}
    for node in graph.nodes:
        carried = CARRIED[node.op](node, largest, *(found[arg] for arg in node.args))
        found[node] = (carried + own[node]) * OUTWARD
    return found


def rounding(fixed: FixedGraph, largest: Mapping[Node, float]) -> dict[Node, float]:
    """What each node's own word cuts off, at most."""
    return {node: _own(fixed, node, largest) for node in fixed.graph.nodes}


def moving(
    graph: Graph, largest: Mapping[Node, float], moved: Mapping[Node, float]
) -> dict[Node, float]:
    """What a constant that is ``moved`` adds to each product, at most."""
    by = {node: moved.get(node, 0.0) for node in graph.nodes}
    return {node: by[node] * largest[node.args[0]] if by[node] else 0.0 for node in graph.nodes}


def _unknown(node: Node, largest: Mapping[Node, float], *of: float) -> float:
    return math.inf


def _turned(node: Node, largest: Mapping[Node, float], a: float) -> float:
    return a * math.tau / node.value


def _multiplied(node: Node, largest: Mapping[Node, float], a: float, b: float) -> float:
    x, y = (largest[arg] for arg in node.args)
    return a * b + sum(p * q if p and q else 0.0 for p, q in ((x, b), (y, a)))  # 0 · ∞ is 0


# Node, largest magnitudes, each operand's error → what they make of the result's.
CARRIED: dict[Op, Callable[..., float]] = {
    Op.INPUT: lambda node, largest: 0.0,
    Op.CONST: lambda node, largest: 0.0,
    Op.HELD: lambda node, largest: 0.0,
    Op.ADD: lambda node, largest, a, b: a + b,
    Op.SUB: lambda node, largest, a, b: a + b,
    Op.NEG: lambda node, largest, a: a,
    Op.MUL: _multiplied,
    Op.MULC: lambda node, largest, a: node.value * a,
    Op.SIN: _turned,
    Op.COS: _turned,
    Op.RECIP: _unknown,
    Op.MANTISSA: _unknown,
    Op.EXPONENT: _unknown,
    Op.SCALE: _unknown,
    Op.SELECT: _unknown,
}


def _own(fixed: FixedGraph, node: Node, largest: Mapping[Node, float]) -> float:
    word = fixed.formats[node]
    ulp = 2.0**-word.fraction
    of = [fixed.formats[arg].fraction for arg in node.args]
    match node.op:
        case Op.INPUT | Op.HELD:  # the nearest word; of what is above the highest that one
            return max(ulp / 2, largest[node] - word.highest * ulp)
        case Op.CONST:
            return abs(float(word.real(word.quantize(node.value))) - node.value)
        case Op.ADD | Op.SUB:
            lost = [max(0.0, ulp / 2 - 2.0**-f) for f in of]
            half = ulp / 2 if max(of) > word.fraction else 0.0
            if node.op is Op.ADD:  # bits that are cut off, or rounding up
                return max(sum(lost), half)
            return max(lost[0] + half, lost[1])
        case Op.MUL if sum(of) > word.fraction:
            return ulp / 2 if word.rounded else ulp
        case Op.NEG if of[0] > word.fraction:
            return ulp
        case Op.SIN | Op.COS:
            return of_unit(fixed.sincos(node))
    return 0.0


@cache
def of_unit(unit: SinCos) -> float:
    """The largest error of a sine or cosine: of all angles where they are few enough."""
    if unit.phase > MOST_ANGLES:
        return of_parts(unit)
    worst = 0.0
    for first in range(0, 1 << unit.phase, CHUNK):
        angle = np.arange(first, min(first + CHUNK, 1 << unit.phase))
        real = angle * (math.tau / 2.0**unit.phase)
        for words, exact in zip(unit.compute(angle), (np.sin(real), np.cos(real)), strict=True):
            worst = max(worst, float(np.abs(np.ldexp(words, 1 - unit.width) - exact).max()))
    return worst + 2.0**-48  # what NumPy's sines are off


def of_parts(unit: SinCos) -> float:
    """The sum of what each step of the unit leaves out."""
    k, _ = unit.radians
    bits = round(math.log2(k / math.tau))
    step = math.pi / 2**11  # the largest δ: half of a 512th of a quarter turn
    delta = step * abs(k / (math.tau * 2.0**bits) - 1) + 2.0**-unit.delta_fraction
    taylor = step**2 / 2 if unit.order == 1 else step**3 / 6 + step * delta
    table = 2.0**-unit.table_fraction
    slope = step * 2 * 2.0 ** (unit.spare - unit.table_fraction)
    last = 2.0 ** (1 - unit.width)  # half of it rounded off, and the highest word below 1
    return delta + taylor + table + slope + 2 * last
