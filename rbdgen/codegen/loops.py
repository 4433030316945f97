"""A program of visits over real numbers: a function for each template, tables for the visits.

Visits hand on numbers in a frame of slots. What a template reads and gives is numbered by where it
is. It reads first constants of the visit, then inputs of the task, then slots. It gives first
outputs of the task, then slots. So its statements are those of any graph (``real``), and the
number of a port says which row of which table has the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.visits import Program, Result, Scaled, Source, Visit
from ..system.records import Record
from .real import Straight, computed, flops_of, in_parts, literal

MOST = 1 << 16  # places that two bytes can tell apart


@dataclass(frozen=True)
class Template:
    """Statements, and a row of constants and one of places for each visit.

    A row of places has inputs of the task, ``read`` slots, ``given`` outputs of the task, and slots
    that are written, as many of each as the template reads and gives.
    """

    name: str
    lines: tuple[str, ...]
    nodes: tuple[Node, ...]
    divides: bool
    taken: int
    read: int
    given: int
    constants: tuple[tuple[str, ...], ...]
    places: tuple[tuple[int, ...], ...]

    @property
    def operations(self) -> int:
        """In the text."""
        return len(self.nodes)


@dataclass(frozen=True)
class Run:
    """``count`` visits, one behind another, to the template of that number, from row ``first``."""

    template: int
    first: int
    count: int


@dataclass(frozen=True)
class Loops:
    """``first`` some slots are filled, then come all runs, and ``last`` are outputs left over.

    ``first``, ``last``: statements. ``slots``: of the frame.
    """

    templates: tuple[Template, ...]
    runs: tuple[Run, ...]
    slots: int
    first: tuple[str, ...]
    last: tuple[str, ...]

    @property
    def operations(self) -> int:
        """In the text, of which visits make more."""
        return sum(own.operations for own in self.templates)

    @property
    def flops(self) -> int:
        """Operations of floating point for a state."""
        return sum(flops_of(own.nodes) * len(own.places) for own in self.templates)

    @property
    def straight(self) -> Straight:
        """What a kernel has besides: no statements but the frame, whose slots it hands on in."""
        return Straight((), self.slots, any(own.divides for own in self.templates))

    @property
    def facts(self) -> LoopFacts:
        """What a manifest says of them."""
        return LoopFacts(
            tuple(own.name for own in self.templates),
            tuple(len(own.places) for own in self.templates),
            tuple(own.operations for own in self.templates),
            sum(own.operations * len(own.places) for own in self.templates),
            len(self.runs),
            sum(2 * len(own.places) * len(own.places[0]) for own in self.templates),
            sum(len(own.constants) * len(own.constants[0]) for own in self.templates),
        )


@dataclass(frozen=True)
class LoopFacts(Record):
    """Of each template its name, visits and operations; of all, operations of a state, runs
    of visits to one template, bytes of places, and how many constants there are."""

    templates: tuple[str, ...]
    visits: tuple[int, ...]
    operations: tuple[int, ...]
    operations_in_all: int
    runs: int
    place_bytes: int
    constants: int

    @property
    def bytes(self) -> int:
        """Of all tables, with constants in double and in float."""
        return self.place_bytes + 12 * self.constants + 6 * self.runs


def loops(program: Program, graph: Graph) -> Loops:
    """The program's functions and tables; inputs and outputs have the numbers of ``graph``'s.

    ValueError for a constant that is not finite, and where a place takes more than two bytes or
    a word is read with a factor.
    """
    frame = _Frame(program, graph)
    visits: dict[str, list[Visit]] = {}
    runs = []
    for name, group in groupby(program.reads, lambda visit: visit.template):
        own = list(group)
        before = visits.setdefault(name, [])
        runs.append(Run(list(visits).index(name), len(before), len(own)))
        before += own
    if max(frame.slots, len(graph.inputs), len(graph.outputs)) > MOST:
        raise ValueError(f"{frame.slots} numbers between visits, of {MOST} at most")
    templates = tuple(_template(frame, name, own) for name, own in visits.items())
    return Loops(templates, tuple(runs), frame.slots, tuple(frame.first()), tuple(frame.last()))


def _template(frame: _Frame, name: str, visits: list[Visit]) -> Template:
    program = frame.program
    graph = program.templates[name]
    kinds: dict[type, list[str]] = {float: [], str: [], Result: []}
    for port in graph.inputs:
        kinds[frame.kind(name, port)].append(port)
    given = [result for result in graph.outputs if (name, result) in frame.given]
    kept = [result for result in graph.outputs if (name, result) not in frame.given]
    numbered = Graph(
        (*kinds[float], *kinds[str], *kinds[Result]),
        {result: graph.outputs[result] for result in (*given, *kept)},
    )
    reads = program.reads
    nodes = computed(numbered)
    made = in_parts(numbered, [nodes])
    return Template(
        name,
        made.parts[0],
        tuple(nodes),
        made.divides,
        len(kinds[str]),
        len(kinds[Result]),
        len(given),
        tuple(
            tuple(literal(own) for port in kinds[float] if isinstance(own := reads[v][port], float))
            for v in visits
        ),
        tuple(
            (
                *(frame.inputs[reads[v][port]] for port in kinds[str]),
                *(frame.slot[reads[v][port]] for port in kinds[Result]),
                *(frame.outputs[Result(v, result)][0] for result in given),
                *(frame.slot[Result(v, result)] for result in kept),
            )
            for v in visits
        ),
    )


class _Frame:
    """Where numbers are between visits: each has a slot until its last reader is done."""

    def __init__(self, program: Program, graph: Graph) -> None:
        self.program = program
        self.inputs: dict[Source, int] = {name: k for k, name in enumerate(graph.inputs)}
        self.outputs: dict[Source, list[int]] = {}  # of which the source is
        for k, name in enumerate(graph.outputs):
            self.outputs.setdefault(program.outputs[name], []).append(k)
        last: dict[Source, int] = {}
        for k, (visit, sources) in enumerate(program.reads.items()):
            for port, source in sources.items():
                if self.kind(visit.template, port) is Result:
                    last[source] = k
        # a template's results that in every visit are one output, and nothing else
        self.given = {
            (name, result)
            for name, template in program.templates.items()
            for result in template.outputs
            for own in [[Result(visit, result) for visit in program.of(name)]]
            if all(r not in last and len(self.outputs.get(r, ())) == 1 for r in own)
        }
        # constants and inputs of ports that in other visits read a result; for good
        self.slot: dict[Source, int] = {
            source: k for k, source in enumerate(s for s in last if not isinstance(s, Result))
        }
        self.slots = len(self.slot)
        self._assign(last)

    def _assign(self, last: Mapping[Source, int]) -> None:
        free: list[int] = []
        ends: dict[int, list[int]] = {}
        for k, visit in enumerate(self.program.reads):
            for name in self.program.templates[visit.template].outputs:
                if (visit.template, name) in self.given:
                    continue
                if not free:
                    free.append(self.slots)
                    self.slots += 1
                own = Result(visit, name)
                self.slot[own] = free.pop()
                if own not in self.outputs:
                    ends.setdefault(last.get(own, k), []).append(self.slot[own])
            free += ends.pop(k, [])

    def kind(self, template: str, port: str) -> type:
        """Where all visits read a port: float, str, a task's input, or Result, a slot."""
        kinds: set[type] = {
            type(self.program.reads[visit][port]) for visit in self.program.of(template)
        }
        return kinds.pop() if len(kinds) == 1 else Result

    def first(self) -> Iterable[str]:
        """Statements that fill the slots which no visit writes."""
        for source, slot in self.slot.items():
            if not isinstance(source, Result):
                yield f"io.keep({slot}, {self._value(source)});"

    def last(self) -> Iterable[str]:
        """Statements for the outputs that no visit gives."""
        for source, outputs in self.outputs.items():
            visit_gives = isinstance(source, Result) and (
                (source.visit.template, source.name) in self.given
            )
            for output in () if visit_gives else outputs:
                yield f"io.store({output}, {self._value(source)});"

    def _value(self, source: Source) -> str:
        if isinstance(source, Result):
            return f"io.kept({self.slot[source]})"
        if isinstance(source, str):
            return f"io.load({self.inputs[source]})"
        if isinstance(source, Scaled):
            raise ValueError(f"loops read words as they are, not {source.by} times {source.of}")
        return f"wide<V>({literal(source)})"
