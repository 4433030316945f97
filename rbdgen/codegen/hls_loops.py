"""A program of visits in fixed point for high-level synthesis: a function for each template, which
is called by tables. Words between visits stand in a frame, in the format of those who read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..graph.fixed import FixedGraph, Format
from ..graph.node import Op
from ..graph.visits import Program, Result, Source, factored
from .ap import Term, word_range, word_type
from .frames import Frame, Numbering, Run
from .hls import MADE, Statements
from .hls_units import MadeOf
from .units import Units


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
    program: Program, templates: Mapping[str, FixedGraph], fixed: FixedGraph, units: Units[MadeOf]
) -> LoopedWords:
    """The program whose ``templates`` are in words; ``fixed``: all that its visits make.

    ValueError for what ``Frame`` refuses, and where a slot would have words of two formats. Words
    times powers of two are the same bits: only their formats differ.
    """
    scales = [factored(program.outputs[name])[1] for name in fixed.graph.outputs]
    program = _unscaled(program)
    frame = Frame(program, fixed.graph)
    runs, numberings = frame.runs()
    words = _Words(program, templates)
    given = [
        replace(word, fraction=word.fraction + int(math.log2(by)))
        for by, node in zip(scales, fixed.graph.outputs.values(), strict=True)
        for word in [fixed.formats[node]]
    ]
    width = max(word.width for word in (*fixed.inputs.values(), *given, *words.all()))

    def value(own: Source, word: Format) -> str:
        if isinstance(own, Result):
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
    """In which formats words are handed on: those of the ports that read them."""

    def __init__(self, program: Program, templates: Mapping[str, FixedGraph]) -> None:
        self.templates = templates
        self._fractions: dict[tuple[str, str], set[int]] = {}
        self._others: dict[Source, list[Format]] = {}
        for visit, sources in program.reads.items():
            for port, own in sources.items():
                word = templates[visit.template].inputs[port]
                if isinstance(own, Result):
                    result = own.visit.template, own.name
                    self._fractions.setdefault(result, set()).add(word.fraction)
                elif word not in self._others.setdefault(own, []):
                    self._others[own].append(word)

    def all(self) -> list[Format]:
        """Of all ports and results."""
        found = [word for template in self.templates.values() for word in template.inputs.values()]
        for template in self.templates.values():
            found += [template.formats[node] for node in template.graph.outputs.values()]
        return found

    def slot(self, template: str, result: str) -> int:
        """Bits of fraction that a template's result has in its slot."""
        own = self.templates[template]
        read = self._fractions.get(
            (template, result), {own.formats[own.graph.outputs[result]].fraction}
        )
        if len(read) > 1:
            raise ValueError(f"{result} of {template} is read in two formats")
        return next(iter(read))

    def of_first(self, own: Source) -> Format:
        """Of a constant, or an input of the task, that stands in a slot."""
        word, *others = self._others[own]
        if isinstance(own, float) and any(
            int(word.quantize(own)) != int(other.quantize(own)) for other in others
        ):
            raise ValueError(f"{own} is read in two formats")
        return word


def _function(
    own: Numbering, program: Program, words: _Words, width: int, units: Units[MadeOf], name: str
) -> LoopedFunction:
    fixed, before = words.templates[name], len(own.constants)
    graph, reads = fixed.graph, [program.reads[visit] for visit in own.visits]
    numbers = {port: k for k, port in enumerate(own.ports)}
    nodes = [node for node in graph.nodes if node.op in MADE]
    body = Statements(
        fixed=fixed,
        units=units,
        resources={},
        flags={node: 0 for node in nodes if fixed.overflowing(node)},
        words={
            node: Term(f"in{numbers[node.name]}", *word_range(fixed.inputs[node.name].width))
            for node in graph.nodes
            if node.op is Op.INPUT
        },
        names={node: f"n{k}" for k, node in enumerate(graph.nodes)},
    )
    where = ["taken"] * len(own.taken) + ["frame"] * len(own.read)
    where += ["given"] * len(own.given) + ["frame"] * len(own.kept)
    places = [f"{array}[{name}_places[row][{k}]]" for k, array in enumerate(where)]
    sources = [*(f"{name}_constants[row][{k}]" for k in range(before)), *places]
    for port, k in numbers.items():
        body.lines.append(f"const {word_type(fixed.inputs[port].width)} in{k} = {sources[k]};")
    for node in nodes:
        body.compute(node)
    for result, place in zip(own.results, places[len(own.ports) - before :], strict=True):
        node = graph.outputs[result]
        text = body.value(node).text
        if result in own.kept:
            left = words.slot(name, result) - fixed.formats[node].fraction
            text = shifted(text, left, width)
        body.lines.append(f"{place} = {text};")
    constants = [_quantized(fixed, own.constants, row) for row in reads]
    overs = tuple(bit for bits in body.raised.values() for bit in bits)
    return LoopedFunction(name, tuple(constants), own.places, tuple(body.lines), overs)


def _quantized(
    fixed: FixedGraph, ports: Sequence[str], row: Mapping[str, Source]
) -> tuple[int, ...]:
    """A visit's constants in words."""
    return tuple(
        int(fixed.inputs[port].quantize(own))
        for port in ports
        if isinstance(own := row[port], float)
    )
