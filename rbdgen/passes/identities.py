"""What is equal for every input, though written differently, becomes one; what is constant, that.

Interning finds equal operations on equal operands only. But a + b - b is a, a moment about an axis
of symmetry vanishes, and two ways round a tree may end in one product. Two polynomials that agree
at a random point agree everywhere (Schwartz 1980, Zippel 1979), so each node is evaluated at a
few random inputs; nodes whose values agree to ten digits, up to sign and a power of two, share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..graph.evaluate import evaluate
from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op, Region
from .sums import SUMS

DIGITS = 10  # to which equal values agree
NONE = 1e-12  # a sum this small against its operands is rounding noise
CARRIED = (Op.MUL, Op.MULC, Op.SIN, Op.COS, Op.RECIP)  # dearer than a word on a channel

Array = NDArray[np.float64]


def identities(graph: Graph, inputs: Mapping[str, Array]) -> Graph:
    """The graph with each value computed once. ``inputs``: random, a few (n,) of each.

    A sum is taken from its own region only, a product also from a region that the node's region
    waits for already.
    """
    values: dict[Node, Array] = {}
    evaluate(graph, inputs, lambda node, v: values.update({node: np.atleast_1d(v)}))
    keys, constants = _keys(values), _constants(graph, values)
    before = _waits_for(graph)
    builder = Builder()
    new: dict[Node, Node] = {}
    known: dict[bytes, list[Node]] = {}
    for node in graph.nodes:
        with builder.in_region(node.region):
            new[node] = builder.same(node, [new[a] for a in node.args])
            if node.op in (Op.INPUT, Op.CONST, Op.NEG) or node.is_shift:
                continue
            if node in constants:
                new[node] = builder.const(constants[node])
                continue
            if new[node].op is Op.CONST or not values[node].any():
                continue
            alike = known.setdefault(keys[node], [])
            for other in alike:
                if _may_serve(other, node, before):
                    factor = _ratio(values[node], values[other])
                    new[node] = builder.mul(factor, new[other])
                    break
            else:
                alike.append(node)
    return graph.made(new)


def _constants(graph: Graph, values: Mapping[Node, Array]) -> dict[Node, float]:
    """What sums always are, up to rounding noise: 0, or of several states the same."""
    sums = [node for node in graph.nodes if node.op in SUMS and len(node.args) == 2]
    if not sums:
        return {}
    found = _rows([values[node] for node in sums])
    size = np.maximum(*(np.abs(_rows([values[node.args[k]] for node in sums])) for k in range(2)))
    none = np.all(np.abs(found) <= NONE * size, axis=1)
    same = np.all(np.abs(found - found[:, :1]) <= NONE * size, axis=1)
    same &= np.array([len(values[node]) > 1 for node in sums])
    return {
        node: 0.0 if none[k] else float(np.median(found[k]))
        for k, node in enumerate(sums)
        if none[k] or same[k]
    }


def _keys(values: Mapping[Node, Array]) -> dict[Node, bytes]:
    """The leading digits of each node's values, up to sign and a power of two."""
    v = _rows([*values.values()])
    exponents = np.frexp(np.abs(v).max(axis=1))[1]
    scaled = v * np.copysign(np.ldexp(1.0, -exponents), v[:, 0])[:, None]
    digits = np.round(scaled * 10.0**DIGITS) + 0.0  # minus zero is zero
    return {
        node: row[: len(own)].tobytes()
        for (node, own), row in zip(values.items(), digits, strict=True)
    }


def _rows(values: Sequence[Array]) -> Array:
    """One row for each, as long as the longest: what is the same in every state, repeated."""
    found = np.empty((len(values), max(map(len, values), default=1)))
    for row, own in zip(found, values, strict=True):
        row[:] = own
    return found


def _ratio(v: Array, other: Array) -> float:
    """v / other, which is ±2^k but for rounding."""
    ratio = float(v[0] / other[0])
    return math.copysign(2.0 ** round(math.log2(abs(ratio))), ratio)


def _may_serve(other: Node, node: Node, before: Mapping[Region | None, set[Region | None]]) -> bool:
    if other.region == node.region:
        return True
    return node.op in CARRIED and other.region in before[node.region]


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
