"""Graphs in fixed point as functions of C, in integers of 32 bits where values fit, else of 64.

No expression ever overflows its type, which C leaves undefined, whatever the inputs are.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..graph.fixed import FixedGraph, Flagged, Format
from ..graph.graph import source
from ..graph.integers import Spec, computed
from ..graph.node import UNCOMPUTED, Node
from ..system.quoting import Refusal
from .real import identifier
from .statement_order import chunks_of, slots_of
from .words import (
    MADE,
    Expression,
    Statements,
    Tables,
    Terms,
    UnitFunction,
    UnitFunctions,
    word_range,
)

INT32, INT64, UINT64 = "int32_t", "int64_t", "uint64_t"
RANGES = {  # in the order in which they are tried
    INT32: (-(1 << 31), (1 << 31) - 1),
    INT64: (-(1 << 63), (1 << 63) - 1),
    UINT64: (0, (1 << 64) - 1),
}
BITS = {INT32: 32, INT64: 64, UINT64: 64}


class WordError(Refusal, ValueError):
    """A word that no integer of C has room for."""


def type_of(low: int, high: int) -> str:
    """The first type that holds all these; WordError."""
    for name, (least, most) in RANGES.items():
        if least <= low and high <= most:
            return name
    bits = max(low, ~low, high, ~high).bit_length() + 1
    raise WordError(f"a step of the integer model takes {bits} bits, and C has 64; --width less")


def variable(text: str, low: int, high: int) -> Expression:
    """A variable, or what stands for one, of the type that its values take."""
    return Expression(text, low, high, type_of(low, high), whole=True)


def cast(x: Expression, to: str) -> Expression:
    """The same value in another type that holds it."""
    return x if x.type == to else replace(x, text=f"({to}){x}", type=to, whole=False)


def _made(
    text: Callable[[Expression, Expression], str], a: Expression, b: Expression, low: int, high: int
) -> Expression:
    """``text`` of two terms, computed in a type that holds them and the result."""
    to = type_of(min(low, a.low, b.low), max(high, a.high, b.high))
    if BITS[to] > max(BITS[a.type], BITS[b.type]):
        a = cast(a, to)
    wider = a.type if BITS[a.type] >= BITS[b.type] else b.type
    return Expression(text(a, b), low, high, wider)


class CIntegers(Terms):
    """Statements of C."""

    def let(self, name: str, value: Expression) -> Expression:
        if value.whole:
            return value
        to = type_of(value.low, value.high)
        self.statements.append(f"const {to} {name} = {cast(value, to).text};")
        return variable(name, value.low, value.high)

    def constant(self, value: int) -> Expression:
        if value in (RANGES[INT32][0], RANGES[INT64][0]):  # its magnitude has no literal
            return Expression(f"{value + 1} - 1", value, value, type_of(value, value))
        return Expression(str(value), value, value, type_of(value, value), whole=value >= 0)

    def bit(self, text: str) -> Expression:
        return Expression(text, 0, 1, INT32)

    def negative(self, a: Expression) -> Expression:
        return _made(lambda a, _: f"-{a}", a, self.constant(0), -a.high, -a.low)

    def multiple(self, a: Expression, by: int) -> Expression:
        return self.times(a, self.constant(by))

    def left(self, a: Expression, places: int) -> Expression:
        """A product: C leaves the shift of a negative number open."""
        return self.times(a, self.constant(1 << places)) if places else a

    def right(self, a: Expression, places: int) -> Expression:
        """A shift; the file says that its compiler must shift negative numbers so, too."""
        return super().right(a, min(places, BITS[a.type] - 1))

    def shifted(self, a: Expression, places: Expression) -> Expression:
        if not places.within(0, 63):
            raise WordError(f"a shift by up to {places.high} places, and words of C have 64 bits")
        return super().shifted(cast(a, INT64), places)

    def is_zero(self, a: Expression) -> Expression:
        return self.bit(f"!{a}")

    def lookup(self, table: NDArray[np.int64], row: Expression) -> tuple[Expression, ...]:
        name, ends = self.tables.name(table), zip(table.min(0), table.max(0), strict=True)
        return tuple(
            replace(variable(f"{name}[{row.text}][{k}]", int(low), int(high)), whole=False)
            for k, (low, high) in enumerate(ends)
        )

    def normalised(
        self, word: Expression, width: int, window: int, steps: int
    ) -> tuple[Expression, Expression, Expression]:
        """The branches of the shift, which compilers make conditional moves of."""
        below = self.wrapped(word, width - 1, False)
        add = self.statements.append
        add(f"uint64_t x = (uint64_t){below} << {window - width + 1};")
        add("int32_t places = 0;")
        for j in reversed(range(steps)):
            add(f"if (x >> {window - (1 << j)} == 0) {{")
            add(f"    x <<= {1 << j};")
            add(f"    places += {1 << j};")
            add("}")
        x = Expression("x", 0, (1 << window) - 1, UINT64, whole=True)
        return x, variable("places", 0, (1 << steps) - 1), self.is_negative(word)

    def _operation(
        self, a: Expression, operator: str, b: Expression, low: int, high: int
    ) -> Expression:
        return _made(lambda a, b: f"{a} {operator} {b}", a, b, low, high)

    def _right(self, a: Expression, places: Expression | int, low: int, high: int) -> Expression:
        return Expression(f"{a} >> {places}", low, high, a.type)

    def _wrapped(self, a: Expression, width: int, signed: bool) -> Expression:
        mask, half = self.constant((1 << width) - 1), self.constant(1 << (width - 1))
        if not a.within(0, mask.high):
            a = self._operation(a, "&", mask, 0, mask.high)
        return self.minus(self._operation(a, "^", half, 0, mask.high), half) if signed else a

    def _either(
        self, bit: Expression, one: Expression, zero: Expression, low: int, high: int
    ) -> Expression:
        return _made(lambda a, b: f"{bit.text} ? {a} : {b}", one, zero, low, high)


def unit_function(
    name: str, spec: Spec, widths: Sequence[int], products: str, tables: Tables
) -> UnitFunction:
    """The function of a unit; ``products``: nothing in C."""
    body, algorithm = CIntegers(tables), spec.algorithm
    inputs = {
        own: variable(own, *word_range(width))
        for own, width in zip(algorithm.inputs, widths, strict=True)
    }
    outputs = computed(body, algorithm, inputs)
    fields = "".join(f"    {type_of(t.low, t.high)} {own};\n" for own, t in outputs.items())
    for own, term in outputs.items():
        body.statements.append(f"found.{own} = {cast(term, type_of(term.low, term.high)).text};")
    lines = "".join(f"    {line}\n" for line in body.live()[0])
    text = (
        f"/* {spec!r} */\n"
        f"struct {name} {{\n{fields}}};\n\n"
        f"static struct {name} {name}({', '.join(f'{x.type} {x}' for x in inputs.values())})\n"
        f"{{\n    struct {name} found;\n{lines}    return found;\n}}"
    )
    return UnitFunction(name, text, {own: (t.low, t.high) for own, t in outputs.items()})


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
