"""The order of a graph's statements: functions of so many, joints and columns one after another.

Few values are live at a time in these orders, and those between functions share slots.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from ..graph.graph import Graph
from ..graph.node import Node, Op
from .interface import ArrayInterface

LONGEST = 4000  # nodes of one function: compilers take more than linear time
PART = 1000  # nodes of each function of a longer graph


def computed(graph: Graph) -> list[Node]:
    """The nodes that take a statement, in their order."""
    return [n for n in graph.nodes if n.op not in (Op.INPUT, Op.CONST)]


def chunks_of(nodes: list[Node], longest: int = LONGEST, part: int = PART) -> list[list[Node]]:
    """The nodes of each function; of no nodes, one function."""
    size = len(nodes) if len(nodes) <= longest else part
    return [nodes[i : i + size] for i in range(0, len(nodes), size or 1)] or [[]]


def slots_of(
    chunks: Iterable[Sequence[Node]],
    operands: Callable[[Node], Iterable[Node]] = lambda node: node.args,
) -> tuple[dict[Node, int], int]:
    """Node that a later chunk reads → its slot, which is another's after its last reader's.

    ``operands``: what a node reads. The number of slots comes second. What a chunk computes again
    it does not read.
    """
    chunks = list(chunks)
    home: dict[Node, int] = {}
    last: dict[Node, int] = {}
    for k, chunk in enumerate(chunks):
        own = set(chunk)
        for node in chunk:
            home.setdefault(node, k)
            for arg in operands(node):
                if arg not in own and arg in home:
                    last[arg] = k
    slots: dict[Node, int] = {}
    free: list[int] = []
    ends: dict[int, list[int]] = {}
    count = 0
    for k, chunk in enumerate(chunks):
        for node in chunk:
            if node in last and home[node] == k:
                if not free:
                    free.append(count)
                    count += 1
                slots[node] = free.pop()
                ends.setdefault(last[node], []).append(slots[node])
        free += ends.pop(k, [])
    return slots, count


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


def joint_by_joint(graph: Graph, nodes: Sequence[Node], interface: ArrayInterface) -> list[Node]:
    """The nodes in an order of joints: each goes to the base alone, the last one first.

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


def depth_first(nodes: Collection[Node], ends: Iterable[Node]) -> list[Node]:
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
