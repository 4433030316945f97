"""How an error of each signal reaches the outputs: gradients, backwards for all signals at once.

With random signs s on the outputs, E (Σ_o s_o ∂o/∂n)² = Σ_o (∂o/∂n)². Where tasks visit a graph
several times, errors of what a visit gives go on through those that read it, and a signal's
roundings in several visits are independent of each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..graph.accuracy import weights
from ..graph.derivative import DERIVATIVE
from ..graph.evaluate import Array
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.rows import Shares
from ..graph.visits import Program, Source, Visit, VisitResult
from .program_ranges import evaluate_program, parts, tasks_over

SEED = 7
NO_FACTORS: Mapping[str, float] = {}
NO_COUNTS: Shares = {}


def gains(
    graph: Graph,
    samples: Mapping[str, Array],
    tasks: Sequence[Program] = (),
    factors: Mapping[str, float] = NO_FACTORS,
    counts: Shares = NO_COUNTS,
) -> dict[Node, float]:
    """Root mean square of what an error of 1 in a node makes of the outputs, relative to them.

    ``samples``: words of the tasks, (N,) each, a few hundred, of the `SCALES` equal parts.
    ``tasks``: visits to the graph, else one that gives all its outputs. Outputs count as rows of
    their arrays at each scale (`weights`, which says what ``factors`` and ``counts`` are); a node
    of several visits, or tasks, as the root of its gains' squares.
    """
    found = dict.fromkeys(graph.nodes, 0.0)
    for task in tasks_over(graph, tasks):
        for own in _of_task(task, graph, samples, factors, counts):
            for node, gain in own.items():
                found[node] = math.hypot(found[node], gain)
    return found


def _of_task(
    task: Program,
    graph: Graph,
    samples: Mapping[str, Array],
    factors: Mapping[str, float],
    counts: Shares,
) -> list[dict[Node, float]]:
    """The gains in each visit of a task."""
    values: dict[Visit, dict[Node, Array]] = {visit: {} for visit in task.reads}

    def watch(visit: Visit, node: Node, seen: Array) -> None:
        values[visit][node] = np.asarray(seen)

    outputs = evaluate_program(task, graph, samples, watch)
    rng = np.random.default_rng(SEED)
    back: dict[Source, Array] = {}
    for name, weight in weights(outputs, factors, counts).items():
        source = task.outputs[name]
        back[source] = back.get(source, 0.0) + rng.choice([-1.0, 1.0], len(weight)) * weight
    found = []
    for visit, part in reversed(parts(task, graph).items()):
        adjoints: dict[Node, Array] = {}
        for name, node in part.outputs.items():
            adjoints[node] = adjoints.get(node, 0.0) + back.get(
                VisitResult(visit, name), np.zeros(1)
            )
        own, into = _backwards(part, values.pop(visit), adjoints)
        found.append(own)
        for port, adjoint in into.items():
            source = task.reads[visit][port]
            back[source] = back.get(source, 0.0) + adjoint
    return found


def _backwards(
    graph: Graph, values: Mapping[Node, Array], back: dict[Node, Array]
) -> tuple[dict[Node, float], dict[str, Array]]:
    """Root mean square of each node's adjoint, from the outputs' (``back``); and the inputs'."""
    found: dict[Node, float] = {}
    clips: dict[Node, float] = {}
    into: dict[str, Array] = {}
    for node in reversed(graph.nodes):
        adjoint = back.pop(node, np.zeros(1))
        found[node] = max(float(np.sqrt(np.mean(adjoint**2))), clips.get(node, 0.0))
        if node.op is Op.SELECT and any(a.op is not Op.CONST for a in node.args[1:]):
            # Where a value is clipped, the comparison's error is at most that of what is chosen;
            # and that has no more bits than the bound, whose own gain may be none.
            for arg in node.args:
                if arg is node.args[0] or arg.op is Op.CONST:
                    clips[arg] = max(found[node], clips.get(arg, 0.0))
        if node.name:
            into[node.name] = adjoint
        if not node.args:
            continue
        slopes = DERIVATIVE[node.op].slopes(node, values[node], *(values[a] for a in node.args))
        for arg, slope in zip(node.args, slopes, strict=True):
            back[arg] = back.get(arg, 0.0) + adjoint * slope
    return found, into
