"""The largest and the smallest value of every signal of a graph in sampled states.

``extents.cpp`` computes what ``evaluate`` does, bit for bit, and keeps the ends alone, so that a
hundred thousand signals in as many states take seconds; sines are NumPy's in both.
`GraphArrays` is a graph for the C++ that travels with rbdgen.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph.evaluate import Array, evaluate
from ..graph.graph import Graph
from ..graph.node import Node, Op
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


LEAST = 1024  # states of a thread


@dataclass(frozen=True, eq=False)
class Extents:
    """The ``largest`` magnitude of each node, and the first state of it.

    ``smallest``, ``smallest_at``: the value that is smallest, of those nodes that it was asked of.
    """

    largest: dict[Node, float]
    largest_at: dict[Node, int]
    smallest: dict[Node, float]
    smallest_at: dict[Node, int]


def extents(
    graph: Graph, states: Mapping[str, Array], lowest: Collection[Node] = frozenset()
) -> Extents:
    """The extents of a graph over inputs (N,) each, N at least 1; the smallest of ``lowest``.

    NoCompiler, CompilerError; ValueError without states.
    """
    return _in_cpp(library("extents.cpp"), graph, states, lowest)


def extents_of_all(
    graph: Graph, all_states: Iterable[Mapping[str, Array]], lowest: Collection[Node] = frozenset()
) -> Extents:
    """The same over the states of each, one after the other: they need not be there together."""
    found, so_far = None, 0
    for states in all_states:
        own = extents(graph, states, lowest)
        found = own if found is None else joined(found, own, so_far)
        so_far += len(next(iter(states.values()), ()))
    if found is None:
        raise ValueError("no states")
    return found


def joined(first: Extents, more: Extents, states: int) -> Extents:
    """The extents over so many ``states``, which are ``first``'s, and those that come after."""
    found = Extents(*(dict(own) for own in vars(first).values()))
    for node, value in more.largest.items():
        so_far = first.largest[node]
        if not value <= so_far and so_far == so_far:
            found.largest[node], found.largest_at[node] = value, states + more.largest_at[node]
    for node, value in more.smallest.items():
        so_far = first.smallest[node]
        if not value >= so_far and so_far == so_far:
            found.smallest[node], found.smallest_at[node] = value, states + more.smallest_at[node]
    return found


def _in_cpp(
    compiled: ctypes.CDLL, graph: Graph, states: Mapping[str, Array], lowest: Collection[Node]
) -> Extents:
    sizes = [np.size(states[name]) for name in graph.inputs if name in states]
    size = max(sizes, default=1)
    if not min(sizes, default=1):
        raise ValueError("no states")
    given = {
        node: states[node.name]
        for node in graph.nodes
        if node.op is Op.INPUT or (node.op is Op.PARAMETER and node.name in states)
    }
    sines = {str(k): n for k, n in enumerate(graph.nodes) if n.op in (Op.SIN, Op.COS)}
    values = evaluate(Graph(graph.inputs, sines), states)
    given |= {node: values[name] for name, node in sines.items()}
    columns = [
        np.ascontiguousarray(np.broadcast_to(own, size), np.float64) for own in given.values()
    ]
    number = {node: k for k, node in enumerate(given)}
    column = np.array([number.get(node, -1) for node in graph.nodes], np.int32)
    asked = np.array([node in lowest for node in graph.nodes], np.uint8)
    arrays = arrays_of(graph, dict.fromkeys(graph.inputs, 0))
    parts = min(os.cpu_count() or 1, -(-size // LEAST))
    ends = [size * k // parts for k in range(parts + 1)]
    with ThreadPoolExecutor(parts) as pool:
        found = list(
            pool.map(
                lambda k: _part(compiled, arrays, column, columns, asked, ends[k], ends[k + 1]),
                range(parts),
            )
        )
    largest, largest_at, smallest, smallest_at = found[0]
    for more, more_at, less, less_at in found[1:]:
        higher, lower = ~(more <= largest) & (largest == largest), ~(less >= smallest)
        lower &= smallest == smallest
        largest, largest_at = np.where(higher, more, largest), np.where(higher, more_at, largest_at)
        smallest = np.where(lower, less, smallest)
        smallest_at = np.where(lower, less_at, smallest_at)
    nodes = graph.nodes
    below = zip(nodes, smallest.tolist(), smallest_at.tolist(), strict=True)
    least = [(node, value, at) for node, value, at in below if node in lowest]
    return Extents(
        dict(zip(nodes, largest.tolist(), strict=True)),
        dict(zip(nodes, largest_at.tolist(), strict=True)),
        {node: value for node, value, _ in least},
        {node: at for node, _, at in least},
    )


def _part(
    compiled: ctypes.CDLL,
    arrays: GraphArrays,
    column: NDArray[np.int32],
    columns: list[Array],
    lowest: NDArray[np.uint8],
    first: int,
    last: int,
) -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    """Extents over the states from ``first`` up to ``last``."""

    def pointer(array: NDArray[Any]) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    n = len(column)
    largest, smallest = np.empty(n), np.empty(n)
    largest_at, smallest_at = np.empty(n, np.int64), np.empty(n, np.int64)
    pointers = (ctypes.c_void_p * max(len(columns), 1))(*(own.ctypes.data for own in columns))
    compiled.extents(
        ctypes.c_int32(n),
        *(pointer(own) for own in (arrays.op, *arrays.args, arrays.value, column)),
        pointers,
        pointer(lowest),
        ctypes.c_int64(first),
        ctypes.c_int64(last),
        *(pointer(own) for own in (largest, largest_at, smallest, smallest_at)),
    )
    return largest, largest_at, smallest, smallest_at
