"""Sums of many terms: common factors taken out, and the order in which terms are added.

A chain of additions and subtractions is one sum in any order. Equal new sums of two hardware
regions stay two.

Factors: a x ± a y becomes a (x ± y), one product less, and c x ± c y likewise.

Constants are equal here up to a power of two, which is free. Only products that nobody else reads
are taken apart, so no product is ever made in place of another. A sum may have parts that other
regions add up for it alone. What these share with it, or with each other, comes as a word of its
own then, beside their other terms: a product is dearer than a word on a channel.

Order: terms are added in the order in which they arrive, the shortest way through.

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
from ..graph.node import Builder, Node, Op, Region

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

    def is_part(self, node: Node) -> bool:
        """Whether the node is a sum that nobody reads but a sum of another region."""
        if not self.is_whole(node):
            return False
        user = node
        while self.is_read_once(user):
            (user,) = self.graph.users[user]
            if user.op in SUMS:
                return True
            if not (user.op is Op.NEG or user.is_shift):
                return False
        return False

    def is_whole(self, node: Node) -> bool:
        return node.op in SUMS and not self.is_partial(node)

    def terms(self, node: Node) -> Iterator[Term]:
        """The terms that a sum adds up, in the order in which it is written."""
        return self.terms_of(Term(node))

    def terms_of(self, whole: Term) -> Iterator[Term]:
        """The same of a term that is a sum, as terms of what it is a term of."""
        return self._terms(whole.node, whole)

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


@dataclass(frozen=True)
class Part:
    """The terms of a sum that one region adds up, and parts that others do.

    ``whole``: its value; None where terms were taken out of it.
    """

    region: Region | None
    terms: tuple[Term | Part, ...]
    whole: Term | None = None


def factor(graph: Graph) -> Graph:
    """Every sum with its common factors taken out, most frequent first."""
    sums = Sums(graph)
    making = _Factoring(sums, RegionalBuilder(), {})
    for node in graph.nodes:
        with making.builder.in_region(node.region):
            making.new[node] = making.of(node)
    return graph.made(making.new)


@dataclass(frozen=True, eq=False)
class _Factoring:
    """``new`` nodes for those of the graph that has the ``sums``."""

    sums: Sums
    builder: Builder
    new: dict[Node, Node]

    def of(self, node: Node) -> Node:
        """The new node, all before it being there."""
        if self.sums.is_whole(node):
            part = self._part(Term(node))
            if self._most_common(part) is not None:
                return self._sum(part).value(self.builder)
        return self.builder.same(node, [self.new[a] for a in node.args])

    def _part(self, whole: Term) -> Part:
        terms = [
            self._part(term) if self.sums.is_part(term.node) else term
            for term in self.sums.terms_of(whole)
        ]
        return Part(whole.node.region, tuple(terms), whole)

    def _sum(self, part: Part) -> Term:
        return reduce(lambda a, b: a.plus(b, self.builder), self._made(part))

    def _made(self, part: Part) -> list[Term]:
        """New terms, of which those that share a factor are one product."""
        if (best := self._most_common(part)) is None:
            return [self._own(term) for term in part.terms]
        shared, others = self._apart(part, best)
        made = self._made(others) if others.terms else []
        inner = reduce(lambda a, b: a.plus(b, self.builder), shared)
        by = best if isinstance(best, float) else self.new[best]
        return [inner.times(by, self.builder), *made]

    def _own(self, term: Term | Part) -> Term:
        """A term of new nodes; what is left of a part is added up in the part's region."""
        if isinstance(term, Part):
            if term.whole is None:
                with self.builder.in_region(term.region):
                    return self._sum(term)
            term = term.whole
        return replace(term, node=self.new[term.node])

    def _apart(self, part: Part, best: Factor) -> tuple[list[Term], Part]:
        """The terms that ``best`` multiplies, one of each part, and the part without them."""
        shared: list[Term] = []
        others: list[Term | Part] = []
        for term, factors in self._factors(part):
            if best not in factors:
                others.append(term)
            elif isinstance(term, Part):
                with self.builder.in_region(term.region):
                    inner, left = self._apart(term, best)
                    shared.append(reduce(lambda a, b: a.plus(b, self.builder), inner))
                others += [left] if left.terms else []
            else:
                shared.append(self._divided(term, best))
        return shared, Part(part.region, tuple(others))

    def _divided(self, term: Term, by: Factor) -> Term:
        if isinstance(by, float):
            shift = term.shift + math.frexp(term.node.value)[1] - 1
            return replace(term, node=self.new[term.node.args[0]], shift=shift)
        a, b = term.node.args
        return replace(term, node=self.new[b if a is by else a])

    def _factors(self, part: Part) -> Iterator[tuple[Term | Part, list[Factor]]]:
        """Each term, and what may be taken out of it."""
        for term in part.terms:
            yield term, self._of_part(term) if isinstance(term, Part) else _factors(self.sums, term)

    def _of_part(self, part: Part) -> list[Factor]:
        """The factors of a part's terms that share no other one among themselves."""
        each = [factors for _, factors in self._factors(part)]
        counts = Counter(f for factors in each for f in factors)
        alone = (
            f for factors in each for f in factors if all(g is f or counts[g] == 1 for g in factors)
        )
        return list(dict.fromkeys(alone))

    def _most_common(self, part: Part) -> Factor | None:
        """The factor that most terms share, if two of them share one; the first of several."""
        counts = Counter(f for _, factors in self._factors(part) for f in factors)
        best = max(counts, key=lambda f: counts[f], default=None)
        return best if best is not None and counts[best] > 1 else None


def _factors(sums: Sums, term: Term) -> list[Factor]:
    """The factors that may be taken out of a term."""
    if not sums.is_read_once(term.node):
        return []
    if term.node.op is Op.MULC:
        # equal but for the last digits of float64 is equal
        return [float(f"{2 * math.frexp(term.node.value)[0]:.14g}")]
    return list(dict.fromkeys(term.node.args)) if term.node.op is Op.MUL else []


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
    Op.SATURATE: ADDER,
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
