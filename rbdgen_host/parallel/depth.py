"""How long a graph's longest path is, in operations: what no number of units can shorten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Node, Op
from rbdgen.system.records import Record

SUMS = (Op.ADD, Op.SUB, Op.NEG)
PRODUCTS = (Op.MUL, Op.MULC)
STEPS = {Op.ADD: 1, Op.SUB: 1, Op.MUL: 1, Op.MULC: 1, Op.RECIP: 1}


@dataclass(frozen=True)
class Depth(Record):
    """Longest paths: operations, multiplications, divisions; and additions.

    Multiplications are by constants too, but not by powers of two. Sines, cosines and changes of
    sign take no step.
    """

    operations: int
    multiplications: int
    divisions: int
    additions: int


def depth(graph: Graph) -> Depth:
    """The depth of a graph whose sums are added in the order in which their terms arrive."""
    return Depth(
        longest(graph, STEPS),
        longest(graph, dict.fromkeys(PRODUCTS, 1)),
        longest(graph, {Op.RECIP: 1}),
        longest(graph, {Op.ADD: 1, Op.SUB: 1}),
    )


def longest(graph: Graph, steps: Mapping[Op, int]) -> int:
    """The longest path, each operation taking so many ``steps``; those of Op.ADD are any sum's.

    Terms of a sum that nothing else reads are added two at a time, the earliest first (Huffman's
    construction with max for +), which ends soonest.
    """
    addition = steps.get(Op.ADD, 0)
    kept = set(graph.outputs.values())
    inner = {
        node
        for node in graph.nodes
        if node.op in SUMS and len(graph.users[node]) == 1 and node not in kept
        if graph.users[node][0].op in SUMS
    }
    time: dict[Node, int] = {}
    for node in graph.nodes:
        if node in inner:
            continue
        if node.op in SUMS:
            time[node] = _arrival([time[term] for term in _terms(node, inner)], addition)
            continue
        own = 0 if node.is_shift else steps.get(node.op, 0)
        time[node] = max((time[a] for a in node.args), default=0) + own
    return max((time[node] for node in kept), default=0)


def _terms(node: Node, inner: set[Node]) -> list[Node]:
    found, left = [], list(node.args)
    while left:
        term = left.pop()
        if term in inner:
            left += term.args
        else:
            found.append(term)
    return found


def _arrival(times: list[int], addition: int) -> int:
    heap = list(times)
    heapify(heap)
    while len(heap) > 1:
        heappop(heap)
        heappush(heap, heappop(heap) + addition)
    return heap[0]
