"""Sums of many terms: where a chain of additions and subtractions is one sum in some order.

A builder for passes that make new sums: equal ones of two hardware regions stay two.

Common factors out of sums: a x ± a y becomes a (x ± y), one product less, and c x ± c y too.

Constants are equal here up to a power of two, which is free. Only products that nobody else reads
are taken apart, and only inside their region, so no product is ever made in place of another.

Sums of many terms in the order in which their terms arrive: the shortest way through.

a + (b + (c + d)) takes three additions in a row, whatever comes when. Where a partial sum has no
other reader its terms may be added in any order, and adding the two earliest terms first, again
and again, ends soonest (Huffman's construction with max for +; optimal for equal adders). A sum
is left as it was written unless that shortens it, and never leaves its hardware region.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from heapq import heapify, heappop, heappush

from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op

SUMS = (Op.ADD, Op.SUB)


@dataclass(frozen=True)
class Term:
    """sign · 2^shift · node."""

    node: Node
    sign: int = 1
    shift: int = 0

    def plus(self, other: Term, builder: Builder) -> Term:
        """Their sum: one addition or subtraction, positive if either of them is.

        The power of two of one stays outside: it is free, and equal sums stay equal.
        """
        a, b = (other, self) if self.sign < other.sign else (self, other)
        scaled = builder.mul(2.0 ** (b.shift - a.shift), b.node)
        add = builder.add if a.sign == b.sign else builder.sub
        return Term(add(a.node, scaled), a.sign, a.shift)

    def times(self, factor: float | Node, builder: Builder) -> Term:
        return Term(builder.mul(factor, self.node), self.sign, self.shift)

    def value(self, builder: Builder) -> Node:
        return builder.mul(self.sign * 2.0**self.shift, self.node)


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of a graph. A sum's inner order is free only where nobody reads a partial sum."""

    graph: Graph

    @cached_property
    def _outputs(self) -> set[Node]:
        return set(self.graph.outputs.values())

    def is_read_once(self, node: Node) -> bool:
        return node not in self._outputs and len(self.graph.users[node]) == 1

    def is_partial(self, node: Node) -> bool:
        """Whether the node is read once, by a sum of its region, negated or shifted or not."""
        if not self.is_read_once(node):
            return False
        (user,) = self.graph.users[node]
        if user.region != node.region:
            return False
        return user.op in SUMS or ((user.op is Op.NEG or user.is_shift) and self.is_partial(user))

    def is_whole(self, node: Node) -> bool:
        return node.op in SUMS and not self.is_partial(node)

    def terms(self, node: Node) -> Iterator[Term]:
        """The terms that a sum adds up, in the order in which it is written."""
        return self._terms(node, Term(node))

    def _terms(self, node: Node, outside: Term) -> Iterator[Term]:
        for arg, own in zip(node.args, (1, -1 if node.op is Op.SUB else 1), strict=True):
            sign, shift, partial = outside.sign * own, outside.shift, self.is_partial(arg)
            while arg.op is Op.NEG or arg.is_shift:
                if arg.op is Op.NEG:
                    sign = -sign
                else:
                    shift += math.frexp(arg.value)[1] - 1
                (arg,) = arg.args
                partial = partial and self.is_partial(arg)
            if arg.op in SUMS and partial:
                yield from self._terms(arg, Term(arg, sign, shift))
            else:
                yield Term(arg, sign, shift)


OWN = (*SUMS, Op.MULC)


class RegionalBuilder(Builder):
    """Interns sums, and words shifted for them, region by region.

    A new sum may equal one that another region forms, and sharing the two could make regions
    wait for each other in a circle. What regions shared before a pass they share after it.
    """

    def node(self, op: Op, *args: Node, value: float = 0.0, name: str = "") -> Node:
        if op not in OWN:
            return super().node(op, *args, value=value, name=name)
        key = (op, args, (self._region, value))
        if key not in self._table:
            self._table[key] = self._new(op, args, value, name, self._region)
        return self._table[key]

    def _find(self, op: Op, args: tuple[Node, ...], value: float = 0.0) -> Node | None:
        if op not in OWN:
            return super()._find(op, args, value)
        return self._table.get((op, args, (self._region, value)))


Factor = Node | float  # a node, or a constant's mantissa in [1, 2)


def factor(graph: Graph) -> Graph:
    """Every sum with its common factors taken out, most frequent first."""
    sums = Sums(graph)
    builder = RegionalBuilder()
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        with builder.in_region(node.region):
            terms = list(sums.terms(node)) if sums.is_whole(node) else []
            if (best := _most_common(sums, terms)) is None:
                new[node] = builder.same(node, [new[a] for a in node.args])
            else:
                made = _factored(builder, sums, terms, best, new)
                new[node] = reduce(lambda a, b: a.plus(b, builder), made).value(builder)
    return graph.made(new)


def _factors(sums: Sums, term: Term) -> list[Factor]:
    """The factors that may be taken out of a term."""
    if not sums.is_read_once(term.node):
        return []
    if term.node.op is Op.MULC:
        # equal but for the last digits of float64 is equal
        return [float(f"{2 * math.frexp(term.node.value)[0]:.14g}")]
    return list(dict.fromkeys(term.node.args)) if term.node.op is Op.MUL else []


def _most_common(sums: Sums, terms: list[Term]) -> Factor | None:
    """The factor that most terms share, if two of them share one; the first of several."""
    counts = Counter(f for term in terms for f in _factors(sums, term))
    best = max(counts, key=lambda f: counts[f], default=None)
    return best if best is not None and counts[best] > 1 else None


def _factored(
    builder: Builder, sums: Sums, terms: list[Term], best: Factor, new: dict[Node, Node]
) -> list[Term]:
    """The sum's terms with new operands: those that share ``best`` as one product."""
    apart: list[Term] = []
    shared: list[Term] = []
    for term in terms:
        if best not in _factors(sums, term):
            apart.append(term)
        elif isinstance(best, float):
            shift = term.shift + math.frexp(term.node.value)[1] - 1
            shared.append(replace(term, node=term.node.args[0], shift=shift))
        else:
            a, b = term.node.args
            shared.append(replace(term, node=b if a is best else a))
    if (again := _most_common(sums, apart)) is not None:
        others = _factored(builder, sums, apart, again, new)
    else:
        others = [replace(term, node=new[term.node]) for term in apart]
    operands = [replace(term, node=new[term.node]) for term in shared]
    inner = reduce(lambda a, b: a.plus(b, builder), operands)
    return [inner.times(best if isinstance(best, float) else new[best], builder), *others]


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
