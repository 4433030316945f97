"""Graphs in fixed point as a folder of C: header, source, conversions, example, build files."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..graph.fixed import FixedGraph, Flagged, Format, Integers
from ..graph.graph import source
from ..graph.node import UNCOMPUTED, Node
from ..graph.text import to_text
from ..system.records import NamedWord, Record, named_words
from ..system.templates import render
from .c_integers import INT32, INT64, RANGES, CIntegers, type_of, unit_function, variable
from .real import chunks_of, identifier, slots_of
from .words import MADE, Expression, Statements, Tables, UnitFunction, UnitFunctions

LONGEST, PART = 500, 250  # nodes: compilers take longer for these than for real numbers


def word_type(formats: Iterable[Format]) -> str:
    """The type of an array of words."""
    return INT64 if any(word.width > 32 for word in formats) else INT32


def words_of(fixed: FixedGraph) -> list[Format]:
    """The formats of the words that a graph's function takes and gives."""
    return [*fixed.taken.values(), *(fixed.formats[n] for n in fixed.graph.outputs.values())]


@dataclass(frozen=True)
class ValuePlaces:
    """Where the values of a function's nodes stand, in all its parts.

    ``numbers``: each node's in the text of the graph; ``places``: of inputs; ``results``: the
    outputs that a node is; ``groups``: the flag that an overflow of the node raises; ``slots``: of
    the workspace; ``word``: type of inputs and outputs, a
    name for ``integer``; ``space``: of the workspace.
    """

    numbers: Mapping[Node, int]
    places: Mapping[str, int]
    results: Mapping[Node, Sequence[tuple[int, str]]]
    groups: Mapping[Node, int]
    slots: Mapping[Node, int]
    word: str
    integer: str
    space: str


class CStatements(CIntegers, Statements):
    """Statements of one part of a function in C.

    They read ``in``, write ``out``, and keep words between parts in ``w``; an overflow raises
    ``o``. ``ranges``: what each node can be, known from the part that computes it.
    """

    def __init__(
        self,
        units: UnitFunctions,
        fixed: FixedGraph,
        layout: ValuePlaces,
        ranges: dict[Node, tuple[int, int]],
    ) -> None:
        super().__init__(units.tables)
        self.units, self.fixed, self.layout, self.ranges = units, fixed, layout, ranges
        self.numbers, self.flags = layout.numbers, layout.groups
        self.raised: dict[int, None] = {}  # flags, in order
        self._terms: dict[Node, Expression] = {}
        self._calls = {}

    def write(self, node: Node, word: Expression) -> None:
        self._terms[node], self.ranges[node] = word, (word.low, word.high)
        if node in self.layout.slots:
            self.statements.append(f"w[{self.layout.slots[node]}] = {word};")
        self.store(node)

    def store(self, node: Node) -> None:
        """The outputs that ``node`` is."""
        for k, name in self.layout.results.get(node, ()):
            self.statements.append(f"out[{k}] = {self.value(node)}; /* {name} */")

    def read(self, node: Node) -> Expression:
        if node not in self._terms:
            self._terms[node] = self._input(node) if node.op in UNCOMPUTED else self._kept(node)
        return self._terms[node]

    def raise_flag(self, node: Node, overflow: Expression) -> None:
        group = self.layout.groups[node]
        self.statements.append(f"o{group} |= {overflow.text};")
        self.raised[group] = None

    def call(self, function: UnitFunction, node: Node, *args: Expression) -> dict[str, Expression]:
        name, taken = f"u{self.numbers[node]}", ", ".join(a.text for a in args)
        self.statements.append(f"const struct {function.name} {name} = {function.name}({taken});")
        return {
            own: Expression(f"{name}.{own}", low, high, type_of(low, high))
            for own, (low, high) in function.outputs.items()
        }

    def _input(self, node: Node) -> Expression:
        """Bits above those of the word are not read, as no port has them."""
        k, width = self.layout.places[node.name], self.fixed.formats[node].width
        given = variable(f"in[{k}]", *RANGES[self.layout.integer])
        return self.let(f"in{k}", self.wrapped(given, width))

    def _kept(self, node: Node) -> Expression:
        kept = f"w[{self.layout.slots[node]}]"
        return self.let(
            f"n{self.numbers[node]}", Expression(kept, *self.ranges[node], self.layout.space)
        )


@dataclass
class File:
    """The contents of a file: tables, units, functions. ``prefix``: of all their names."""

    prefix: str
    tables: Tables = field(init=False)
    units: UnitFunctions = field(init=False)
    functions: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tables = Tables(identifier(self.prefix), type_of)
        self.units = UnitFunctions(self.prefix, self.tables, unit_function)

    @property
    def text(self) -> str:
        """All of it."""
        made = [unit.text for unit in self.units.made.values()]
        return "\n\n".join([*self.tables.texts, *made, *self.functions]) + "\n"

    def add(
        self,
        fixed: FixedGraph,
        name: str,
        flagged: Flagged,
        word: str,
        integer: str,
        flags: int,
    ) -> None:
        """The function ``int name(const word *in, word *out, uint8_t *overflow)``, of one state.

        ``in``: `fixed.taken` in their order; ``out``: the graph's outputs in theirs;
        ``overflow``: ``flags``, as ``flagged`` numbers them. It returns whether any is raised.
        Where there are none, it is a function of the file's own, without ``overflow``, and
        ``flagged`` says what it returns. ``word`` is a name for ``integer``.
        """
        graph = fixed.graph
        nodes = [node for node in graph.nodes if node.op in MADE]
        made = frozenset(nodes)
        reads = {node: [a for a in map(source, node.args) if a in made] for node in nodes}
        chunks = chunks_of(nodes, LONGEST, PART)
        slots, count = slots_of(chunks, reads.__getitem__)
        kept = (fixed.formats[node] for node in slots)
        results: dict[Node, list[tuple[int, str]]] = {}
        for k, (own, node) in enumerate(graph.outputs.items()):
            results.setdefault(source(node), []).append((k, own))
        sets = {own: k for k, own in enumerate(_distinct(flagged.get(n) for n in nodes))}
        layout = ValuePlaces(
            numbers={node: k for k, node in enumerate(graph.nodes)},
            places={own: k for k, own in enumerate(fixed.taken)},
            results=results,
            groups={n: sets[flagged[n]] for n in nodes if flagged.get(n)},
            slots=slots,
            word=word,
            integer=integer,
            space=word_type(kept),
        )
        ranges: dict[Node, tuple[int, int]] = {}
        parts = [CStatements(self.units, fixed, layout, ranges) for _ in chunks]
        for part, chunk in zip(parts, chunks, strict=True):
            for node in chunk:
                part.compute(node)
        for node in results:
            if node not in made:
                parts[-1].store(node)
        lines = [f"int32_t o[{len(sets)}] = {{0}};"] if sets else []
        lines += [f"{layout.space} w[{count}];"] if count else []
        read = False
        for k, part in enumerate(parts, 1):
            body, names = _raising(part)
            read |= "in" in names
            lines += self._part(layout, f"{name}_part_{k}", body, names) if parts[1:] else body
        lines += [] if read else ["(void)in;"]
        for k in range(flags):
            raised = " | ".join(f"o[{g}]" for own, g in sets.items() if k in own)
            lines.append(f"overflow[{k}] = {f'(uint8_t)({raised})' if raised else 0};")
        lines.append(f"return {' | '.join(f'o[{g}]' for g in sets.values()) or 0};")
        taken = f"const {word} *in, {word} *out"
        head = f"int {name}({taken}, uint8_t *overflow)" if flags else f"static int {name}({taken})"
        self.functions.append(function(head, lines))

    def _part(
        self, layout: ValuePlaces, name: str, body: Sequence[str], names: Container[str]
    ) -> list[str]:
        """Add a function for a part; the call."""
        parameters = {
            "in": f"const {layout.word} *in",
            "out": f"{layout.word} *out",
            "w": f"{layout.space} *w",
            "o": "int32_t *o",
        }
        used = [own for own in parameters if own in names]
        taken = ", ".join(parameters[own] for own in used)
        self.functions.append(function(f"static void {name}({taken})", body))
        return [f"{name}({', '.join(used)});"]


def _raising(part: CStatements) -> tuple[list[str], set[str]]:
    """A part's statements, which raise flags of its own first, since those stay in registers; and
    the names in them."""
    body, names = part.live()
    before = [f"int32_t o{g} = 0;" for g in part.raised]
    after = [f"o[{g}] |= o{g};" for g in part.raised]
    return [*before, *body, *after], names | ({"o"} if after else set())


def _distinct(found: Iterable[frozenset[int] | None]) -> list[frozenset[int]]:
    return [own for own in dict.fromkeys(found) if own]


def function(head: str, lines: Iterable[str]) -> str:
    """The text of a function."""
    body = "".join(f"    {line}\n" for line in lines)
    return f"{head}\n{{\n{body}}}"


GRAPH = "graph.txt"


@dataclass(frozen=True)
class CFunction(Record):
    """A function as its callers see it; ``flags``: how many it gives; ``short``: among others."""

    name: str
    inputs: tuple[NamedWord, ...]
    outputs: tuple[NamedWord, ...]
    flags: int
    words: str = "words.txt"
    expected: str = "expected_words.txt"
    short: str = ""
    what: str = ""

    @property
    def facts(self) -> dict[str, Any]:
        """The manifest's entry of the function."""
        words = {
            way: [own.to_json() for own in getattr(self, way)] for way in ("inputs", "outputs")
        }
        return {"function": self.name, **words, "flags": self.flags}


def core_function(
    fixed: FixedGraph, flagged: Flagged, flags: int, name: str
) -> tuple[File, CFunction, str]:
    """A file with one function; its words are of the type that comes last.

    ``flagged``: for each node that can overflow, which of the ``flags`` that raises.
    """
    outputs = {own: fixed.formats[node] for own, node in fixed.graph.outputs.items()}
    function = CFunction(name, named_words(fixed.taken), named_words(outputs), flags)
    file, word = File(name), word_type(words_of(fixed))
    file.add(fixed, name, flagged, f"{name}_word", word, flags)
    return file, function, word


def c_files(
    fixed: FixedGraph, flagged: Flagged, name: str, about: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, Any]]:
    """The files of one function, with a flag for each output, and what a manifest says of it.

    ``about``: ``robot`` and ``functions`` in words.
    """
    file, function, word = core_function(fixed, flagged, len(fixed.graph.outputs), name)
    files = folder(file, [function], word, {**about, "graph": GRAPH})
    facts = {"word": word, "functions": [function.facts], "nodes": len(fixed.graph.nodes)}
    return files | {GRAPH: to_text(fixed)}, facts


def sources(
    file: File, functions: Sequence[CFunction], word: str, about: Mapping[str, str]
) -> dict[str, str]:
    """Header and source."""
    given = {"name": file.prefix, "functions": functions, "word": word, "about": about}
    return {
        f"{file.prefix}.h": render("c/header.h.jinja", **given),
        f"{file.prefix}.c": render("c/source.c.jinja", text=file.text, **given),
    }


def folder(
    file: File, functions: Sequence[CFunction], word: str, about: Mapping[str, str]
) -> dict[str, str]:
    """All files but vectors."""
    given = {"name": file.prefix, "functions": functions, "word": word, "about": about}
    return sources(file, functions, word, about) | {
        f"{file.prefix}_real.h": render("c/real.h.jinja", **given),
        "example.c": render("c/example.c.jinja", **given),
        "CMakeLists.txt": render("c/CMakeLists.txt.jinja", **given),
        "README.md": render("c/README.md.jinja", **given),
    }


def rows(columns: Sequence[Integers]) -> str:
    """Words (N,) of each column as text, a line for each state."""
    return "".join(" ".join(map(str, row)) + "\n" for row in np.stack(columns, axis=1).tolist())
