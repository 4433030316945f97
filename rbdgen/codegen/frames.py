"""Orders of a graph's statements, in which little is kept for long.

Where the numbers of a program of visits are: constants, inputs, results between visits, outputs.

Visits hand on numbers in a frame of slots. What a template reads and gives is numbered by where it
is. It reads first constants of the visit, then inputs of the task, then slots. It gives first
outputs of the task, then slots. So the number of a port says which column of a table has its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.visits import Program, Scaled, Source, Visit, VisitResult
from .interface import ArrayInterface


def columns(graph: Graph, interface: ArrayInterface) -> list[Node]:
    """The graph's outputs, column by column of all matrices.

    Most of what a gradient's column takes is its own: solved for row by row of all columns, as the
    graph has it, all of them would be kept until the last row. What factors of M a row takes is the
    same in every matrix, so one row of all comes before the next.
    """
    shapes = {array.name: array.shape or (1,) for array in interface.gives}
    arrays = {name: k for k, name in enumerate(shapes)}

    def place(name: str) -> tuple[int, int, int, int]:
        entry = interface.outputs[name][0]
        shape = shapes[entry.array]
        row, column = divmod(entry.at, shape[-1])
        return len(shape), column, row, arrays[entry.array]

    return [graph.outputs[name] for name in sorted(graph.outputs, key=place)]


def walks(graph: Graph, nodes: Sequence[Node], interface: ArrayInterface) -> list[Node]:
    """The nodes as one joint after another, from the last one, walks to the base.

    Row i and column i of gradients are what joint i's motion and force give on the way from i to
    the base. As traced, all joints behind a joint go through it together; so each goes alone, of
    one matrix after another, and what it takes of others is there. What comes before the first
    output, such as all joints' velocities, keeps its place.
    """
    shapes = {array.name: array.shape or (1,) for array in interface.gives}
    arrays = {name: k for k, name in enumerate(shapes)}

    def place(name: str) -> tuple[int, int, list[int], list[int]]:
        entry = interface.outputs[name][0]
        index = [int(k) for k in np.unravel_index(entry.at, shapes[entry.array])]
        near = [-k for k in sorted(index, reverse=True)]
        return near[0], arrays[entry.array], near, [-k for k in index]

    ends = [graph.outputs[name] for name in sorted(graph.outputs, key=place)]
    of = set(ends)
    first = next((k for k, node in enumerate(nodes) if node in of), len(nodes))
    return [*nodes[:first], *depth_first(nodes[first:], ends)]


def depth_first(nodes: Sequence[Node], ends: Iterable[Node]) -> list[Node]:
    """The nodes in the order in which ``ends``, one after another, first need them."""
    left = set(nodes)
    found: list[Node] = []
    for end in ends:
        stack = [end]
        while stack:
            wanted = [arg for arg in stack[-1].args if arg in left]
            if wanted:
                stack += reversed(wanted)
                continue
            node = stack.pop()
            if node in left:
                left.remove(node)
                found.append(node)
    return found


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
