"""A function as visits to a few templates, and what each visit reads.

A template is what one of several parts computes that are alike: a joint, a pair of joints, a limb,
a column of a product. Visits to one template differ in the constants that they read, in whose
results, and in factors ±2^k of these, so one datapath serves them all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .graph import Graph
from .node import Builder, Node, Op


@dataclass(frozen=True, order=True)
class Visit:
    """``key``: what the template is visited for: a joint, two of them, the number of a limb."""

    template: str
    key: tuple[int, ...]

    @property
    def name(self) -> str:
        """``column_3``."""
        return "_".join((self.template, *map(str, self.key)))


@dataclass(frozen=True)
class VisitResult:
    """The result that a visit gives under a name."""

    visit: Visit
    name: str


Word = str | VisitResult  # an input of the task, or what a visit gave


@dataclass(frozen=True)
class Scaled:
    """A word times ±2^k: what a mirrored limb reads, or with another binary point."""

    of: Word
    by: float


Source = float | Word | Scaled  # a constant, a word, or a word times ±2^k
Signed = tuple[str, float]  # a name, and ±2^k
LIMB = "limb"  # the template that limbs, or time-multiplexed columns share
Traced = Callable[[str, Mapping[str, float]], Graph]  # a template's graph where inputs are known


@dataclass(frozen=True, eq=False)
class Program:
    """Visits in an order in which each reads of those before it only.

    ``reads``: visit → input of its template → where it comes from. ``outputs``: name → whose.
    ``templates``: graphs over real numbers. Inputs that are one number in all visits are constants
    there, and neither inputs that no output needs nor outputs that nothing reads are left.
    """

    templates: Mapping[str, Graph]
    reads: Mapping[Visit, Mapping[str, Source]]
    outputs: Mapping[str, Source]

    def of(self, template: str) -> list[Visit]:
        """The visits to a template."""
        return [visit for visit in self.reads if visit.template == template]

    @property
    def wanted(self) -> set[VisitResult]:
        """The results that visits read."""
        sources = [factored(source)[0] for own in self.reads.values() for source in own.values()]
        return {word for word in sources if isinstance(word, VisitResult)}

    @property
    def shifted(self) -> set[tuple[str, str]]:
        """Template and input of the ports that in some visit read a result times 2^k."""
        return {
            (visit.template, port)
            for visit, own in self.reads.items()
            for port, source in own.items()
            if isinstance(source, Scaled) and isinstance(source.of, VisitResult)
        }

    def read(self, visit: Visit) -> dict[str, tuple[str, float]]:
        """A visit's input → the word of the task that it reads, and the factor; no other inputs."""
        words = {port: factored(source) for port, source in self.reads[visit].items()}
        return {port: (word, by) for port, (word, by) in words.items() if isinstance(word, str)}

    def called(self, suffix: str) -> Program:
        """The same visits to templates with a suffix to their names."""

        def visited(visit: Visit) -> Visit:
            return Visit(visit.template + suffix, visit.key)

        def renamed(source: Source) -> Source:
            word, by = factored(source)
            if not isinstance(word, VisitResult):
                return source
            return scaled(VisitResult(visited(word.visit), word.name), by)

        return Program(
            {name + suffix: graph for name, graph in self.templates.items()},
            {
                visited(visit): {port: renamed(source) for port, source in reads.items()}
                for visit, reads in self.reads.items()
            },
            {name: renamed(source) for name, source in self.outputs.items()},
        )

    def given(self, visit: Visit) -> dict[str, tuple[str, float]]:
        """A visit's result → the output that it is, and the factor; what is no output is not in it.

        A result that is several outputs is here as the last of them.
        """
        found = {}
        for name, source in self.outputs.items():
            word, by = factored(source)
            if isinstance(word, VisitResult) and word.visit == visit:
                found[word.name] = name, by
        return found


def factored(source: Source) -> tuple[float | Word, float]:
    """The constant or word that a source is, and the factor that it has."""
    return (source.of, source.by) if isinstance(source, Scaled) else (source, 1.0)


def scaled(source: Source, by: float) -> Source:
    """The source times ±2^k."""
    of, own = factored(source)
    if isinstance(of, float):
        return of * by
    return Scaled(of, own * by) if own * by != 1 else of


def once(template: str, graph: Graph) -> Program:
    """A graph as a program: one visit, which reads and gives every word by its own name."""
    visit = Visit(template, ())
    reads: dict[str, Source] = {name: name for name in graph.inputs}
    return Program(
        {template: graph},
        {visit: reads},
        {name: VisitResult(visit, name) for name in graph.outputs},
    )


def inlined(program: Program, inputs: Sequence[str]) -> Graph:
    """The graph of all visits one behind another; ``inputs``: of the task, in their order."""
    builder = Builder()
    words: dict[Word, Node] = {name: builder.input(name) for name in inputs}

    def node(source: Source) -> Node:
        of, by = factored(source)
        own = builder.const(of) if isinstance(of, float) else words[of]
        return builder.mul(by, own) if by != 1 else own

    for visit, reads in program.reads.items():
        template, new = program.templates[visit.template], dict[Node, Node]()
        for own in template.nodes:
            if own.op is Op.INPUT:
                new[own] = node(reads[own.name])
            else:
                new[own] = builder.same(own, [new[arg] for arg in own.args])
        words |= {VisitResult(visit, name): new[own] for name, own in template.outputs.items()}
    return Graph(tuple(inputs), {name: node(own) for name, own in program.outputs.items()})


def in_turn(
    template: Graph,
    limbs: Iterable[tuple[Mapping[str, Signed], Mapping[str, Signed]]],
    called: str = LIMB,
) -> Program:
    """Visits to one template: its inputs → words of the task, its outputs → what they are called.

    An input that is not named is zero, an output that is not named is nobody's. ``called``: the
    template.
    """
    reads: dict[Visit, Mapping[str, Source]] = {}
    outputs: dict[str, Source] = {}
    for k, (read, given) in enumerate(limbs):
        visit = Visit(called, (k,))
        reads[visit] = {p: scaled(*read[p]) if p in read else 0.0 for p in template.inputs}
        outputs |= {name: scaled(VisitResult(visit, of), by) for of, (name, by) in given.items()}
    return Program({called: template}, reads, outputs)


def then(first: Program, second: Program, task: Collection[str]) -> Program:
    """The two, of which the second reads what the first gives, by its name.

    Words of the ``task`` are read from the task, whoever gives words of their names.
    """

    def bound(source: Source) -> Source:
        word, by = factored(source)
        if not isinstance(word, str) or word in task or word not in first.outputs:
            return source
        return scaled(first.outputs[word], by)

    reads = {v: {port: bound(s) for port, s in own.items()} for v, own in second.reads.items()}
    return Program(
        {**first.templates, **second.templates},
        {**first.reads, **reads},
        {**first.outputs, **second.outputs},
    )


def settle(
    trace: Traced, reads: Mapping[Visit, Mapping[str, Source]], outputs: Mapping[str, Source]
) -> Program:
    """The program where zeros are known, and what follows from them.

    First every result is taken for zero, then for what the templates make of that, until nothing
    changes: what is zero then is zero in every visit, whatever circle it goes round in.
    """
    names = sorted({visit.template for visit in reads})
    known: dict[str, dict[str, float]] = {}
    varies: set[tuple[str, str]] = set()
    graphs: dict[str, Graph] = {}
    while True:
        known_before, known = known, {}
        for name in names:
            values: dict[str, set[float]] = {}
            for visit in (v for v in reads if v.template == name):
                for port, source in reads[visit].items():
                    value = _constant(source, graphs)
                    if value is None:
                        varies.add((name, port))
                    else:
                        values.setdefault(port, set()).add(value)
            varies |= {(name, port) for port, found in values.items() if len(found) > 1}
            known[name] = {
                port: found.pop() for port, found in values.items() if (name, port) not in varies
            }
        others = [name for name in names if not graphs or known[name] != known_before[name]]
        before, graphs = graphs, graphs | {name: trace(name, known[name]) for name in others}
        if before and all(_same(before[name], graphs[name]) for name in others):
            break
    resolved: dict[Visit, dict[str, Source]] = {}
    for visit, sources in reads.items():
        resolved[visit] = {
            port: _resolved(source, graphs, resolved) for port, source in sources.items()
        }
    given = {name: _resolved(result, graphs, resolved) for name, result in outputs.items()}
    program = _pruned(graphs, resolved, given)
    if not 0 < len(program.reads) < len(reads):
        return program
    left = {  # may have more in common than all had
        visit: {
            port: source
            for port, source in resolved[visit].items()
            if (of := _visit_of(source)) is None or of in program.reads
        }
        for visit in program.reads
    }
    return settle(trace, left, given)


def _resolved(
    source: Source, graphs: Mapping[str, Graph], reads: Mapping[Visit, Mapping[str, Source]]
) -> Source:
    """The number that a source is, if it is one; or what a visit only hands on."""
    value = _constant(source, graphs)
    if value is not None:
        return value
    if isinstance(source, Scaled):
        return scaled(_resolved(source.of, graphs, reads), source.by)
    if isinstance(source, VisitResult):
        node = graphs[source.visit.template].outputs[source.name]
        # a word of the task has the format of those who read it first: it is handed on by a visit;
        # what is not there is handed on to nobody
        own = reads[source.visit].get(node.name) if node.op is Op.INPUT else None
        if own is not None and not isinstance(own, str):
            return own
    return source


def _constant(source: Source, graphs: Mapping[str, Graph]) -> float | None:
    """The number that a source is, as far as is known; None: it varies."""
    if isinstance(source, str):
        return None
    if isinstance(source, float):
        return source
    if isinstance(source, Scaled):
        value = _constant(source.of, graphs)
        return None if value is None else value * source.by
    if not graphs:
        return 0.0
    node = graphs[source.visit.template].outputs[source.name]
    return node.value if node.op is Op.CONST else None


def _same(a: Graph, b: Graph) -> bool:
    """Whether two tracings of a template know the same constants."""
    constants = [
        {name: node.value for name, node in graph.outputs.items() if node.op is Op.CONST}
        for graph in (a, b)
    ]
    return constants[0] == constants[1] and a.inputs == b.inputs


def _pruned(
    graphs: Mapping[str, Graph],
    reads: Mapping[Visit, Mapping[str, Source]],
    outputs: Mapping[str, Source],
) -> Program:
    """The program without what nothing reads."""
    wanted: dict[str, set[str]] = {name: set() for name in graphs}
    for source in outputs.values():
        word, _ = factored(source)
        if isinstance(word, VisitResult):
            wanted[word.visit.template].add(word.name)
    while True:
        left = {
            name: Graph(graph.inputs, {k: v for k, v in graph.outputs.items() if k in wanted[name]})
            for name, graph in graphs.items()
        }
        needed = {
            name: {node.name for node in graph.nodes if node.op is Op.INPUT}
            for name, graph in left.items()
        }
        size = sum(map(len, wanted.values()))
        for visit, sources in reads.items():
            for port in needed[visit.template]:
                word, _ = factored(sources[port])
                if isinstance(word, VisitResult):
                    wanted[word.visit.template].add(word.name)
        if sum(map(len, wanted.values())) == size:
            break
    templates = {
        name: Graph(tuple(p for p in graph.inputs if p in needed[name]), graph.outputs)
        for name, graph in left.items()
        if graph.outputs
    }
    visited = {
        visit: {port: sources[port] for port in templates[visit.template].inputs}
        for visit, sources in reads.items()
        if visit.template in templates
    }
    # of a template's visits some may give nothing that anyone reads: the way on from the last joint
    return Program(templates, _read_by_someone(visited, outputs), outputs)


def _read_by_someone(
    reads: Mapping[Visit, Mapping[str, Source]], outputs: Mapping[str, Source]
) -> dict[Visit, Mapping[str, Source]]:
    alive = {_visit_of(source) for source in outputs.values()}
    for visit in reversed(list(reads)):
        if visit in alive:
            alive |= {_visit_of(source) for source in reads[visit].values()}
    return {visit: sources for visit, sources in reads.items() if visit in alive}


def _visit_of(source: Source) -> Visit | None:
    """The visit that gives a source; None: it is a constant or a word of the task."""
    word, _ = factored(source)
    return word.visit if isinstance(word, VisitResult) else None
