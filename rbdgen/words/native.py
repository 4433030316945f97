"""Graphs for the C++ that travels with rbdgen.

A graph as arrays of numbers, for the C++ that travels with rbdgen.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..graph.evaluate import Array
from ..graph.graph import Graph
from ..graph.node import Op
from ..system.compiler import c_library

Int32 = NDArray[np.int32]
# In the order of ``enum Op`` of the C++ files, which read and write past their arrays for another.
COMPILED: tuple[Op, ...] = tuple(op for op in Op if op is not Op.PARAMETER)
OPS = {op: number for number, op in enumerate(COMPILED)}
# a register that no input stands for is the constant that it holds until it is written
OPS[Op.PARAMETER] = OPS[Op.CONST]
# without contraction of a * b + c, so that every machine computes the same
FLAGS = ("-std=c++17", "-O3", "-march=native", "-ffp-contract=off")


@dataclass(frozen=True, eq=False)
class GraphArrays:
    """``op``: (nodes,), by OPS. ``args``: (3, nodes), places of operands; of INPUT the coordinate.
    ``value``: (nodes,)."""

    op: Int32
    args: Int32
    value: Array


def arrays_of(graph: Graph, coordinate: Mapping[str, int]) -> GraphArrays:
    """The nodes of a graph; ``coordinate``: the number of each input.

    KeyError for an operation or an input that the compiled code has not.
    """
    place = {node: i for i, node in enumerate(graph.nodes)}
    args = np.zeros((3, len(place)), np.int32)
    for node, i in place.items():
        own = [coordinate[node.name]] if node.op is Op.INPUT else [place[a] for a in node.args]
        args[: len(own), i] = own
    return GraphArrays(
        np.array([OPS[node.op] for node in place], np.int32),
        args,
        np.array([node.value for node in place]),
    )


@cache
def library(name: str) -> ctypes.CDLL:
    """A C++ file of this folder, compiled for this machine once; NoCompiler, CompilerError."""
    found = c_library({name: Path(__file__).with_name(name).read_text("utf-8")}, flags=FLAGS)
    assert found is not None
    return found
