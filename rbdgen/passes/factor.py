"""Common factors out of sums: a x ± a y becomes a (x ± y), one product less, and c x ± c y too.

Constants are equal here up to a power of two, which is free. Only products that nobody else reads
are taken apart, and only inside their region, so no product is ever made in place of another.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import reduce

from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op
from .regional import RegionalBuilder
from .sums import Sums, Term

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
