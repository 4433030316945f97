"""Sensitivities of outputs to errors of signals: gradients in reverse mode, for all signals.

With random signs s on the outputs, E (Σ_o s_o ∂o/∂n)² = Σ_o (∂o/∂n)². Where tasks visit a graph
several times, errors of what a visit gives go on through those that read it, and a signal's
roundings in several visits are independent of each other.

The options of the passes from real numbers to words, inputs and number of bits, are here, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..graph.accuracy import SCALES, Shares, weights
from ..graph.derivative import adjoints
from ..graph.evaluate import Array
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.visits import Program, Source, Visit, VisitResult
from ..system.quoting import Progress
from .constant_multiply import tolerances
from .input_domain import InputDomain
from .precision import fractions
from .program_ranges import evaluate_program, parts, tasks_over
from .ranges import Ranges
from .wordlength import GUARD

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
        given: dict[Node, Array] = {}
        for name, node in part.outputs.items():
            given[node] = given.get(node, 0.0) + back.get(VisitResult(visit, name), np.zeros(1))
        own, into = _backwards(part, values.pop(visit), given)
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
    for node, adjoint, _ in adjoints(graph, values, back):
        found[node] = max(float(np.sqrt(np.mean(adjoint**2))), clips.get(node, 0.0))
        clipping = any(a.op is not Op.CONST for a in node.args[1:]) or graph.users[node]
        if node.op is Op.SELECT and clipping:
            # Where a value is clipped, the comparison's error is at most that of what is chosen;
            # and that has no more bits than the bound, whose own gain may be none.
            for arg in node.args:
                if arg is node.args[0] or arg.op is Op.CONST:
                    clips[arg] = max(found[node], clips.get(arg, 0.0))
        if node.name:
            into[node.name] = adjoint
    return found, into


GAIN_SAMPLES = 256


@dataclass(frozen=True, eq=False)
class Known:
    """A graph with ranges from what has been seen, and the gains of its signals."""

    graph: Graph
    ranges: Ranges
    gains: Mapping[Node, float]


@dataclass(frozen=True, eq=False)
class Setting:
    """Words are of ``width`` bits, or of as many each as the ``error`` asks for, and then ``width``
    is what a hardware multiplier takes. ``guard``: bits more of what only additions read.
    ``proven``: which words are made for ranges that are proven, of ``proven.MORE``, or "none".
    ``tasks``: visits to the graph whose results the error is of; else one visit, and all of them.
    ``counts``: how often each coordinate's error counts among them, see `weights`.
    ``first``: what is known of the graph that the passes begin with. ``before``: the graphs whose
    constants were moved, and how far.
    """

    given: InputDomain
    width: int
    error: float | None = None
    progress: Progress = lambda _: None
    guard: int = GUARD
    proven: str = "none"
    tasks: Sequence[Program] = ()
    first: Known | None = None
    counts: Shares = field(default_factory=dict)
    before: list[tuple[Graph, dict[Node, float]]] = field(default_factory=list, init=False)
    _ranges: dict[Graph, Ranges] = field(default_factory=dict, init=False)

    def searched(self, graph: Graph) -> Ranges:
        """Ranges from a search for the largest signals of this graph, made once; or cached ones."""
        if graph not in self._ranges:
            self._ranges[graph] = self.given.searched(graph, self.progress)[1]
        return self._ranges[graph]

    def keep(self, graph: Graph, ranges: Ranges) -> None:
        """Store the ranges from which the graph's words were made in the end."""
        self._ranges[graph] = ranges

    def slack(self, graph: Graph) -> dict[Node, float]:
        """The tolerance of each product's constant, by ranges of the sampled states."""
        ranges = known.ranges if (known := self._known(graph)) else self.given.ranges(graph)
        chosen = self.fractions(graph, ranges)
        return tolerances(graph, ranges, self.width, chosen, self.guard)

    def fractions(self, graph: Graph, ranges: Ranges) -> dict[Node, int] | None:
        """Fraction bits of each node that the error asks for, if one is asked for."""
        if self.error is None:
            return None
        known = self._known(graph)
        gain = known.gains if known else gains_of(graph, self.given, self.tasks, self.counts)
        return fractions(graph, ranges, gain, self.error, self.width)

    def _known(self, graph: Graph) -> Known | None:
        return self.first if self.first and self.first.graph is graph else None


def gains_of(
    graph: Graph, given: InputDomain, tasks: Sequence[Program], counts: Shares
) -> dict[Node, float]:
    """The gains of a graph's signals, in some of the states that errors are measured in."""
    each = GAIN_SAMPLES // len(SCALES)
    some = {
        name: np.concatenate([part[-each:] for part in np.split(values, len(SCALES))])
        for name, values in given.few.items()
    }
    return gains(graph, some, tasks, given.factors, counts)
