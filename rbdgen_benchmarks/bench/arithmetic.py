"""Chains of any length in both forms, before words: cycles of arithmetic, products, their row.

Cost model: a product 4 cycles, one by a constant 3, up to three terms added in one cycle.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

from rbdgen.compile.formulation import TAKES
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Node, Op
from rbdgen.passes.sums import Sums

AT_ONCE = 3  # terms that are added in a cycle
HEAD = ("links", "cycles", "products + by constants", "in a row", "⌈log₂ n⌉ + 4")


def arithmetic(links: int, graphs: dict[str, Graph]) -> dict[str, Any]:
    """Operation counts and depths of a chain's graphs, by the name of the formulation."""
    found: dict[str, Any] = {"links": links, "most_in_a_row": math.ceil(math.log2(links)) + 4}
    for name, graph in graphs.items():
        count = graph.operations()
        found[name] = {
            "cycles": by_threes(graph),
            "products": [count["mul"], count["mulc"]],
            "in_a_row": in_a_row(graph),
        }
    return found


def as_row(own: dict[str, Any]) -> list[Any]:
    """A row of HEAD: both forms side by side."""
    both = own["composite"], own["logarithmic"]
    return [
        own["links"],
        " → ".join(str(found["cycles"]) for found in both),
        " → ".join("{} + {}".format(*found["products"]) for found in both),
        " → ".join(str(found["in_a_row"]) for found in both),
        own["most_in_a_row"],
    ]


def by_threes(graph: Graph) -> int:
    """The cycles of the longest path, the three terms of a sum that are there first added first."""
    sums = Sums(graph)
    done: dict[Node, int] = {}
    for node in graph.nodes:
        if sums.is_whole(node):
            terms = [done[term.node] for term in sums.terms(node)]
            heapq.heapify(terms)
            # the first sum takes so few terms that all others take as many as they can
            few = (len(terms) - 2) % (AT_ONCE - 1) + 2
            while len(terms) > 1:
                last = max(heapq.heappop(terms) for _ in range(min(few, len(terms))))
                heapq.heappush(terms, last + 1)
                few = AT_ONCE
            done[node] = terms[0]
        else:
            takes = 0 if node.is_shift or node.op is Op.NEG else int(TAKES.get(node.op, 0))
            done[node] = takes + max((done[a] for a in node.args), default=0)
    return max((done[n] for n in graph.outputs.values()), default=0)


def in_a_row(graph: Graph) -> int:
    """The most products of two words that vary that wait for one another."""
    row: dict[Node, int] = {}
    for node in graph.nodes:
        row[node] = (node.op is Op.MUL) + max((row[a] for a in node.args), default=0)
    return max((row[n] for n in graph.outputs.values()), default=0)
