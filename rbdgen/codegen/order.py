"""The order of a large graph's statements, in which little is kept for long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..graph.graph import Graph
from ..graph.node import Node
from .interface import Interface


def columns(graph: Graph, interface: Interface) -> list[Node]:
    """The graph's outputs, array by array, column by column of each.

    Most of what a gradient's column takes is its own: solved for row by row of all columns, as the
    graph has it, all of them would be kept until the last row.
    """
    shapes = {array.name: array.shape for array in interface.gives}
    arrays = {name: k for k, name in enumerate(shapes)}

    def place(name: str) -> tuple[int, int, int]:
        entry = interface.outputs[name][0]
        row, column = divmod(entry.at, shapes[entry.array][-1])
        return arrays[entry.array], column, row

    return [graph.outputs[name] for name in sorted(graph.outputs, key=place)]


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
