"""What a graph's inputs may be, and how large its signals get then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..graph.evaluate import Array, evaluate
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..search.ascent import ascend, cones
from ..search.domain import Domain
from .ranges import RECIPROCALS, Ranges, analyse, intervals_of
from .whole_words import for_whole_words

Progress = Callable[[str], None]
SAMPLED = 0.1  # margin beyond the largest value in states at random, for a first idea
SEARCHED, SEARCHED_MANY = 0.05, 0.1  # beyond the largest value that a search found
MANY = 7  # angles: a signal of more has the larger margin, and is searched once more
ROUNDS = 2
STEPS, PATIENCE, FEWEST = 150, 30, 24  # of an ascent
WORK = 3e9  # nodes that a round may compute, of all signals and steps: about a minute of a core
SEED = 3
# Operations whose results are as large as an operand, or bounded by what they are.
BOUNDED = (Op.INPUT, Op.CONST, Op.NEG, Op.MULC, Op.SIN, Op.COS, Op.MANTISSA, Op.EXPONENT)


@dataclass(frozen=True, eq=False)
class Given:
    """The limits of a graph's inputs, and samples: states within them, (N,) of each input.

    ``extremes``: states that a search has found, in which some signal is largest. ``domain``: what
    the inputs are taken from, where that is known: then the graph itself can be searched.
    """

    limits: Mapping[str, tuple[float, float]]
    samples: Mapping[str, Array]  # in the first half rates and forces are at their limits
    few: Mapping[str, Array]  # of the other half
    related: frozenset[str]  # inputs that follow from others
    extremes: Mapping[str, Array] = field(default_factory=dict)
    domain: Domain | None = None
    rounds: int = ROUNDS  # of a search, each from the best states before

    def ranges(self, graph: Graph) -> Ranges:
        """Ranges from what has been seen so far."""
        margin = SEARCHED_MANY if self.extremes else SAMPLED
        return self._analysed(graph, margin)

    @property
    def states(self) -> Mapping[str, Array]:
        """The samples, and the extremes."""
        return joined(self.samples, self.extremes)

    def searched(self, graph: Graph, progress: Progress = lambda _: None) -> tuple[Given, Ranges]:
        """The same with states in which the graph's signals are largest; and its ranges.

        Of those signals that intervals do not settle the largest magnitude is looked for, of
        operands of reciprocals the smallest value too. Signals of many angles have a round more.
        Where the domain is not known, what has been seen so far has to do.
        """
        if self.domain is None or not self.domain.limits:
            return self, self.ranges(graph)
        whole, copies = self.domain.over(graph)
        angles = self.domain.angles_read(whole)
        largest = list(dict.fromkeys(copies[node] for node in self._open(graph)))
        pivots = {n.args[0] for n in graph.nodes if n.op in RECIPROCALS}
        lowest = list(dict.fromkeys(copies[n] for n in graph.nodes if n in pivots))
        steps = max(FEWEST, min(STEPS, int(WORK / (1 + cones(whole, [*largest, *lowest])))))
        progress(f"ranges: {len(largest)} signals, each climbed in {steps} steps or fewer")
        found, domain = self.extremes, self.domain
        for turn in range(self.rounds + 1):
            columns = ascend(
                whole,
                domain,
                largest,
                lowest,
                steps=steps,
                patience=PATIENCE,
                seed=SEED + turn,
                progress=progress,
            )
            found = joined(
                found, within(self.limits, domain.columns(columns, self.samples), self.related)
            )
            # again, from the best state that was found for any signal
            domain = replace(domain, samples=joined(domain.samples, columns))
            if turn == self.rounds - 1:
                largest = [node for node in largest if angles[node] > MANY]
                lowest = [node for node in lowest if angles[node] > MANY]
        given = replace(self, extremes=found, domain=domain)
        margins = {
            node: SEARCHED_MANY if angles[copy] > MANY else SEARCHED
            for node, copy in copies.items()
        }
        return given, given._analysed(graph, margins)

    def _analysed(self, graph: Graph, margin: float | Mapping[Node, float]) -> Ranges:
        found = analyse(graph, self.limits, self.states, self.related, margin)
        return for_whole_words(graph, found, self.limits)

    def _open(self, graph: Graph) -> list[Node]:
        """The signals that may be larger than they have been seen, by their intervals."""
        seen: dict[Node, float] = {}
        evaluate(graph, self.states, lambda n, v: seen.update({n: float(np.abs(v).max())}))
        proven = intervals_of(graph, self.limits)
        return [
            node
            for node in graph.nodes
            if node.op not in BOUNDED and max(map(abs, proven[node])) > seen[node]
        ]


def _made(node: Node) -> Node:
    """The node whose magnitude, times a constant, this one has."""
    while node.op in (Op.NEG, Op.MULC):
        node = node.args[0]
    return node


def joined(first: Mapping[str, Array], second: Mapping[str, Array]) -> Mapping[str, Array]:
    """The states of both."""
    if not first or not second:
        return first or second
    return {name: np.concatenate([first[name], second[name]]) for name in first}


def within(
    limits: Mapping[str, tuple[float, float]], states: Mapping[str, Array], related: Iterable[str]
) -> Mapping[str, Array]:
    """The states in which inputs that follow from others are within limits, as an effort must be.

    A search knows the limits of the others only.
    """
    inside = np.ones(len(next(iter(states.values()), ())), bool)
    for name in related:
        inside &= np.abs(states[name]) <= max(map(abs, limits[name])) if states else True
    return {name: values[inside] for name, values in states.items()}


def largest_inputs(domain: Domain, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
    """States in which the inputs that follow from others are largest."""
    graph = Graph(domain.derived.inputs, domain.derived.outputs)
    made = dict.fromkeys(_made(node) for node in graph.outputs.values())
    varying = [node for node in made if node.op not in BOUNDED]
    if not varying:
        return {}
    whole, copies = domain.over(graph)
    columns = ascend(
        whole, domain, [copies[n] for n in varying], steps=STEPS, patience=PATIENCE, seed=SEED
    )
    return domain.columns(columns, inputs)
