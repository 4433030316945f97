"""A program of visits in fixed point for high-level synthesis: a function for each template, which
is called by tables. Words between visits stand in a frame, in the format of those who read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..graph.fixed import FixedGraph, Format, renamed
from ..graph.node import Op
from ..graph.visits import Program, Source, Visit, VisitResult, factored
from .hls_functions import HlsStatements
from .hls_integers import word, word_type
from .loops import Numbering, ProgramFrame, Run
from .words import MADE, UnitFunctions


@dataclass(frozen=True)
class LoopedFunction:
    """A template: the constants, as words, and the places of each visit; its statements.

    ``overs``: names of its overflows.
    """

    name: str
    constants: tuple[tuple[int, ...], ...]
    places: tuple[tuple[int, ...], ...]
    lines: tuple[str, ...]
    overs: tuple[str, ...]

    @property
    def integer(self) -> str:
        """The type of the table of constants."""
        largest = max((abs(word) for row in self.constants for word in row), default=0)
        return "int" if largest < 1 << 31 else "long long"


@dataclass(frozen=True)
class LoopedWords:
    """All functions, ``runs`` of visits to them, and statements before these and after.

    ``word``: the type of inputs, outputs and ``slots`` of the frame, which is that of the widest.
    """

    functions: tuple[LoopedFunction, ...]
    runs: tuple[Run, ...]
    slots: int
    word: str
    first: tuple[str, ...]
    last: tuple[str, ...]


def looped_words(
    program: Program, templates: Mapping[str, FixedGraph], fixed: FixedGraph, units: UnitFunctions
) -> LoopedWords:
    """The program whose ``templates`` are in words; ``fixed``: all that its visits make.

    ValueError for what ``ProgramFrame`` refuses, and where a slot would have words of two formats.
    Words times powers of two are the same bits: only their formats differ, and a visit that reads
    one says by how many places it moves.
    """
    scales = [factored(program.outputs[name])[1] for name in fixed.graph.outputs]
    words = _Words(program, templates)
    program = _unscaled(program)
    frame = ProgramFrame(program, fixed.graph)
    runs, numberings = frame.runs()
    given = [
        replace(word, fraction=word.fraction + int(math.log2(by)))
        for by, node in zip(scales, fixed.graph.outputs.values(), strict=True)
        for word in [fixed.formats[node]]
    ]
    width = max(word.width for word in (*fixed.inputs.values(), *given, *words.all()))

    def value(own: Source, word: Format) -> str:
        if isinstance(own, VisitResult):
            places = word.fraction - words.slot(own.visit.template, own.name)
            return shifted(f"frame[{frame.slot[own]}]", places, width)
        if isinstance(own, str):
            return f"taken[{frame.inputs[own]}]"
        assert isinstance(own, float)  # a frame has no words times powers of two
        return str(int(word.quantize(own)))

    first = [f"frame[{k}] = {value(own, words.of_first(own))};" for k, own in frame.first()]
    last = [f"given[{k}] = {value(own, given[k])};" for k, own in frame.last()]
    functions = [_function(own, program, words, width, units, n) for n, own in numberings.items()]
    return LoopedWords(
        tuple(functions), runs, frame.slots, word_type(width), tuple(first), tuple(last)
    )


def _unscaled(program: Program) -> Program:
    """The program without powers of two: whose words they are read as."""
    reads = {
        visit: {port: factored(source)[0] for port, source in sources.items()}
        for visit, sources in program.reads.items()
    }
    outputs = {name: factored(source)[0] for name, source in program.outputs.items()}
    return Program(program.templates, reads, outputs)


def shifted(text: str, places: int, width: int) -> str:
    """A word of so many bits, moved by so many places to the left."""
    if places > 0:
        return f"{word_type(width)}({text}) << {places}"
    return f"{text} >> {-places}" if places else text


class _Words:
    """The formats of words between templates: with all bits of any port that reads them."""

    def __init__(self, program: Program, templates: Mapping[str, FixedGraph]) -> None:
        self.templates = templates
        self._fractions = {
            (name, result): template.formats[node].fraction
            for name, template in templates.items()
            for result, node in template.graph.outputs.items()
        }
        self._others: dict[Source, list[Format]] = {}
        read: list[tuple[Visit, str, VisitResult, int]] = []
        for visit, sources in program.reads.items():
            for port, (own, by) in ((port, factored(source)) for port, source in sources.items()):
                word = templates[visit.template].inputs[port]
                if isinstance(own, VisitResult):
                    result, bits = (own.visit.template, own.name), renamed(word, 1 / by).fraction
                    self._fractions[result] = max(bits, self._fractions[result])
                    read.append((visit, port, own, bits))
                elif word not in self._others.setdefault(own, []):
                    self._others[own].append(word)
        self.moved: dict[str, dict[str, dict[Visit, int]]] = {}
        for visit, port, own, bits in read:
            if places := self.slot(own.visit.template, own.name) - bits:
                ports = self.moved.setdefault(visit.template, {})
                ports.setdefault(port, {})[visit] = places

    def all(self) -> list[Format]:
        """The formats of all ports and results, and of results in their slots."""
        found = [word for template in self.templates.values() for word in template.inputs.values()]
        for name, template in self.templates.items():
            for result, node in template.graph.outputs.items():
                own = template.formats[node]
                more = self.slot(name, result) - own.fraction
                found += [own, Format(own.width + more, own.fraction + more)]
        return found

    def slot(self, template: str, result: str) -> int:
        """Bits of fraction that a template's result has in its slot."""
        return self._fractions[template, result]

    def of_first(self, own: Source) -> Format:
        """The format of a constant, or of an input of the task, that stands in a slot."""
        word, *others = self._others[own]
        if isinstance(own, float) and any(
            int(word.quantize(own)) != int(other.quantize(own)) for other in others
        ):
            raise ValueError(f"{own} is read in two formats")
        return word


def _function(
    own: Numbering, program: Program, words: _Words, width: int, units: UnitFunctions, name: str
) -> LoopedFunction:
    fixed, before = words.templates[name], len(own.constants)
    moved = words.moved.get(name, {})  # after the constants, by how many places a word is
    graph, reads = fixed.graph, [program.reads[visit] for visit in own.visits]
    numbers = {port: k for k, port in enumerate(own.ports)}
    nodes = [node for node in graph.nodes if node.op in MADE]
    body = HlsStatements(
        units,
        fixed,
        {node: k for k, node in enumerate(graph.nodes)},
        {node: 0 for node in nodes if fixed.overflowing(node)},
        {
            node: word(f"in{numbers[node.name]}", fixed.inputs[node.name].width)
            for node in graph.nodes
            if node.op is Op.INPUT
        },
        {},
    )
    where = ["taken"] * len(own.taken) + ["frame"] * len(own.read)
    where += ["given"] * len(own.given) + ["frame"] * len(own.kept)
    places = [f"{array}[{name}_places[row][{k}]]" for k, array in enumerate(where)]
    sources = [*(f"{name}_constants[row][{k}]" for k in range(before)), *places]
    places_of = {port: f" >> {name}_constants[row][{before + k}]" for k, port in enumerate(moved)}
    for port, k in numbers.items():
        read, kind = sources[k] + places_of.get(port, ""), word_type(fixed.inputs[port].width)
        body.statements.append(f"const {kind} in{k} = {read};")
    for node in nodes:
        body.compute(node)
    for result, place in zip(own.results, places[len(own.ports) - before :], strict=True):
        node = graph.outputs[result]
        text = body.value(node).text
        if result in own.kept:
            left = words.slot(name, result) - fixed.formats[node].fraction
            text = shifted(text, left, width)
        body.statements.append(f"{place} = {text};")
    constants = [
        (*_quantized(fixed, own.constants, row), *(of.get(visit, 0) for of in moved.values()))
        for visit, row in zip(own.visits, reads, strict=True)
    ]
    overs = tuple(bit for bits in body.raised.values() for bit in bits)
    return LoopedFunction(name, tuple(constants), own.places, tuple(body.statements), overs)


def _quantized(
    fixed: FixedGraph, ports: Sequence[str], row: Mapping[str, Source]
) -> tuple[int, ...]:
    """A visit's constants in words."""
    return tuple(
        int(fixed.inputs[port].quantize(own))
        for port in ports
        if isinstance(own := row[port], float)
    )
