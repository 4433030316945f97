"""A program of visits over real numbers: a function for each template, tables for the visits.

Statements of a template are those of any graph (``real``): what it loads and stores by a number,
its tables say where it is (``frames``).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.visits import Program, Source
from ..system.records import Record
from .frames import Numbering, ProgramFrame, Run
from .real import Straight, computed, flops_of, in_parts, literal


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
