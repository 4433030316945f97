"""Sums of many terms in the order in which their terms arrive: the shortest way through.

a + (b + (c + d)) takes three additions in a row, whatever comes when. Where a partial sum has no
other reader its terms may be added in any order, and adding the two earliest terms first, again
and again, ends soonest (Huffman's construction with max for +; optimal for equal adders). A sum
is left as it was written unless that shortens it, and never leaves its hardware region.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op

ADDER, MULTIPLIER, SINE = 1, 3, 12  # cycles until the result can be read
CROSSING = 1  # cycles lost from a FIFO to anything but a multiplier
SUMS = (Op.ADD, Op.SUB)


@dataclass(frozen=True)
class Term:
    """sign · 2^shift · node."""

    node: Node
    sign: int
    shift: int


def balance(graph: Graph) -> Graph:
    """Every sum in the shortest order; all else as it was."""
    outputs = set(graph.outputs.values())
    builder = _PerRegion()
    new: dict[Node, Node] = {}
    clock = _Clock()
    for node in graph.nodes:
        with builder.in_region(node.region):
            made = builder.same(node, [new[a] for a in node.args])
            if node.op in SUMS and not _inside(graph, outputs, node):
                terms = [
                    Term(new[t.node], t.sign, t.shift) for t in _terms(graph, outputs, node)
                ]
                if len(terms) > 2 and any(t.sign > 0 for t in terms):
                    other = _earliest_first(builder, terms, clock)
                    if clock.at(other) < clock.at(made):
                        made = other
        new[node] = made
    return Graph(graph.inputs, {name: new[node] for name, node in graph.outputs.items()})


def _inside(graph: Graph, outputs: set[Node], node: Node) -> bool:
    """Whether the node is a partial sum: read once, by a sum of its region, shifted or not."""
    if node in outputs or len(graph.users[node]) != 1:
        return False
    (user,) = graph.users[node]
    if user.op is Op.NEG or user.is_shift:
        return user.region == node.region and _inside(graph, outputs, user)
    return user.op in SUMS and user.region == node.region


def _terms(
    graph: Graph, outputs: set[Node], node: Node, sign: int = 1, shift: int = 0
) -> Iterator[Term]:
    """What the sum adds up, in the order in which it is written."""
    signs = (1, -1) if node.op is Op.SUB else (1, 1)
    for arg, own in zip(node.args, signs, strict=True):
        term = Term(arg, sign * own, shift)
        chain = [arg]
        while term.node.op is Op.NEG or term.node.is_shift:
            (below,) = term.node.args
            if term.node.op is Op.NEG:
                term = Term(below, -term.sign, term.shift)
            else:
                term = Term(below, term.sign, term.shift + math.frexp(term.node.value)[1] - 1)
            chain.append(below)
        if term.node.op in SUMS and all(_inside(graph, outputs, n) for n in chain):
            yield from _terms(graph, outputs, term.node, term.sign, term.shift)
        else:
            yield term


def _earliest_first(builder: Builder, terms: list[Term], clock: _Clock) -> Node:
    """The sum of the terms, the two that arrive first added first."""
    heap = [(clock.at(t.node), order, t) for order, t in enumerate(terms)]
    heapify(heap)
    made = len(terms)
    while len(heap) > 1:
        (_, _, a), (_, _, b) = heappop(heap), heappop(heap)
        if a.sign < 0 < b.sign:
            a, b = b, a
        # the common power of two stays outside: it is free, and equal sums stay equal
        x = a.node
        y = builder.mul(2.0 ** (b.shift - a.shift), b.node)
        total = builder.add(x, y) if a.sign == b.sign else builder.sub(x, y)
        heappush(heap, (clock.at(total), made, Term(total, a.sign, a.shift)))
        made += 1
    ((_, _, total),) = heap
    return builder.mul(total.sign * 2.0**total.shift, total.node)


class _PerRegion(Builder):
    """Interns sums region by region.

    A partial sum in a new order may equal one that another region forms, and sharing the two
    could make the regions wait for each other in a circle. What regions shared before, they share.
    """

    def node(self, op: Op, *args: Node, value: float = 0.0, name: str = "") -> Node:
        if op not in SUMS:
            return super().node(op, *args, value=value, name=name)
        key = (self._region, op, *(a.index for a in args))
        if key not in self._table:
            self._table[key] = Node(self, self._count, op, args, region=self._region)
            self._count += 1
        return self._table[key]

    def _find(self, op: Op, args: tuple[Node, ...], value: float = 0.0) -> Node | None:
        key = (self._region, op, *(a.index for a in args))
        return self._table.get(key) if op in SUMS else super()._find(op, args, value)


class _Clock:
    """When each node's result can be read, if every unit starts as soon as it can."""

    def __init__(self) -> None:
        self._at: dict[Node, int] = {}

    def at(self, node: Node) -> int:
        if node not in self._at:
            stack = [node]
            while stack:
                top = stack[-1]
                waiting = [a for a in top.args if a not in self._at]
                if waiting:
                    stack.extend(waiting)
                else:
                    self._at[stack.pop()] = self._after(top)
        return self._at[node]

    def _after(self, node: Node) -> int:
        latest = 0
        for arg in node.args:
            maker = _source(arg)
            crosses = maker.region != node.region and maker.op not in (Op.INPUT, Op.CONST)
            late = CROSSING if crosses and node.op is not Op.MUL else 0
            latest = max(latest, self._at[arg] + late)
        return latest + TAKES[node.op]


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
    Op.RECIP: SINE,
    Op.SELECT: ADDER,
}


def _source(node: Node) -> Node:
    return _source(node.args[0]) if node.op is Op.MULC else node
