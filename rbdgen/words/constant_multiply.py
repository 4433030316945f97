"""Multiplication by a constant becomes additions of shifted copies, shared per operand."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op, Region
from ..passes.constants import Recipe, Sum, cheapest, depth, one_addition, parts, value
from ..passes.sums import RegionalBuilder
from .ranges import Ranges
from .wordlength import GUARD, SMALLEST, needed_fraction

SLACK = 1.0  # of the last bit that is kept of the product


def tolerances(
    graph: Graph,
    ranges: Ranges,
    width: int,
    chosen: Mapping[Node, int] | None = None,
    guard: int = GUARD,
) -> dict[Node, float]:
    """How far each MULC's constant may be off: one last bit where its operand is largest.

    ``chosen``: fraction bits of each node, in place of those that ``width`` and ``guard`` allow.
    """
    needed = needed_fraction(graph, ranges, width, guard) if chosen is None else chosen
    return {
        node: SLACK * 2.0 ** -needed[node] / max(ranges.bound[node.args[0]], SMALLEST)
        for node in graph.nodes
        if node.op is Op.MULC
    }


def has_constants(graph: Graph) -> bool:
    """Whether anything is multiplied by a constant that is no power of two."""
    return any(node.op is Op.MULC and not node.is_shift for node in graph.nodes)


def constant_multiply(graph: Graph, tolerance: Mapping[Node, float]) -> Graph:
    """Replace each MULC but powers of two; ``tolerance[node]`` is its constant's slack.

    All constants of one operand in one region are planned together, the most exacting first: what
    one of them made, the others may use. A constant below its slack is zero.
    """
    plans = _plans(graph, tolerance)
    builder = RegionalBuilder()
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        args = [new[a] for a in node.args]
        with builder.in_region(node.region):
            if node in plans:
                recipe, exponent = plans[node]
                new[node] = builder.mul(2.0**exponent, _build(builder, recipe, args[0]))
            elif node.op is Op.MULC and node.value <= tolerance[node]:
                new[node] = builder.const(0.0)  # never as much as a last bit
            else:
                new[node] = builder.same(node, args)
    return graph.made(new)


def moved(graph: Graph, tolerance: Mapping[Node, float]) -> dict[Node, float]:
    """How far ``constant_multiply`` moves the constant of each MULC."""
    plans = _plans(graph, tolerance)
    found: dict[Node, float] = {}
    for node in graph.nodes:
        if node in plans:
            recipe, exponent = plans[node]
            found[node] = abs(math.ldexp(value(recipe), exponent) - node.value)
        elif node.op is Op.MULC:
            found[node] = node.value if node.value <= tolerance[node] else 0.0
    return found


def _plans(graph: Graph, tolerance: Mapping[Node, float]) -> dict[Node, tuple[Recipe, int]]:
    """How each MULC is made that is no power of two, and not below its slack."""
    plans: dict[Node, tuple[Recipe, int]] = {}
    by_operand: dict[tuple[Node, Region | None], list[Node]] = defaultdict(list)
    for node in graph.nodes:
        if node.op is Op.MULC and not node.is_shift and node.value > tolerance[node]:
            by_operand[node.args[0], node.region].append(node)
    for nodes in by_operand.values():
        available: list[Recipe] = [1]
        for node in sorted(nodes, key=lambda n: (tolerance[n] / n.value, n.index)):
            plan = cheapest(node.value, tolerance[node])
            if len(available) > 1 and len(parts(plan[0])) > 1:
                plan = one_addition(node.value, tolerance[node], available) or plan
            plans[node] = plan
            for part in sorted(parts(plan[0]), key=lambda p: (depth(p), value(p))):
                if part not in available:
                    available.append(part)
    return plans


def _build(builder: Builder, recipe: Recipe, x: Node) -> Node:
    if not isinstance(recipe, Sum):
        return x
    left = builder.mul(2.0**recipe.left_shift, _build(builder, recipe.left, x))
    right = builder.mul(2.0**recipe.right_shift, _build(builder, recipe.right, x))
    return builder.add(left, right) if recipe.sign > 0 else builder.sub(left, right)
