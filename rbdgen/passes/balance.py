"""Sums of many terms in the order in which their terms arrive: the shortest way through.

a + (b + (c + d)) takes three additions in a row, whatever comes when. Where a partial sum has no
other reader its terms may be added in any order, and adding the two earliest terms first, again
and again, ends soonest (Huffman's construction with max for +; optimal for equal adders). A sum
is left as it was written unless that shortens it, and never leaves its hardware region.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op
from .regional import RegionalBuilder
from .sums import Sums, Term

# Cycles until a result can be read. A schedule knows better; here only the order counts.
ADDER, MULTIPLIER, SHIFTER, SINE, RECIPROCAL = 1, 3, 3, 12, 12
CROSSING = 1  # cycles lost from a FIFO to anything but a multiplier

TAKES = {
    Op.INPUT: 0,
    Op.CONST: 0,
    Op.ADD: ADDER,
    Op.SUB: ADDER,
    Op.NEG: ADDER,
    Op.MUL: MULTIPLIER,
    Op.MULC: 0,  # powers of two by now
    Op.SIN: SINE,
    Op.COS: SINE,
    Op.RECIP: RECIPROCAL,
    Op.MANTISSA: RECIPROCAL,
    Op.EXPONENT: RECIPROCAL,
    Op.SCALE: SHIFTER,
    Op.SELECT: ADDER,
}


def balance(graph: Graph) -> Graph:
    """Every sum in the shortest order; all else as it was."""
    sums, clock = Sums(graph), _Clock()
    builder = RegionalBuilder()
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        with builder.in_region(node.region):
            new[node] = builder.same(node, [new[a] for a in node.args])
            if not sums.is_whole(node):
                continue
            terms = [Term(new[t.node], t.sign, t.shift) for t in sums.terms(node)]
            if len(terms) > 2 and any(t.sign > 0 for t in terms):
                other = _earliest_first(builder, terms, clock)
                if clock.at(other) < clock.at(new[node]):
                    new[node] = other
    return graph.made(new)


def _earliest_first(builder: Builder, terms: list[Term], clock: _Clock) -> Node:
    """The sum of the terms, the two that arrive first added first."""
    heap = [(clock.at(term.node), order, term) for order, term in enumerate(terms)]
    heapify(heap)
    for order in range(len(terms), 2 * len(terms) - 1):
        (_, _, a), (_, _, b) = heappop(heap), heappop(heap)
        total = a.plus(b, builder)
        heappush(heap, (clock.at(total.node), order, total))
    return heap[0][2].value(builder)


class _Clock:
    """When each node's result can be read, if every unit starts as soon as it can."""

    def __init__(self) -> None:
        self._at: dict[Node, int] = {}

    def at(self, node: Node) -> int:
        stack = [node]
        while stack:
            waiting = [a for a in stack[-1].args if a not in self._at]
            if waiting:
                stack.extend(waiting)
            else:
                top = stack.pop()
                self._at[top] = self._after_operands(top)
        return self._at[node]

    def _after_operands(self, node: Node) -> int:
        latest = 0
        for arg in node.args:
            maker = arg
            while maker.op is Op.MULC:
                (maker,) = maker.args
            crosses = maker.region != node.region and maker.op not in (Op.INPUT, Op.CONST)
            late = CROSSING if crosses and node.op not in (Op.MUL, Op.MULC) else 0
            latest = max(latest, self._at[arg] + late)
        return latest + TAKES[node.op]
