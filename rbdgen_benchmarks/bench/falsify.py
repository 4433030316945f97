"""The search turned against a design: is there a state within its limits that overflows?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rbdgen.graph.evaluate import Array, evaluate
from rbdgen.graph.fixed import FixedGraph, evaluate_fixed
from rbdgen.graph.node import Node
from rbdgen.system.quoting import Progress
from rbdgen.words.ascent import Domain, ascend

CHUNK = 4096  # states at a time


@dataclass(frozen=True, eq=False)
class Attack:
    """The findings of an attack.

    ``signals``: the number of searched signals, all that can overflow; ``flagged``: node → a state,
    coordinates of the domain, in which it overflows; ``nearest``: of all signals the largest part
    of its word that was reached, in real numbers.
    """

    signals: int
    flagged: Mapping[Node, Mapping[str, float]]
    nearest: float


def falsify(
    fixed: FixedGraph,
    domain: Domain,
    steps: int,
    seed: int,
    progress: Progress = lambda _: None,
) -> Attack:
    """Climb on every signal that its operands' formats let overflow, without giving up early.

    Each state found goes through the integer model, in which any flag that rises counts. Words in
    registers are part of a state: the ``domain`` says what a robot of the model has in them.
    """
    graph = fixed.graph
    whole, copies = domain.over(graph)
    signals = [node for node in graph.nodes if fixed.overflowing(node)]
    progress(f"attack: {len(signals)} signals, {steps} steps each")
    targets = list(dict.fromkeys(copies[node] for node in signals))
    states = ascend(whole, domain, targets, steps=steps, seed=seed)
    flagged: dict[Node, Mapping[str, float]] = {}
    nearest = 0.0

    def reach(node: Node, values: Array) -> None:
        nonlocal nearest
        if node in wanted:
            nearest = max(nearest, float(np.abs(values).max()) / fixed.formats[node].limits[1])

    wanted = set(signals)
    count = len(next(iter(states.values()), ()))
    for start in range(0, count, CHUNK):
        own = {name: values[start : start + CHUNK] for name, values in states.items()}
        inputs = domain.columns(own, fixed.taken)
        evaluate(graph, inputs, reach)
        words = {name: word.quantize(inputs[name]) for name, word in fixed.taken.items()}
        for node, where in evaluate_fixed(fixed, words).overflowed.items():
            k = int(np.flatnonzero(np.broadcast_to(where, len(next(iter(own.values())))))[0])
            flagged.setdefault(node, {name: float(values[k]) for name, values in own.items()})
    return Attack(len(signals), flagged, nearest)
