"""A program of visits over real numbers: a function for each template, tables for the visits.

Statements of a template are those of any graph (``real``): what it loads and stores by a number,
its tables say where it is.

Visits hand on numbers in a frame of slots. What a template reads and gives is numbered by where it
is. It reads first constants of the visit, then inputs of the task, then slots. It gives first
outputs of the task, then slots. So the number of a port says which column of a table has its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.visits import Program, Scaled, Source, Visit, VisitResult
from ..system.records import Record
from .real import Straight, flops_of, in_parts, literal
from .statement_order import computed

MOST = 1 << 16  # places that two bytes can tell apart


@dataclass(frozen=True)
class Run:
    """``count`` visits, one behind another, to the template of that number, from row ``first``."""

    template: int
    first: int
    count: int


@dataclass(frozen=True)
class Numbering:
    """A template's ports and results by number, and a row of places for each of its ``visits``.

    A row has inputs of the task, slots that are read, outputs of the task, slots that are written.
    """

    visits: tuple[Visit, ...]
    constants: tuple[str, ...]
    taken: tuple[str, ...]
    read: tuple[str, ...]
    given: tuple[str, ...]
    kept: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]

    @property
    def ports(self) -> tuple[str, ...]:
        """All that is read."""
        return (*self.constants, *self.taken, *self.read)

    @property
    def results(self) -> tuple[str, ...]:
        """All that is given."""
        return (*self.given, *self.kept)


class ProgramFrame:
    """The places of a program whose inputs and outputs have the numbers of ``graph``'s.

    ``slot``: of what is handed on, until its last reader is done; ``slots``: how many. ValueError
    where a place takes more than two bytes, or a word is read with a factor.
    """

    def __init__(self, program: Program, graph: Graph) -> None:
        self.program = program
        self.inputs: dict[Source, int] = {name: k for k, name in enumerate(graph.inputs)}
        self.outputs: dict[Source, list[int]] = {}  # of which the source is
        for k, name in enumerate(graph.outputs):
            self.outputs.setdefault(program.outputs[name], []).append(k)
        for source in (*self.outputs, *(s for own in program.reads.values() for s in own.values())):
            if isinstance(source, Scaled):
                raise ValueError(f"loops read words as they are, not {source.by} times {source.of}")
        last: dict[Source, int] = {}
        for k, (visit, sources) in enumerate(program.reads.items()):
            for port, source in sources.items():
                if self._kind(visit.template, port) is VisitResult:
                    last[source] = k
        # a template's results that in every visit are one output, and nothing else
        self._given = {
            (name, result)
            for name, template in program.templates.items()
            for result in template.outputs
            for own in [[VisitResult(visit, result) for visit in program.of(name)]]
            if all(r not in last and len(self.outputs.get(r, ())) == 1 for r in own)
        }
        # constants and inputs of ports that in other visits read a result; for good
        self.slot: dict[Source, int] = {
            source: k for k, source in enumerate(s for s in last if not isinstance(s, VisitResult))
        }
        self.slots = len(self.slot)
        self._assign(last)
        if max(self.slots, len(graph.inputs), len(graph.outputs)) > MOST:
            raise ValueError(f"{self.slots} numbers between visits, of {MOST} at most")

    def _assign(self, last: Mapping[Source, int]) -> None:
        free: list[int] = []
        ends: dict[int, list[int]] = {}
        for k, visit in enumerate(self.program.reads):
            for name in self.program.templates[visit.template].outputs:
                if (visit.template, name) in self._given:
                    continue
                if not free:
                    free.append(self.slots)
                    self.slots += 1
                own = VisitResult(visit, name)
                self.slot[own] = free.pop()
                if own not in self.outputs:
                    ends.setdefault(last.get(own, k), []).append(self.slot[own])
            free += ends.pop(k, [])

    def _kind(self, template: str, port: str) -> type:
        """Where all visits read a port: float, str, a task's input, or Result, a slot."""
        kinds: set[type] = {
            type(self.program.reads[visit][port]) for visit in self.program.of(template)
        }
        return kinds.pop() if len(kinds) == 1 else VisitResult

    def runs(self) -> tuple[tuple[Run, ...], dict[str, Numbering]]:
        """All visits in their order; the numbering of each template, by the numbers of runs."""
        visits: dict[str, list[Visit]] = {}
        runs = []
        for name, group in groupby(self.program.reads, lambda visit: visit.template):
            own = list(group)
            before = visits.setdefault(name, [])
            runs.append(Run(list(visits).index(name), len(before), len(own)))
            before += own
        return tuple(runs), {name: self._numbering(name, own) for name, own in visits.items()}

    def _numbering(self, name: str, visits: list[Visit]) -> Numbering:
        template, reads = self.program.templates[name], self.program.reads
        kinds: dict[type, list[str]] = {float: [], str: [], VisitResult: []}
        for port in template.inputs:
            kinds[self._kind(name, port)].append(port)
        given = [result for result in template.outputs if (name, result) in self._given]
        kept = [result for result in template.outputs if (name, result) not in self._given]
        places = (
            (
                *(self.inputs[reads[v][port]] for port in kinds[str]),
                *(self.slot[reads[v][port]] for port in kinds[VisitResult]),
                *(self.outputs[VisitResult(v, result)][0] for result in given),
                *(self.slot[VisitResult(v, result)] for result in kept),
            )
            for v in visits
        )
        return Numbering(
            tuple(visits),
            tuple(kinds[float]),
            tuple(kinds[str]),
            tuple(kinds[VisitResult]),
            tuple(given),
            tuple(kept),
            tuple(places),
        )

    def first(self) -> Iterator[tuple[int, Source]]:
        """Slots that no visit writes, and what is there from the beginning."""
        for source, slot in self.slot.items():
            if not isinstance(source, VisitResult):
                yield slot, source

    def last(self) -> Iterator[tuple[int, Source]]:
        """Outputs that no visit gives, and what they are."""
        for source, outputs in self.outputs.items():
            if (
                isinstance(source, VisitResult)
                and (source.visit.template, source.name) in self._given
            ):
                continue
            for output in outputs:
                yield output, source


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
        """The number of operations in the text."""
        return len(self.nodes)


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
        """The number of operations in the text; a state takes more, as templates are repeated."""
        return sum(own.operations for own in self.templates)

    @property
    def flops(self) -> int:
        """Operations of floating point for a state."""
        return sum(flops_of(own.nodes) * len(own.places) for own in self.templates)

    @property
    def straight(self) -> Straight:
        """The straight part of a kernel: no statements but the frame, whose slots are passed in."""
        return Straight((), self.slots, any(own.divides for own in self.templates))

    @property
    def facts(self) -> LoopFacts:
        """The manifest's entry of the loops."""
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
    """Sizes of the loops.

    Name, visits and operations of each template; operations of a state, runs of visits to one
    template, bytes of places, and the number of constants, in all.
    """

    templates: tuple[str, ...]
    visits: tuple[int, ...]
    operations: tuple[int, ...]
    operations_in_all: int
    runs: int
    place_bytes: int
    constants: int

    @property
    def bytes(self) -> int:
        """The size of all tables, with constants in double and in float."""
        return self.place_bytes + 12 * self.constants + 6 * self.runs


def loops(program: Program, graph: Graph) -> Loops:
    """The program's functions and tables; inputs and outputs have the numbers of ``graph``'s.

    ValueError for a constant that is not finite, and what ``ProgramFrame`` refuses.
    """
    frame = ProgramFrame(program, graph)
    runs, numberings = frame.runs()

    def value(source: Source) -> str:
        if isinstance(source, float):
            return f"wide<V>({literal(source)})"
        if isinstance(source, str):
            return f"io.load({frame.inputs[source]})"
        return f"io.kept({frame.slot[source]})"

    return Loops(
        tuple(_template(program, name, own) for name, own in numberings.items()),
        runs,
        frame.slots,
        tuple(f"io.keep({slot}, {value(source)});" for slot, source in frame.first()),
        tuple(f"io.store({output}, {value(source)});" for output, source in frame.last()),
    )


def _template(program: Program, name: str, own: Numbering) -> Template:
    outputs = program.templates[name].outputs
    numbered = Graph(own.ports, {result: outputs[result] for result in own.results})
    nodes = computed(numbered)
    made = in_parts(numbered, [nodes])
    sources = ([program.reads[visit][port] for port in own.constants] for visit in own.visits)
    return Template(
        name,
        made.parts[0],
        tuple(nodes),
        made.divides,
        len(own.taken),
        len(own.read),
        len(own.given),
        tuple(tuple(literal(x) for x in row if isinstance(x, float)) for row in sources),
        own.places,
    )
