"""A graph as arrays of numbers, for what is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph.evaluate import Array
from ..graph.graph import Graph
from ..graph.node import Op

Int32 = NDArray[np.int32]
# In the order of ``enum Op`` of the C++ files, which read and write past their arrays for another.
COMPILED = (
    Op.INPUT,
    Op.CONST,
    Op.ADD,
    Op.SUB,
    Op.NEG,
    Op.MUL,
    Op.MULC,
    Op.SIN,
    Op.COS,
    Op.RECIP,
    Op.MANTISSA,
    Op.EXPONENT,
    Op.SCALE,
    Op.SELECT,
)
OPS = {op: number for number, op in enumerate(COMPILED)}
# a register that no input stands for is the constant that it holds until it is written
OPS[Op.HELD] = OPS[Op.CONST]


@dataclass(frozen=True, eq=False)
class Arrays:
    """``op``: (nodes,), by OPS. ``args``: (3, nodes), places of operands; of INPUT the coordinate.
    ``value``: (nodes,)."""

    op: Int32
    args: Int32
    value: Array


def arrays_of(graph: Graph, coordinate: Mapping[str, int]) -> Arrays:
    """The nodes of a graph; ``coordinate``: the number of each input.

    KeyError for an operation or an input that the compiled code has not.
    """
    place = {node: i for i, node in enumerate(graph.nodes)}
    args = np.zeros((3, len(place)), np.int32)
    for node, i in place.items():
        own = [coordinate[node.name]] if node.op is Op.INPUT else [place[a] for a in node.args]
        args[: len(own), i] = own
    return Arrays(
        np.array([OPS[node.op] for node in place], np.int32),
        args,
        np.array([node.value for node in place]),
    )
