"""Orders of a graph's statements, in which little is kept for long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..graph.graph import Graph
from ..graph.node import Node
from .interface import ArrayInterface


def columns(graph: Graph, interface: ArrayInterface) -> list[Node]:
    """The graph's outputs, column by column of all matrices.

    Most of what a gradient's column takes is its own: solved for row by row of all columns, as the
    graph has it, all of them would be kept until the last row. What factors of M a row takes is the
    same in every matrix, so one row of all comes before the next.
    """
    shapes = {array.name: array.shape or (1,) for array in interface.gives}
    arrays = {name: k for k, name in enumerate(shapes)}

    def place(name: str) -> tuple[int, int, int, int]:
        entry = interface.outputs[name][0]
        shape = shapes[entry.array]
        row, column = divmod(entry.at, shape[-1])
        return len(shape), column, row, arrays[entry.array]

    return [graph.outputs[name] for name in sorted(graph.outputs, key=place)]


def walks(graph: Graph, nodes: Sequence[Node], interface: ArrayInterface) -> list[Node]:
    """The nodes as one joint after another, from the last one, walks to the base.

    Row i and column i of gradients are what joint i's motion and force give on the way from i to
    the base. As traced, all joints behind a joint go through it together; so each goes alone, of
    one matrix after another, and what it takes of others is there. What comes before the first
    output, such as all joints' velocities, keeps its place.
    """
    shapes = {array.name: array.shape or (1,) for array in interface.gives}
    arrays = {name: k for k, name in enumerate(shapes)}

    def place(name: str) -> tuple[int, int, list[int], list[int]]:
        entry = interface.outputs[name][0]
        index = [int(k) for k in np.unravel_index(entry.at, shapes[entry.array])]
        near = [-k for k in sorted(index, reverse=True)]
        return near[0], arrays[entry.array], near, [-k for k in index]

    ends = [graph.outputs[name] for name in sorted(graph.outputs, key=place)]
    of = set(ends)
    first = next((k for k, node in enumerate(nodes) if node in of), len(nodes))
    return [*nodes[:first], *depth_first(nodes[first:], ends)]


def depth_first(nodes: Sequence[Node], ends: Iterable[Node]) -> list[Node]:
    """The nodes in the order in which ``ends``, one after another, first need them."""
    left = set(nodes)
    found: list[Node] = []
    for end in ends:
        stack = [end]
        while stack:
            wanted = [arg for arg in stack[-1].args if arg in left]
            if wanted:
                stack += reversed(wanted)
                continue
            node = stack.pop()
            if node in left:
                left.remove(node)
                found.append(node)
    return found
