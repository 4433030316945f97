"""The domain of a graph's inputs, and the sizes of its signals there, with room for rounding.

Sums that cancel are as large as their errors (`Noisy`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..graph.evaluate import Array, Interval, intervals_of
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..system.quoting import Progress
from .ascent import Domain, ascend
from .ascent_schedule import PATIENCE, SEARCHED_MANY, SEED, STEPS, Climber, joined
from .factor_bounds import NO_BOUNDS, PivotBounds
from .ranges import CARRIED, DEVIATIONS, MOST, RECIPROCALS, Ranges, analyse
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


MARGIN = 1 + SEARCHED_MANY  # beyond the largest value, as of the search
DIVIDING = (Op.RECIP, Op.MANTISSA, Op.SCALE)


@dataclass(frozen=True, eq=False)
class Noisy(InputDomain):
    """Ranges with room for what rounding makes of a visit's values, zeros among them.

    ``off``: the largest standard deviation of what each input reads, over all visits.
    """

    off: Mapping[str, float] = field(default_factory=dict)
    width: int = 0

    def ranges(self, graph: Graph) -> Ranges:
        found = super().ranges(graph)
        ulps = {  # an input's word has room for whatever is joined to it
            node: ulp(self.limits[node.name][1] if node.op is Op.INPUT else size, self.width)
            for node, size in found.bound.items()
        }
        return replace(found, bound=with_noise(graph, found, self.off, ulps)[0])


def with_noise(
    graph: Graph, ranges: Ranges, off: Mapping[str, float], ulps: Mapping[Node, float]
) -> tuple[dict[Node, float], dict[Node, float]]:
    """Bounds with room for the errors of words, and the errors' standard deviations.

    A sum that cancels, or a product with a factor that is zero but for its rounding, is as large as
    its error. ``off``: the deviation of each input; ``ulps``: the last bit of each node's word.
    """
    room, deviations, raised = dict(ranges.bound), dict[Node, float](), set[Node]()
    so_far = replace(ranges, bound=room)
    for node in graph.nodes:
        if node.op is Op.INPUT:
            deviations[node] = off[node.name]
        elif node.op in (Op.CONST, Op.MULC):
            deviations[node] = node.value * deviations[node.args[0]] if node.args else 0.0
        elif node.op in DIVIDING:  # of the smallest operand it is largest
            deviations[node] = MOST * ranges.bound[node]
        else:
            brought = CARRIED[node.op](node, so_far, *(deviations[a] for a in node.args))
            error = DEVIATIONS * math.hypot(brought, ulps[node] / math.sqrt(12))
            most = max(_errors_at_most(node, room, ulps, raised), DEVIATIONS * ulps[node])
            deviations[node] = min(error, most) / DEVIATIONS
        error = DEVIATIONS * deviations[node]
        if error > room[node]:
            raised.add(node)
        room[node] = max(room[node], room[node] / MARGIN + error)
    return room, deviations


def _errors_at_most(
    node: Node, room: Mapping[Node, float], ulps: Mapping[Node, float], raised: Collection[Node]
) -> float:
    """Bounds on the effect of operands' errors.

    A small share of what the errors make possible, since slopes are not all largest at once; more
    for an operand whose last bit is a larger share of it; and all for one that is ``raised``,
    mostly error.
    """
    shares = [
        1.0 if a in raised else max(MOST, min(1.0, _share(DEVIATIONS * ulps[a], room[a])))
        for a in node.args
    ]
    match node.op:
        case Op.MUL:
            return max(shares) * room[node.args[0]] * room[node.args[1]]
        case Op.ADD | Op.SUB:
            return sum(share * room[a] for share, a in zip(shares, node.args, strict=True))
        case _:
            return math.inf


def _share(error: float, room: float) -> float:
    return error / room if room else 1.0


def ulp(size: float, width: int) -> float:
    """The last bit of a word of ``width`` bits for values up to ``size``."""
    return float(2.0 ** (integer_bits(size) - width + 1))
