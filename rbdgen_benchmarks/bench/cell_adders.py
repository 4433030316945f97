"""Sums that the adder behind a hardware multiplier takes in, or could, and what that saves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.target import Target
from rbdgen.graph.fixed import FixedGraph
from rbdgen.graph.graph import source
from rbdgen.graph.node import Node, Op
from rbdgen.schedule.pipelined import duration
from rbdgen.schedule.units import bind
from rbdgen.system.quoting import Progress

from .measurement import Row, measurement

CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("iiwa14", "id", {"target": "xcup"}),
    ("iiwa14", "id", {"target": "xcup", "width": 24}),
    ("iiwa14", "id", {"target": "ecp5-85f"}),
    ("iiwa14", "id", {"target": "lifcl-40"}),
    ("iiwa14", "did", {"target": "xcup"}),
    ("iiwa14", "did", {"target": "ecp5-85f"}),
    ("hyq", "id", {"target": "xcup"}),
)
HEAD = (
    *("", "products", "they can overflow", "sums", "bits", "fused", "bits fused"),
    *("of two products", "before one product", "exact", "cycles", "cycles fused"),
    *("in cells", "latency"),
)
LEGEND = (
    "Of a task a clock. Fused: a sum with a truncated product that nothing else reads, since\n"
    "floor(p) + x is floor(p + x) in every bit; x - floor(p) is not. The product's own overflow\n"
    "would be the sum's. Of two products: so many of the fused. Before one product: sums that one\n"
    "product alone reads. Exact: of these, neither rounded nor able to overflow; the adder in\n"
    "front of a multiplier could compute them. Cycles: of the longest path, without FIFOs; a\n"
    "fused sum takes none behind its product. In cells: sums that the design has in cells; one\n"
    "that a FIFO follows only where it costs no cycle. Latency: the design's."
)


@measurement("cell-adders", "a minute", HEAD, cases=lambda: CASES, legend=LEGEND)
def adders(
    place: Path, progress: Progress, robot: str, function: str, choices: dict[str, Any]
) -> Iterator[Row]:
    """Sums that could be in a multiplier's cell: how many, their bits, and the cycles."""
    name = f"{robot} {function}, {', '.join(map(str, choices.values()))}"
    progress(name)
    made = compile_front(front_end(robot, functions=(function,), fit=False, **choices))
    fixed = made.plan.fixed
    counts = counted(fixed, made.front.target)
    yield [name, *counts.values(), len(fixed.fused), made.plan.latency]


def counted(fixed: FixedGraph, target: Target) -> dict[str, int]:
    """The numbers of ``HEAD`` of a graph."""
    nodes, fused = fixed.graph.nodes, fusible(fixed, target)
    products = [node for node in nodes if node.op is Op.MUL]
    sums = [node for node in nodes if node.op in (Op.ADD, Op.SUB)]
    both = [own for own in fused if all(_is_free(fixed, target, source(a)) for a in own.args)]
    return {
        "products": len(products),
        "overflowing": sum(fixed.overflowing(node) for node in products),
        "sums": len(sums),
        "bits": sum(fixed.formats[node].width for node in sums),
        "fused": len(fused),
        "fused_bits": sum(fixed.formats[node].width for node in fused),
        "of_two": len(both),
        **before_products(fixed),
        "cycles": longest(fixed, target, {}),
        "fused_cycles": longest(fixed, target, fused),
    }


def before_products(fixed: FixedGraph) -> dict[str, int]:
    """Sums that one product alone reads, and those among them whose words are exact."""
    found = []
    for node in fixed.graph.nodes:
        if node.op in (Op.ADD, Op.SUB):
            readers = list(_only_readers(fixed, node))
            if readers and readers[-1].op is Op.MUL:
                found.append(node)
    exact = [
        node
        for node in found
        if not fixed.overflowing(node)
        and all(fixed.formats[a].fraction <= fixed.formats[node].fraction for a in node.args)
    ]
    return {"before": len(found), "before_exact": len(exact)}


def _only_readers(fixed: FixedGraph, node: Node) -> Iterator[Node]:
    """The powers of two that alone read a node, one after the other, and the last's only reader."""
    users = fixed.graph.users[node]
    while len(users) == 1:
        yield users[0]
        users = fixed.graph.users[users[0]] if users[0].op is Op.MULC else ()


def fusible(fixed: FixedGraph, target: Target) -> dict[Node, Node]:
    """Sum → the product that its adder could stand behind; the later operand where both could."""
    found: dict[Node, Node] = {}
    for node in fixed.graph.nodes:
        if node.op in (Op.ADD, Op.SUB):
            places = node.args if node.op is Op.ADD else node.args[:1]
            free = [source(arg) for arg in places if _is_free(fixed, target, source(arg))]
            if free:
                found[node] = free[-1]
    return found


def _is_free(fixed: FixedGraph, target: Target, node: Node) -> bool:
    """Whether a node is a truncated product that one node alone reads, and its adder is free."""
    users = fixed.graph.users[node]
    while len(users) == 1 and users[0].op is Op.MULC:
        users = fixed.graph.users[users[0]]
    if node.op is not Op.MUL or fixed.formats[node].rounded or len(users) != 1:
        return False
    return not any(target.spent(*(fixed.formats[arg].width for arg in node.args))[1])


def longest(fixed: FixedGraph, target: Target, fused: dict[Node, Node]) -> int:
    """Cycles of the longest path where ``fused`` sums take none behind their product."""
    binding, ends = bind(fixed, target), dict[Node, int]()
    for node in fixed.graph.nodes:
        if node.op in (Op.CONST, Op.PARAMETER):
            ends[node] = 0
        elif node.op is Op.MULC:
            ends[node] = ends[source(node)]
        else:
            own = duration(fixed, binding, target, node)
            starts = [
                # what is added comes a cycle before the product's last register
                ends[source(arg)] + own * (fused.get(node) is not source(arg))
                for arg in node.args
            ]
            ends[node] = max(starts, default=own)
    return max(ends[node] for node in fixed.graph.nodes)
