"""Error bounds of each word of a fixed-point graph, against the real number that it represents.

Each operation adds what its own word cuts off, by the rules of ``graph/fixed.py``, to what its
operands bring on: of a sum theirs, of a product each times the largest of the other (Darulova and
Kuncak, *Towards a compiler for reals*, 2017). It holds as long as no word overflows.

Bounds of output errors that follow from the errors of a graph's signals.

The error of an output is Σ gain · error over all nodes, each that which the node adds by itself.
A gain is the derivative of the output by the node: a graph of its own, made backwards, whose
signals have proven bounds like any others. So errors that turn with a vector are turned, not added
up at each joint. Products of two errors are added as errors of their own.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import cast

import numpy as np

from ..graph.derivative import DERIVATIVE
from ..graph.evaluate import Interval
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op, Scalar
from ..graph.reciprocal import Reciprocal
from ..graph.sincos import SinCos
from .bounds import magnitudes
from .windows import Unit

OUTWARD = 1 + 2.0**-44  # what float64 rounds off of a bound
MOST_ANGLES = 23  # bits of angles that are all tried
CHUNK = 1 << 18

Errors = Mapping[Node, float]
NOTHING: Errors = {}


def summed(
    graph: Graph,
    largest: Errors,
    own: Errors,
    least: Errors = NOTHING,
    given: Errors = NOTHING,
    relative: Errors = NOTHING,
    moved: Errors = NOTHING,
) -> dict[Node, float]:
    """Node → its error, at most, if each adds at most its ``own``.

    ``least``: the lowest value of each over real numbers, for pivots. ``given``: what is known of
    some errors otherwise, and ``relative`` to the value of some pivots. The mantissa of a pivot,
    and products of it, are compared with that of the pivot's word: what that is off is counted
    where both are scaled. ``moved``: how far constants are, of which ``own`` has what they are off
    times the largest operand: its error is multiplied by more, too.
    """
    found: dict[Node, float] = {}
    for node in graph.nodes:
        error = step(node, largest, least, found, relative) + own[node]
        error = (error + further(node, found, moved)) * OUTWARD
        found[node] = min(error, given.get(node, math.inf))
    return found


def step(
    node: Node, largest: Errors, least: Errors, of: Errors, relative: Errors = NOTHING
) -> float:
    """The error of a node that follows from the errors ``of`` its operands."""
    if node.op is Op.SCALE:
        return _scaled(node, largest, least, of, relative)
    return CARRIED[node.op](node, largest, *(of[arg] for arg in node.args))


def further(node: Node, of: Errors, moved: Errors) -> float:
    """The additional error of a product by a constant that is ``moved``, from its operand's."""
    by = moved.get(node, 0.0)
    return by * of[node.args[0]] if by else 0.0


def _scaled(node: Node, largest: Errors, least: Errors, of: Errors, relative: Errors) -> float:
    """The error of x · mantissa · 2^-exponent, which is x / a.

    An error before the shift is multiplied by 2^-k, which is at most 1 / a; in addition x / a has
    the relative error of a's word.
    """
    x, exponent = node.args
    (pivot,) = exponent.args
    word, share = lowest_word(pivot, least, of, relative)
    if not word > 0 or not math.isfinite(of[x]):
        return math.inf
    return of[x] / word + (largest[node] * share if share else 0.0)


def lowest_word(pivot: Node, least: Errors, of: Errors, relative: Errors) -> tuple[float, float]:
    """The lowest word of a pivot, and how far its reciprocal is off, relative to what it is."""
    low, by = least.get(pivot, 0.0), relative.get(pivot, math.inf)
    word = max(low - of[pivot], low * (1 - by))
    if not word > 0:
        return 0.0, math.inf
    return word, min(of[pivot] / word, by / (1 - by) if by < 1 else math.inf)


def between(exact: Errors, sizes: Errors, least: Errors, node: Node, own: Errors) -> float:
    """The rounding error of a signal on the way from words whose errors, ``exact``, are known.

    Infinite if an input comes in between. ``sizes``, ``least``: magnitudes of words, at most and at
    least.
    """
    made: dict[Node, float] = {}
    large: dict[Node, float] = {}
    found = ChainMap(made, cast(dict[Node, float], exact))
    largest = ChainMap(large, cast(dict[Node, float], sizes))

    def reach(at: Node) -> None:
        if at in made or (at in exact and at is not node):
            return
        for arg in at.args:
            reach(arg)
        if not at.args:
            made[at] = own[at] if at.op is Op.CONST else math.inf
            large[at] = abs(at.value)
            return
        if at is node or at not in sizes:
            large[at] = _size_of(at, largest, least)
        made[at] = step(at, largest, least, found) + own[at]

    reach(node)
    return made.get(node, 0.0)


def _size_of(node: Node, largest: Errors, least: Errors) -> float:
    sizes = [largest[arg] for arg in node.args]
    match node.op:
        case Op.MUL:
            return math.prod(sizes)
        case Op.MULC:
            return node.value * sizes[0]
        case Op.NEG:
            return sizes[0]
        case Op.MANTISSA:
            return 2.0
        case Op.EXPONENT:
            return math.inf
        case Op.SCALE:
            pivot = node.args[1].args[0]
            return sizes[0] / least[pivot] if least.get(pivot, 0.0) > 0 else math.inf
    return sum(sizes)


def rounding(fixed: FixedGraph, largest: Mapping[Node, float]) -> dict[Node, float]:
    """The truncation error of each node's word, at most."""
    return {node: _own(fixed, node, largest) for node in fixed.graph.nodes}


def moving(
    graph: Graph, largest: Mapping[Node, float], moved: Mapping[Node, float]
) -> dict[Node, float]:
    """The error that a constant that is ``moved`` adds to each product, at most."""
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
    Op.PARAMETER: lambda node, largest: 0.0,
    Op.ADD: lambda node, largest, a, b: a + b,
    Op.SUB: lambda node, largest, a, b: a + b,
    Op.NEG: lambda node, largest, a: a,
    Op.MUL: _multiplied,
    Op.MULC: lambda node, largest, a: node.value * a,
    Op.SIN: _turned,
    Op.COS: _turned,
    Op.RECIP: _unknown,
    Op.MANTISSA: lambda node, largest, a: 0.0,  # see ``summed``, and of SCALE ``step``
    Op.EXPONENT: lambda node, largest, a: 0.0,
    Op.SCALE: _unknown,
    Op.SELECT: _unknown,
    Op.SATURATE: lambda node, largest, a: a,
}


def _own(fixed: FixedGraph, node: Node, largest: Mapping[Node, float]) -> float:
    word = fixed.formats[node]
    ulp = 2.0**-word.fraction
    of = [fixed.formats[arg].fraction for arg in node.args]
    match node.op:
        case Op.INPUT | Op.PARAMETER:  # the nearest word; of what is above the highest that one
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
        case Op.SATURATE:  # the nearest word, or the last one within the limit
            ends = [abs(end) * ulp for end in fixed.saturation(node)]
            half = ulp / 2 if of[0] > word.fraction else 0.0
            return max(half, min(largest[node], node.value) - min(ends))
        case Op.NEG if of[0] > word.fraction:
            return ulp
        case Op.SIN | Op.COS:
            return of_unit(fixed.sincos(node))
        case Op.MANTISSA:
            return of_reciprocal(fixed.reciprocal(node))
        case Op.SCALE:
            return ulp / 2
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


@cache
def of_reciprocal(unit: Reciprocal) -> float:
    """The largest error of a mantissa: of all that the table makes, and of a Newton step behind."""
    ulp = 2.0 ** (2 - unit.width)
    if unit.newton:  # y (2 - f y) is off by f times the square of what y is off
        seed = of_reciprocal(replace(unit, width=unit.seed))
        left = 4 * 2.0**-unit.fraction + 4 * 2.0**-unit.error_fraction
        return seed**2 + left + ulp
    bits = unit.fraction
    own = replace(unit, operand=bits + 2, top=0, steps=1)
    behind = np.arange(1 << bits, dtype=np.int64)
    words = own.compute((1 << bits) | behind)[0]
    f = (1.0 + behind / 2.0**bits) / 2
    worst = float(np.abs(np.ldexp(words, 2 - unit.width) - 1 / f).max())
    return worst + 2.0 ** (1 - bits) + 2.0**-48  # bits of f that it does not see


def of_parts(unit: SinCos) -> float:
    """The sum of what each step of the unit leaves out."""
    k, _ = unit.radians
    bits = round(math.log2(k / math.tau))
    step = math.pi / 2**11  # the largest δ: half of a 512th of a quarter turn
    delta = step * abs(k / (math.tau * 2.0**bits) - 1) + 2.0**-unit.delta_fraction
    taylor = step**2 / 2 if unit.order == 1 else step**3 / 6 + step * delta
    table = 2.0**-unit.table_fraction / unit.order  # sines next to 1 are one last bit off in 20
    dropped = 2.0 if unit.order == 1 else 2.0 + _short_factors(unit, step)
    slope = step * dropped * 2.0**-unit.slope_fraction
    # the highest word is one below 1; half of that is rounded off, a quarter and an eighth before
    last = 2.0 ** (1 - unit.width) * 1.875
    return delta + taylor + table + slope + last


def _short_factors(unit: SinCos, step: float) -> float:
    """The error of ½ δ sin φ by its short factors, in last bits of a slope."""
    sine = step / 2 * 2.0 ** (1 - unit.short_width)
    distance = 2.0 ** (unit.delta_width - unit.short_width - unit.delta_fraction) / 2
    return (sine + distance) * 2.0**unit.slope_fraction


def propagated(
    graph: Graph,
    limits: Mapping[str, Interval],
    own: Mapping[Node, float],
    error: Mapping[Node, float],
    units: Sequence[Unit] = (),
) -> dict[str, float]:
    """Output → its error, at most, of what each node adds of its ``own``.

    ``error``: of each node, at most, however coarse: products of two of them are small.
    """
    added = {node: own[node] + _second(node, error) for node in graph.nodes}
    found: dict[str, float] = {}
    for name, output in graph.outputs.items():
        made, slopes = gains(graph, output)
        largest = magnitudes(made, limits, units)
        total = sum(largest[slope] * added[node] for node, slope in slopes.items() if added[node])
        found[name] = total * OUTWARD
    return found


def gains(graph: Graph, output: Node) -> tuple[Graph, dict[Node, Node]]:
    """A graph of the derivatives of an output by all nodes that it needs; node → its derivative.

    Derivatives are in the region of their node: what is next to each other stays so.
    """
    builder = Builder()
    cone = Graph(graph.inputs, {"": output}).nodes
    new: dict[Node, Node] = {}
    for node in cone:
        with builder.in_region(node.region):
            new[node] = builder.same(node, [new[arg] for arg in node.args])
    slopes: dict[Node, Node] = {output: builder.const(1.0)}
    for node in reversed(cone):
        with builder.in_region(node.region):
            for arg, by in zip(node.args, _slopes(builder, node, new), strict=True):
                part = builder.mul(slopes[node], by)
                slopes[arg] = builder.add(slopes[arg], part) if arg in slopes else part
    outputs = {str(k): slope for k, slope in enumerate(slopes.values())}
    return Graph(graph.inputs, outputs), slopes


def _slopes(builder: Builder, node: Node, new: Mapping[Node, Node]) -> list[Scalar]:
    """The derivatives of a node by its operands: its tangents along each."""
    args = [new[arg] for arg in node.args]
    tangent = DERIVATIVE[node.op].tangent
    return [
        tangent(builder, node, new[node], *((x, float(k == along)) for k, x in enumerate(args)))
        for along in range(len(args))
    ]


def _second(node: Node, error: Mapping[Node, float]) -> float:
    """The second-order error of a node, which the derivative leaves out."""
    if node.op is Op.MUL:
        a, b = node.args
        return error[a] * error[b]
    if node.op in (Op.SIN, Op.COS):
        return (error[node.args[0]] * math.tau / node.value) ** 2 / 2
    return 0.0
