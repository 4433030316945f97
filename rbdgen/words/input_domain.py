"""The domain of a graph's inputs, and the sizes of its signals there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..graph.evaluate import Array, Interval, intervals_of
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..system.quoting import Progress
from .ascent import ascend
from .ascent_schedule import PATIENCE, SEARCHED_MANY, SEED, STEPS, Climber, joined
from .domain import Domain
from .factor_bounds import NO_BOUNDS, PivotBounds
from .ranges import RECIPROCALS, Ranges, analyse
from .value_range import extents_of_all
from .wordlength import for_wraparound, integer_bits, whole_limits

SAMPLED = 0.1  # margin beyond the largest value in states at random, for a first idea
ROUNDS = 2
EFFORT, RATE = "tau[", "qd["
# Operations whose results are as large as an operand, or bounded by what they are.
BOUNDED = (Op.INPUT, Op.CONST, Op.NEG, Op.MULC, Op.SIN, Op.COS, Op.MANTISSA, Op.EXPONENT)

FurtherStates = Callable[[], Iterable[Mapping[str, Array]]]


@dataclass(frozen=True)
class Finer:
    """Inputs and outputs that have ``bits`` more than words of the width, since no multiplier reads
    them, here or elsewhere."""

    bits: int = 0
    inputs: frozenset[str] = frozenset()
    outputs: frozenset[str] = frozenset()


def no_states() -> Iterable[Mapping[str, Array]]:
    return ()


@dataclass(frozen=True, eq=False)
class InputDomain:
    """The limits of a graph's inputs, and samples: states within them, (N,) of each input.

    ``extremes``: states that a search has found, in which some signal is largest. ``domain``: what
    the inputs are taken from, where that is known: then the graph itself can be searched.
    ``units``: inputs that are vectors of length 1. ``pivot_bounds``: of M, as proofs take them.
    ``factors``: of what the columns of matrices are multiplied with, see `rows_of`.
    ``visits``: of which states are one after the other.
    ``further``: makes more states that a search has found, some at a time.
    """

    limits: Mapping[str, tuple[float, float]]
    samples: Mapping[str, Array]  # in the first half rates and forces are at their limits
    few: Mapping[str, Array]  # others, of the `SCALES` equal parts
    related: frozenset[str]  # inputs that follow from others
    extremes: Mapping[str, Array] = field(default_factory=dict)
    domain: Domain | None = None
    rounds: int = ROUNDS  # of a search, each from the best states before
    further: FurtherStates = no_states
    finer: Finer = field(default_factory=lambda: Finer())
    units: tuple[tuple[str, ...], ...] = ()
    pivot_bounds: PivotBounds = NO_BOUNDS
    factors: Mapping[str, float] = field(default_factory=dict)
    visits: int = 1

    def ranges(self, graph: Graph) -> Ranges:
        """Ranges from what has been seen so far."""
        margin = SEARCHED_MANY if self.extremes or self.further is not no_states else SAMPLED
        return self._analysed(graph, margin)

    @property
    def states(self) -> Mapping[str, Array]:
        """The samples, and the extremes."""
        return joined(self.samples, self.extremes)

    def searched(
        self, graph: Graph, progress: Progress = lambda _: None
    ) -> tuple[InputDomain, Ranges]:
        """The same with states in which the graph's signals are largest; and its ranges.

        Of those signals that intervals do not settle the largest magnitude is looked for, of
        operands of reciprocals the smallest value too. Signals of many angles have a round more.
        Where the domain is not known, what has been seen so far has to do.
        """
        if self.domain is None or not self.domain.limits:
            return self, self.ranges(graph)
        whole, copies = self.domain.over(graph)
        largest = list(dict.fromkeys(copies[node] for node in self._open(graph)))
        pivots = {n.args[0] for n in graph.nodes if n.op in RECIPROCALS}
        lowest = list(dict.fromkeys(copies[n] for n in graph.nodes if n in pivots))

        climber = Climber(whole, self.domain, lowest, progress)
        margins = climber.search(largest, self.rounds)
        found: Mapping[str, Array] = {}
        if climber.found:
            columns = climber.domain.columns(climber.found, self.samples)
            found = within(self.limits, columns, self.related)
        given = replace(self, extremes=joined(self.extremes, found), domain=climber.domain)
        ranges = given._analysed(graph, {n: margins[copy] for n, copy in copies.items()})
        return given, replace(ranges, extremes=given.extremes)

    def _analysed(self, graph: Graph, margin: float | Mapping[Node, float]) -> Ranges:
        found = analyse(graph, self.limits, self.states, self.related, margin, self.further())
        found = for_wraparound(graph, found, self.limits)
        return replace(
            found, limits=self._stated(graph), units=self.units, pivot_bounds=self.pivot_bounds
        )

    def _stated(self, graph: Graph) -> dict[str, Interval]:
        """The limits that proofs may take: none of inputs whose limits were seen in samples; but
        efforts are no larger than their words."""
        whole = whole_limits(graph, self.limits)
        for name in self.related:
            if name.startswith(RATE):  # within its limits, whatever it follows from
                continue
            largest = math.inf
            if name.startswith(EFFORT):
                largest = 2.0 ** integer_bits(max(map(abs, self.limits[name])))
            whole[name] = -largest, largest
        return whole

    def _open(self, graph: Graph) -> list[Node]:
        """The signals that may be larger than they have been seen, by their intervals."""
        seen = extents_of_all(graph, [self.states, *self.further()]).largest
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
