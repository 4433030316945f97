"""The states that a search may try: a box, with unit vectors in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..graph.evaluate import Array, Interval, evaluate
from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op


@dataclass(frozen=True, eq=False)
class Domain:
    """The domain of a graph's inputs: the values that they may have.

    ``limits``: name → interval [SI units] of each coordinate of the states. ``turns``: coordinates
    whose interval is a whole turn, joined at its ends. ``angles``: further coordinates in which
    signals are no polynomials. ``vectors``: coordinates that are unit vectors together, names in a
    row of ``limits``. ``derived``: a graph over the coordinates, whose outputs are the inputs that
    follow from them: the effort of an acceleration, the inverse of the mass matrix, sines.
    ``samples``: states at random, coordinates (N,).
    """

    limits: Mapping[str, Interval]
    turns: frozenset[str] = frozenset()
    angles: frozenset[str] = frozenset()
    vectors: tuple[tuple[str, ...], ...] = ()
    derived: Graph = field(default_factory=lambda: Graph((), {}))
    samples: Mapping[str, Array] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.limits)

    def columns(self, states: Mapping[str, Array], inputs: Iterable[str]) -> dict[str, Array]:
        """The ``inputs`` of a graph, (N,) each, in ``states``, coordinates (N,) each."""
        made = evaluate(self.derived, states) if self.derived.outputs else {}
        n = len(next(iter(states.values()))) if states else 1
        return {k: np.broadcast_to(made[k] if k in made else states[k], n) for k in inputs}

    def over(self, graph: Graph) -> tuple[Graph, dict[Node, Node]]:
        """The graph as one of coordinates; and its nodes there."""
        builder = Builder()
        made = copied(builder, self.derived, {})
        given = {name: made[node] for name, node in self.derived.outputs.items()}
        copies = copied(builder, graph, given)
        outputs = {name: copies[node] for name, node in graph.outputs.items()}
        return Graph(self.names, outputs, tuple(copies.values())), copies

    def angles_read(self, graph: Graph) -> dict[Node, int]:
        """How many coordinates in which it may be no polynomial each node of a graph over
        coordinates depends on."""
        turning = [*self.turns, *self.angles, *(name for own in self.vectors for name in own)]
        place = {name: 1 << k for k, name in enumerate(sorted(turning))}
        reads: dict[Node, int] = {}
        for node in graph.nodes:
            reads[node] = place.get(node.name, 0) if node.op is Op.INPUT else 0
            for arg in node.args:
                reads[node] |= reads[arg]
        return {node: bits.bit_count() for node, bits in reads.items()}


def copied(builder: Builder, graph: Graph, given: Mapping[str, Node]) -> dict[Node, Node]:
    """Node → its copy, which reads ``given`` in place of the inputs and registers that it names."""
    copies: dict[Node, Node] = {}
    for node in graph.nodes:
        if node.op in (Op.INPUT, Op.PARAMETER) and node.name in given:
            copies[node] = given[node.name]
        else:
            args = [copies[a] for a in node.args]
            copies[node] = builder.node(node.op, *args, value=node.value, name=node.name)
    return copies
