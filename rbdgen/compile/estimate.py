"""Estimates of a graph's cycles before it has words, by which formulations are compared."""

from __future__ import annotations

from collections import Counter
from heapq import heapify, heappop, heappush

from ..design.design import Design
from ..design.target import Target
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..words.order import BALANCE, run

# Cycles of an operation, about, whatever the part; sines are there before all else.
TAKES: dict[Op, float] = {Op.MUL: 4, Op.MULC: 3, Op.ADD: 1, Op.SUB: 1, Op.RECIP: 15}


ADDITIONS = 2  # of a product by a constant, about


SINES = 2  # hardware multipliers of a sine and its cosine


def cycles(graph: Graph) -> int:
    """An estimate of the cycles of the longest path; terms of sums are added as they arrive."""
    return round(_end(run((BALANCE,), graph, None), TAKES, None))


def about(graph: Graph, design: Design, target: Target) -> float:
    """An estimate of a design's cycles, of style latency, from the sines to the last result.

    Products wait for the multipliers that there are; at a given clock operations are chained
    within it.
    """
    takes = TAKES
    if design.clock is not None:
        ns = target.delays
        product = ns.product(target.hardware_multipliers(design.width, design.width))
        addition = ns.sum(design.width + 1)
        ways = {Op.MUL: product, Op.MULC: ADDITIONS * addition, Op.RECIP: 3 * product}
        takes = {op: ways.get(op, addition) / design.clock for op in TAKES}
    return _end(run((BALANCE,), graph, None), takes, units(graph, design, target))


def units(graph: Graph, design: Design, target: Target) -> int | None:
    """Products that can start in one cycle; None where each has a multiplier of its own."""
    count, budget = graph.operations(), design.multipliers or target.multipliers
    each = target.hardware_multipliers(design.width, design.width)
    left = (budget - SINES * each * count["sincos"]) // each
    if count["mul"] <= left:
        return None
    said = design.ii is not None or design.multipliers is not None or design.clock is not None
    if not said and not design.fit:
        return None  # what finds no multiplier is made of logic
    return max(left, 1)


def too_many(graph: Graph, design: Design, target: Target) -> bool:
    """Whether the design cannot be: operations that are chained share no multipliers."""
    return design.clock is not None and units(graph, design, target) is not None


def _end(graph: Graph, takes: dict[Op, float], most: int | None) -> float:
    """When the last result is there; with ``most`` products a cycle, the urgent ones first."""
    readers: dict[Node, list[Node]] = {node: [] for node in graph.nodes}
    missing = {node: len(node.args) for node in graph.nodes}
    for node in graph.nodes:
        for a in node.args:
            readers[a].append(node)
    own = {n: 0.0 if n.is_shift else takes.get(n.op, 0.0) for n in graph.nodes}
    behind: dict[Node, float] = {}  # from a node's operands to the last result
    for node in reversed(graph.nodes):
        behind[node] = own[node] + max((behind[r] for r in readers[node]), default=0.0)
    done: dict[Node, float] = {}
    started: Counter[int] = Counter()  # products in a cycle
    ready = [(0.0, -behind[n], n.index, n) for n in graph.nodes if not n.args]
    heapify(ready)
    while ready:
        at, urgency, index, node = heappop(ready)
        if most is not None and node.op is Op.MUL:
            if started[int(at)] >= most:
                heappush(ready, (int(at) + 1.0, urgency, index, node))
                continue
            started[int(at)] += 1
        done[node] = at + own[node]
        for reader in readers[node]:
            missing[reader] -= 1
            if not missing[reader]:
                begins = max(done[a] for a in reader.args)
                heappush(ready, (begins, -behind[reader], reader.index, reader))
    return max((done[n] for n in graph.outputs.values()), default=0.0)
