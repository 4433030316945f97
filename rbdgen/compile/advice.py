"""What a formulation costs and gains beside the one with the fewest products."""

from __future__ import annotations

from dataclasses import replace

from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..passes.order import BALANCE, EXACT, run
from .front import Front, any_inputs, trace

LEAST_HEIGHT = 4  # joints from the base to the last one, below which sums gain next to nothing
# Cycles of an operation, about, whatever the part; sines are there before all else.
TAKES = {Op.MUL: 4, Op.MULC: 3, Op.ADD: 1, Op.SUB: 1, Op.RECIP: 15}


def cycles(graph: Graph) -> int:
    """About the cycles of arithmetic in a row, sums being in the order in which terms arrive."""
    done: dict[Node, int] = {}
    graph = run((BALANCE,), graph, None)
    for node in graph.nodes:
        takes = 0 if node.is_shift else TAKES.get(node.op, 0)
        done[node] = takes + max((done[a] for a in node.args), default=0)
    return max((done[n] for n in graph.outputs.values()), default=0)


def advice(front: Front) -> str | None:
    """Products and cycles of a logarithmic design beside those of composites; None for others."""
    design = front.design
    if design.formulation != "logarithmic":
        return None
    other = replace(
        design, formulation="composite", network="sklansky", frame=None, inverse="computed"
    )
    graph = trace(other, front.canonical)
    composite = run(EXACT, graph, any_inputs(other, front.canonical, graph.inputs))
    height = front.canonical.depth
    rows = []
    for name, graph in (("logarithmic", front.graph), ("composite", composite)):
        count = graph.operations()
        rows.append(
            f"{name} {count['mul']} products + {count['mulc']} by constants, about "
            f"{cycles(graph)} cycles of arithmetic"
        )
    advised = (
        f"height {height}: little or nothing gained, --formulation composite takes less"
        if height < LEAST_HEIGHT
        else f"height {height}: worth its multipliers where latency counts"
    )
    return f"formulation: {'; '.join(rows)}; {advised}"
