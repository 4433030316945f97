"""Exact passes: equal nodes merged, and operations in forms whose words are short.

An angle is counted in turns: sin x becomes sin 2π(x / 2π), so that dropping whole turns drops bits.

A reciprocal is in block-floating form: x · (1 / a) becomes (x · mantissa) · 2^-exponent.

The mantissa is a full word however small a is, and the product is scaled at once, so that the
left shift of a small a brings up bits that the product has. A reciprocal that anything but a
product reads is scaled itself. Signs and constants between a reciprocal and its product go
behind the shift, where they lose nothing.

Nodes that are equal for every input are merged, and constant ones become constants.

Interning finds equal operations on equal operands only. But a + b - b is a, a moment about an axis
of symmetry vanishes, and two ways round a tree may end in one product. Two polynomials that agree
at a random point agree everywhere (Schwartz 1980, Zippel 1979), so each node is evaluated at a
few random inputs. Nodes share whose values, up to sign and a power of two, differ at none of these
by more than rounding (``noise``).

The noise of a node is the standard deviation of its value where each operation before it rounds by
a part U of its result, independently: that of its operands times the slopes by them, and its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.derivative import DERIVATIVE
from ..graph.evaluate import FLOAT, Array
from ..graph.graph import Graph, rebuild
from ..graph.node import Builder, Node, Op, Region
from .sums import SUMS, Sums


def phase(graph: Graph) -> Graph:
    """Scale the argument of every SIN and COS by 1 / 2π; constant offsets lose whole turns."""

    def rule(builder: Builder, node: Node, args: list[Node]) -> Node:
        if node.op not in (Op.SIN, Op.COS) or node.value == 1.0:
            return builder.same(node, args)
        turns = _in_turns(builder, args[0])
        return builder.sin(turns, 1.0) if node.op is Op.SIN else builder.cos(turns, 1.0)

    return rebuild(graph, rule)


def _in_turns(builder: Builder, angle: Node) -> Node:
    if angle.op is Op.ADD and any(a.op is Op.CONST for a in angle.args):
        x, offset = sorted(angle.args, key=lambda a: a.op is Op.CONST)
        turns = offset.value / math.tau
        return builder.add(builder.mul(1 / math.tau, x), turns - round(turns))
    return builder.mul(1 / math.tau, angle)


def reciprocals(graph: Graph) -> Graph:
    """Lower every RECIP to MANTISSA, EXPONENT (both in its region) and SCALE."""

    def rule(builder: Builder, node: Node, args: list[Node]) -> Node:
        match node.op:
            case Op.RECIP:
                (a,) = args
                return builder.scale(builder.mantissa(a), builder.exponent(a))
            case Op.MUL:
                return _product(builder, *args)
        return builder.same(node, args)

    return rebuild(graph, rule)


def _product(builder: Builder, a: Node, b: Node) -> Node:
    """a · b, scaled last where one of them is a reciprocal."""
    for x, y in ((a, b), (b, a)):
        factor, core = _without_constants(y)
        if core.op is Op.SCALE and core.args[0].op is Op.MANTISSA:
            mantissa, exponent = core.args
            return builder.mul(factor, builder.scale(builder.mul(x, mantissa), exponent))
    return builder.mul(a, b)


def _without_constants(node: Node) -> tuple[float, Node]:
    """(c, x): the node is c · x, and x no multiple of anything."""
    factor = 1.0
    while node.op in (Op.NEG, Op.MULC):
        factor *= -1.0 if node.op is Op.NEG else node.value
        (node,) = node.args
    return factor, node


ROUNDING = 64.0  # deviations: what differs by less is equal
CELLS = 2**26  # in which an octave of values is searched for equals
DEAR = (Op.MUL, Op.MULC, Op.SIN, Op.COS, Op.RECIP)  # dearer than a word on a channel


def identities(graph: Graph, inputs: Mapping[str, Array]) -> Graph:
    """The graph with each value computed once. ``inputs``: random, a few (n,) of each.

    A product, or a sum that products are computed for alone, is also taken from another region, if
    the node's region waits for that one already; any other sum from its own region only.
    """
    values = with_noise(graph, inputs)
    before, carried = _waits_for(graph), _carried(graph)
    builder = Builder()
    new: dict[Node, Node] = {}
    known: dict[tuple[int, int, int], list[Node]] = {}
    for node in graph.nodes:
        with builder.in_region(node.region):
            new[node] = builder.same(node, [new[a] for a in node.args])
            if node.op in (Op.CONST, Op.NEG) or node.is_shift:
                continue
            own = values[node]
            if node.op is Op.INPUT:
                for cell in _cells(own):
                    known.setdefault(cell, []).append(node)
                continue
            if (constant := _constant(node, own)) is not None:
                new[node] = builder.const(constant)
                continue
            if new[node].op is Op.CONST:
                continue
            cells = list(_cells(own))
            for other, factor in _equal(own, cells, known, values):
                waits = node in carried and other.region in before[node.region]
                if waits or other.region in (node.region, None):
                    new[node] = builder.mul(factor, new[other])
                    break
            else:
                for cell in cells:
                    known.setdefault(cell, []).append(node)
    return graph.made(new)


def _constant(node: Node, own: NoisyValue) -> float | None:
    """The constant value of a sum up to rounding, 0 or the same in several states; None if none.

    That is read where there is least noise in it, and not at all where this is more than a few
    roundings: computed where it cancels less, the sum knows itself better than such a reading.
    """
    if node.op not in SUMS or not np.isfinite(own.noise).all():
        return None
    slack = ROUNDING * own.noise
    if (np.abs(own.value) <= slack).all():
        return 0.0
    clearest = int(np.argmin(own.noise))
    value = float(own.value[clearest])
    same = len(own.value) > 1 and (np.abs(own.value - value) <= slack).all()
    return value if same and own.noise[clearest] <= ROUNDING * U * abs(value) else None


def _cells(own: NoisyValue) -> Iterator[tuple[int, int, int]]:
    """Two cells in an octave. Values that are nearer than a quarter of a cell share one of them.

    They are those of the first value that is more than rounding; none where there is no such.
    """
    clear = np.isfinite(own.noise).all() & (np.abs(own.value) > ROUNDING * own.noise)
    if clear.any():
        k = int(np.argmax(clear))
        place = math.log2(abs(own.value[k])) % 1.0 * CELLS
        for half in (0, 1):
            yield k, half, int(place + half / 2) % CELLS


def _equal(
    own: NoisyValue,
    cells: list[tuple[int, int, int]],
    known: Mapping[tuple[int, int, int], list[Node]],
    values: Mapping[Node, NoisyValue],
) -> Iterator[tuple[Node, float]]:
    """Nodes of which this is ±2^k times, and that factor, the first one first."""
    for other in sorted({n for cell in cells for n in known.get(cell, ())}, key=lambda n: n.index):
        its, k = values[other], cells[0][0]
        ratio = float(own.value[k] / its.value[k])
        factor = math.copysign(2.0 ** round(math.log2(abs(ratio))), ratio)
        slack = ROUNDING * np.hypot(own.noise, factor * its.noise)
        if (np.abs(own.value - factor * its.value) <= slack).all():
            yield other, factor


def _carried(graph: Graph) -> set[Node]:
    """The nodes with which a product goes, if they are taken from elsewhere."""
    sums, found = Sums(graph), set[Node]()
    for node in graph.nodes:
        adds = node.op in (*SUMS, Op.NEG) or node.is_shift
        dear = node.op in DEAR and not node.is_shift
        if dear or (adds and any(a in found and sums.is_read_once(a) for a in node.args)):
            found.add(node)
    return found


def _waits_for(graph: Graph) -> dict[Region | None, set[Region | None]]:
    """Region → all regions that it waits for, directly or not."""
    direct: dict[Region | None, set[Region | None]] = {node.region: set() for node in graph.nodes}
    for node in graph.nodes:
        for arg in node.args:
            if arg.region != node.region and arg.op not in (Op.INPUT, Op.CONST):
                direct[node.region].add(arg.region)
    found: dict[Region | None, set[Region | None]] = {}

    def reach(region: Region | None) -> set[Region | None]:
        if region not in found:
            found[region] = set()
            for other in direct[region]:
                found[region] |= {other} | reach(other)
        return found[region]

    for region in direct:
        reach(region)
    return found


U = 2.0**-53  # a rounding in double, over its result


@dataclass(frozen=True, eq=False)
class NoisyValue:
    """``value`` and ``noise`` of a node, (n,) each."""

    value: Array
    noise: Array


def with_noise(graph: Graph, inputs: Mapping[str, Array]) -> dict[Node, NoisyValue]:
    """Every node at ``inputs``, (n,) each. What is computed from infinities is not finite.

    A choice (c < 0 ? a : b) is w(c) a + (1 - w(c)) b, with a function w that no graph has, and what
    saturates another odd function. So two nodes that are equal here are equal whichever branches
    are taken.
    """
    n = max(map(np.size, inputs.values()), default=1)
    found: dict[Node, NoisyValue] = {}
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            args = [found[a] for a in node.args]
            values = [a.value for a in args]
            slopes: tuple[Any, ...]
            if node.op is Op.INPUT or (node.op is Op.PARAMETER and node.name in inputs):
                value, slopes = inputs[node.name], ()
            elif node.op is Op.SELECT:
                value, slopes = _chosen(*values)
            elif node.op is Op.SATURATE:
                value, slopes = _saturated(node.value, *values)
            else:
                value = FLOAT[node.op](node, *values)
                slopes = DERIVATIVE[node.op].slopes(node, value, *values)
            value = np.broadcast_to(np.asarray(value, float), n)
            variance = 0.0 if node.op in (Op.INPUT, Op.PARAMETER) else (U * value) ** 2
            for slope, arg in zip(slopes, args, strict=True):
                variance = variance + (slope * arg.noise) ** 2
            found[node] = NoisyValue(value, np.broadcast_to(np.sqrt(variance), n))
    return found


def _chosen(c: Array, a: Array, b: Array) -> tuple[Array, tuple[Any, ...]]:
    """A choice that takes a bit of both, and its slopes."""
    w = 0.5 + np.sin(c + 1.0)
    return w * a + (1.0 - w) * b, (np.cos(c + 1.0) * (a - b), w, 1.0 - w)


def _saturated(limit: float, x: Array) -> tuple[Array, tuple[Any, ...]]:
    """A function of x / limit in place of its saturation, odd as that is, and its slope."""
    t = x / limit
    return limit * np.arctan(t), (1.0 / (1.0 + t * t),)
