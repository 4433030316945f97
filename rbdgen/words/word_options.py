"""Options of the passes from real numbers to words: the inputs, and the number of bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.rows import SCALES, Shares
from ..graph.visits import Program
from ..system.progress import Progress
from .constant_multiply import tolerances
from .input_domain import InputDomain
from .precision import fractions
from .ranges import Ranges
from .sensitivities import gains
from .wordlength import GUARD

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
        """Ranges from a search for the largest signals of this graph, made once; or those kept."""
        if graph not in self._ranges:
            self._ranges[graph] = self.given.searched(graph, self.progress)[1]
        return self._ranges[graph]

    def keep(self, graph: Graph, ranges: Ranges) -> None:
        """Store the ranges from which the graph's words were made in the end."""
        self._ranges[graph] = ranges

    def slack(self, graph: Graph) -> dict[Node, float]:
        """How far each constant of a product may be off, by ranges from what has been seen."""
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
