"""What the visits of a program read: limits and samples, from those of the task's words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..graph.evaluate import Array
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.visits import Program, Result, Source, factored
from ..search.domain import Domain
from .along import column, visited, visited_in_words
from .given import Given, no_states

COLUMNS = "samples", "few", "extremes"
ToWords = Callable[[Graph, Given], FixedGraph]


class GivenAlong:
    """What a program's visits read, template by template, in the order of the visits.

    ``of`` a template is what any of its visits may read. ``made`` notes its words, and evaluates
    what its visits give, over real numbers, for those who read it.
    """

    def __init__(self, program: Program, given: Given) -> None:
        self.program, self.given = program, given
        # by word: a name of the task's, or a result
        self.limits: dict[Any, tuple[float, float]] = dict(given.limits)
        self.states: dict[str, dict[Any, Array]] = {
            name: dict(getattr(given, name)) for name in COLUMNS
        }
        self.sources: dict[str, dict[str, list[Source]]] = {  # template → input → whose
            name: {
                port: [program.reads[visit][port] for visit in program.of(name)]
                for port in template.inputs
            }
            for name, template in program.templates.items()
        }
        self.wanted = program.wanted

    def of(self, template: str, thinned: bool = False) -> Given:
        """Limits and samples of a template's inputs.

        The states of all visits in turn, so that the first half of them stays the first half;
        ``thinned``: every visit has other samples, as many in all as one has, and the extremes are
        ``further`` states.
        """
        ports = self.sources[template]
        columns = {
            name: self._columns(ports, states, thinned)
            for name, states in self.states.items()
            if not (thinned and name == "extremes")
        }
        return Given(
            {port: self._interval(own, self.limits) for port, own in ports.items()},
            columns["samples"],
            columns["few"],
            frozenset(port for port, own in ports.items() if any(map(self._follows, own))),
            columns.get("extremes", {}),
            self._domain(ports),
            further=partial(self._extremes, ports) if thinned else no_states,
        )

    def made(self, template: str, fixed: FixedGraph, rounded: bool = False) -> None:
        """Note what the visits to a template give, as far as anything reads it; ``rounded``: with
        the errors of its words."""
        for visit in self.program.of(template):
            results = [name for name in fixed.graph.outputs if Result(visit, name) in self.wanted]
            for name in results:
                word = fixed.formats[fixed.graph.outputs[name]]
                self.limits[Result(visit, name)] = word.limits
            real = self.program.templates[template]
            real = Graph(real.inputs, {name: real.outputs[name] for name in results})
            for states in filter(None, self.states.values() if results else ()):
                states |= visited(self.program, visit, real, states)
                if rounded:
                    states |= visited_in_words(self.program, visit, fixed, states)

    def _follows(self, source: Source) -> bool:
        """Whether it follows from other words."""
        word, _ = factored(source)
        return isinstance(word, Result) or word in self.given.related

    def _domain(self, ports: Mapping[str, list[Source]]) -> Domain | None:
        """The domain of a template's inputs, where these are coordinates of the states."""
        domain, own = self.given.domain, {s for sources in ports.values() for s in sources}
        if domain is None or all(sources == [port] for port, sources in ports.items()):
            return domain
        words = {word for word, _ in map(factored, own)}
        if not (words | ports.keys()) <= domain.limits.keys():
            return None
        return Domain(
            {port: self._interval(own, domain.limits) for port, own in ports.items()},
            domain.turns.intersection(ports),
            domain.angles.intersection(ports),
            tuple(own for own in domain.vectors if ports.keys() >= set(own)),
            samples=self._columns(ports, domain.samples, False),
        )

    @staticmethod
    def _interval(
        sources: list[Source], limits: Mapping[Any, tuple[float, float]]
    ) -> tuple[float, float]:
        ends: list[float] = []
        for word, by in map(factored, sources):
            ends += [by * end for end in ((word,) if isinstance(word, float) else limits[word])]
        return min(ends), max(ends)

    def _columns(
        self, ports: Mapping[str, list[Source]], states: Mapping[Any, Array], thinned: bool
    ) -> dict[str, Array]:
        if not states:
            return {}
        found = {}
        for port, sources in ports.items():
            columns, n = [column(source, states) for source in sources], len(sources)
            if thinned:
                most = len(columns[0]) // n
                columns = [own[k::n][:most] for k, own in enumerate(columns)]
            found[port] = np.stack(columns, axis=1).ravel()
        return found

    def _extremes(self, ports: Mapping[str, list[Source]]) -> Iterator[dict[str, Array]]:
        """The extremes, visit by visit: of tens of visits together they may fill the memory."""
        states = self.states["extremes"]
        for visit in range(len(next(iter(ports.values()), ())) if states else 0):
            yield {port: column(sources[visit], states) for port, sources in ports.items()}


def in_words_along(program: Program, given: Given, to_words: ToWords) -> dict[str, FixedGraph]:
    """Every template in words; ``given``: of the words of the task."""
    along, found = GivenAlong(program, given), dict[str, FixedGraph]()
    for name, template in program.templates.items():
        found[name] = to_words(template, along.of(name))
        along.made(name, found[name])
    return found
