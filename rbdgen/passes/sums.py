"""Sums of many terms: where a chain of additions and subtractions is one sum in some order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

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
