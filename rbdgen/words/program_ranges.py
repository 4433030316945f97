"""Values, limits, samples and words along the visits of a program, from those of the task's words.

A task of an accelerator is a `Program`, too. It may use a graph several times, and read in one
visit what another gave: forward dynamics reads the bias that inverse dynamics makes. Its template
may be any graph that computes the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..graph.evaluate import Array, evaluate
from ..graph.fixed import FixedGraph, evaluate_fixed
from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.visits import Program, Source, Visit, VisitResult, factored, once
from .ascent import Domain
from .input_domain import InputDomain, no_states

WHOLE = "whole"  # the template
Watch = Callable[[Visit, Node, Array], None]
COLUMNS = "samples", "few", "extremes"
ToWords = Callable[[Graph, InputDomain], FixedGraph]


def tasks_over(graph: Graph, tasks: Iterable[Program]) -> Sequence[Program]:
    """The tasks; where there are none, the one that visits the graph once."""
    return [*tasks] or [once(WHOLE, graph)]


def parts(task: Program, graph: Graph) -> dict[Visit, Graph]:
    """The part of the graph that each visit computes, in the order of visits.

    A visit computes the results that the task or another visit reads.
    """
    wanted: dict[Visit, dict[str, Node]] = {visit: {} for visit in task.reads}

    def want(source: Source) -> None:
        if isinstance(source, VisitResult):
            wanted[source.visit][source.name] = graph.outputs[source.name]

    for source in task.outputs.values():
        want(source)
    found = {}
    for visit in reversed([*task.reads]):
        found[visit] = Graph(graph.inputs, wanted[visit])
        for port in ports(found[visit]):
            want(task.reads[visit][port])
    return {visit: found[visit] for visit in task.reads if wanted[visit]}


def ports(graph: Graph) -> list[str]:
    """The inputs that some node reads."""
    return [node.name for node in graph.nodes if node.name]


def column(source: Source, words: Mapping[Any, Array], of: slice = slice(None)) -> Array:
    """(N,) of a source, from ``words``: (N,) of each word of the task, and of each result; or some
    of the N."""
    word, by = factored(source)
    if isinstance(word, float):
        return np.broadcast_to(word, len(next(iter(words.values()))))[of]
    return words[word][of] if by == 1 else by * words[word][of]


def visited(
    program: Program,
    visit: Visit,
    graph: Graph,
    words: Mapping[Any, Array],
    watch: Callable[[Node, Array], None] | None = None,
) -> dict[VisitResult, Array]:
    """The results of a visit for ``graph``, (N,) each; ``words`` as of `column`."""
    own = {port: column(program.reads[visit][port], words) for port in ports(graph)}
    n = len(next(iter(words.values())))
    return {
        VisitResult(visit, name): np.broadcast_to(values, n)
        for name, values in evaluate(graph, own, watch).items()
    }


def visited_in_words(
    program: Program, visit: Visit, fixed: FixedGraph, words: Mapping[Any, Array]
) -> dict[VisitResult, Array]:
    """The same with the errors of words, inputs' too: what the results' words stand for."""
    own, nodes = program.reads[visit], fixed.graph.outputs
    read = {
        port: fixed.inputs[port].quantize(column(own[port], words)) for port in ports(fixed.graph)
    }
    found, n = evaluate_fixed(fixed, read).outputs, len(next(iter(words.values())))
    return {
        VisitResult(visit, name): np.broadcast_to(fixed.formats[node].real(found[name]), n)
        for name, node in nodes.items()
    }


def evaluate_program(
    task: Program, graph: Graph, inputs: Mapping[str, Array], watch: Watch | None = None
) -> dict[str, Array]:
    """The task's outputs, each (N,), for its words, each (N,); ``watch`` sees every node's."""
    words: dict[Any, Array] = dict(inputs)
    for visit, part in parts(task, graph).items():
        words |= visited(task, visit, part, words, watch and partial(watch, visit))
    return {name: column(source, words) for name, source in task.outputs.items()}


def program_word_samples(
    task: Program, fixed: FixedGraph, inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """The same in fixed point: what the outputs' words stand for."""
    words: dict[Any, Array] = dict(inputs)
    for visit, part in parts(task, fixed.graph).items():
        words |= visited_in_words(task, visit, replace(fixed, graph=part), words)
    return {name: column(source, words) for name, source in task.outputs.items()}


def read_by_visits(
    tasks: Iterable[Program], graph: Graph, states: Mapping[str, Array]
) -> dict[str, Array]:
    """The inputs of the graph in visits that read other words than a task's own, one visit after
    another: forward dynamics reads zeros for q̈ in its first one. A visit has the task's own words
    for what it asks of another and does not use."""
    found: dict[str, list[Array]] = {name: [] for name in graph.inputs}
    known = set[tuple[tuple[str, Source], ...]]()
    for task in tasks:
        words: dict[Any, Array] = dict(states)
        for visit, part in parts(task, graph).items():
            reads = task.reads[visit]
            own = tuple((name, reads[name]) for name in graph.inputs)
            if own not in known and any(name != source for name, source in own):
                for name, source in own:
                    word, _ = factored(source)
                    there = isinstance(word, float) or word in words
                    found[name].append(column(source if there else name, words))
            known.add(own)
            words |= visited(task, visit, part, words)
    return {name: np.concatenate(columns) for name, columns in found.items() if columns}


class ProgramDomain:
    """The input domain of each template: the words that its visits read, in their order.

    ``of`` a template is what any of its visits may read. ``made`` notes its words, and evaluates
    what its visits give, over real numbers, for those who read it.
    """

    def __init__(self, program: Program, given: InputDomain) -> None:
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

    def of(self, template: str, thinned: bool = False) -> InputDomain:
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
        return InputDomain(
            {port: self._interval(own, self.limits) for port, own in ports.items()},
            columns["samples"],
            columns["few"],
            frozenset(port for port, own in ports.items() if any(map(self._follows, own))),
            columns.get("extremes", {}),
            self._domain(ports),
            further=partial(self._extremes, ports) if thinned else no_states,
            factors=self.given.factors,
            visits=1 if thinned else len(next(iter(ports.values()), (0,))),
        )

    def made(self, template: str, fixed: FixedGraph, rounded: bool = False) -> None:
        """Note what the visits to a template give, as far as anything reads it; ``rounded``: with
        the errors of its words."""
        for visit in self.program.of(template):
            results = [
                name for name in fixed.graph.outputs if VisitResult(visit, name) in self.wanted
            ]
            for name in results:
                word = fixed.formats[fixed.graph.outputs[name]]
                self.limits[VisitResult(visit, name)] = word.limits
            real = self.program.templates[template]
            real = Graph(real.inputs, {name: real.outputs[name] for name in results})
            for states in filter(None, self.states.values() if results else ()):
                states |= visited(self.program, visit, real, states)
                if rounded:
                    states |= visited_in_words(self.program, visit, fixed, states)

    def _follows(self, source: Source) -> bool:
        """Whether it follows from other words."""
        word, _ = factored(source)
        return isinstance(word, VisitResult) or word in self.given.related

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
        found, count = {}, len(next(iter(states.values())))
        for port, sources in ports.items():
            n = len(sources)
            each = [slice(k, count // n * n, n) if thinned else slice(None) for k in range(n)]
            columns = [column(own, states, of) for own, of in zip(sources, each, strict=True)]
            found[port] = np.stack(columns, axis=1).ravel()
        return found

    def _extremes(self, ports: Mapping[str, list[Source]]) -> Iterator[dict[str, Array]]:
        """The extremes, visit by visit: of tens of visits together they may fill the memory."""
        states = self.states["extremes"]
        for visit in range(len(next(iter(ports.values()), ())) if states else 0):
            yield {port: column(sources[visit], states) for port, sources in ports.items()}


def program_in_words(
    program: Program, given: InputDomain, to_words: ToWords
) -> dict[str, FixedGraph]:
    """Every template in words; ``given``: of the words of the task."""
    along, found = ProgramDomain(program, given), dict[str, FixedGraph]()
    for name, template in program.templates.items():
        found[name] = to_words(template, along.of(name))
        along.made(name, found[name])
    return found
