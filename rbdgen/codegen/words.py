"""A graph in fixed point as statements of a language: what C and C++ have in common.

``Terms`` is an algebra (``graph.integers``) of expressions. Each knows the least and the largest
value that it can have: by these a language chooses the type of every result, so that none overflows
its type, whatever the inputs are. ``Statements`` computes nodes in it, and calls ``UnitFunctions``,
each of which is there once in a file, as are the ``Tables`` that they read.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..graph.fixed import INTEGER, FixedGraph
from ..graph.graph import source
from ..graph.integers import Algebra, Spec, WithUnits
from ..graph.node import UNCOMPUTED, Node, Op

NAME = re.compile(r"[A-Za-z_]\w*")
CONSTANT = re.compile(r"const (?:struct )?\w+ (\w+) = ")
# The operations that statements compute: others are read where they stand.
MADE = frozenset(op for op in Op if op not in (*UNCOMPUTED, Op.MULC))


@dataclass(frozen=True)
class Expression:
    """An expression: its text, its type, and what it can be. ``whole``: it needs no parentheses."""

    text: str
    low: int
    high: int
    type: str
    whole: bool = False

    def __str__(self) -> str:
        return self.text if self.whole else f"({self.text})"

    def within(self, low: int, high: int) -> bool:
        """Whether all its values lie there."""
        return low <= self.low and self.high <= high


def word_range(width: int) -> tuple[int, int]:
    """The lowest and the highest word of so many bits."""
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


class Terms(Algebra[Expression]):
    """The statements of a function so far, and the tables of its file."""

    def __init__(self, tables: Tables) -> None:
        self.statements: list[str] = []
        self.tables = tables

    @abstractmethod
    def let(self, name: str, value: Expression) -> Expression:
        """``value`` in a constant of its own, unless it is one already."""

    @abstractmethod
    def _operation(
        self, a: Expression, operator: str, b: Expression, low: int, high: int
    ) -> Expression:
        """An operator between two terms, and the range of the result."""

    @abstractmethod
    def _right(self, a: Expression, places: Expression | int, low: int, high: int) -> Expression:
        """A shift to the right, and the range of the result."""

    @abstractmethod
    def _wrapped(self, a: Expression, width: int, signed: bool) -> Expression:
        """The last bits of a term that has more."""

    @abstractmethod
    def _either(
        self, bit: Expression, one: Expression, zero: Expression, low: int, high: int
    ) -> Expression:
        """One of two by a bit, and the range of the result."""

    @abstractmethod
    def bit(self, text: str) -> Expression:
        """An expression that is 0 or 1."""

    def plus(self, a: Expression, b: Expression) -> Expression:
        if (b.low, b.high) == (0, 0):
            return a
        if (a.low, a.high) == (0, 0):
            return b
        return self._operation(a, "+", b, a.low + b.low, a.high + b.high)

    def minus(self, a: Expression, b: Expression) -> Expression:
        if (b.low, b.high) == (0, 0):
            return a
        return self._operation(a, "-", b, a.low - b.high, a.high - b.low)

    def times(self, a: Expression, b: Expression) -> Expression:
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return self._operation(a, "*", b, min(ends), max(ends))

    def right(self, a: Expression, places: int) -> Expression:
        if not places:
            return a
        return self._right(a, places, a.low >> places, a.high >> places)

    def shifted(self, a: Expression, places: Expression) -> Expression:
        ends = [x >> p for x in (a.low, a.high) for p in (places.low, places.high)]
        return self._right(a, places, min(ends), max(ends))

    def wrapped(self, a: Expression, width: int, signed: bool = True) -> Expression:
        low, high = word_range(width) if signed else (0, (1 << width) - 1)
        return a if a.within(low, high) else self._wrapped(a, width, signed)

    def least(self, a: Expression, most: int) -> Expression:
        if a.high <= most:
            return a
        end = self.constant(most)
        return self._either(self.compared(a, "<", end), a, end, min(a.low, most), most)

    def largest(self, a: Expression, least: int) -> Expression:
        """The larger of a and a number."""
        if a.low >= least:
            return a
        end = self.constant(least)
        return self._either(self.compared(a, ">", end), a, end, least, max(a.high, least))

    def is_negative(self, a: Expression) -> Expression:
        return self.bit(f"{a} < 0")

    def either(self, a: Expression, b: Expression) -> Expression:
        return self.bit(f"{a} | {b}")

    def differ(self, a: Expression, b: Expression) -> Expression:
        return self.bit(f"{a} ^ {b}")

    def compared(self, a: Expression, operator: str, b: Expression) -> Expression:
        """The bit that a comparison gives."""
        return self.bit(f"{a} {operator} {b}")

    def chosen(self, bit: Expression, one: Expression, zero: Expression) -> Expression:
        low, high = min(one.low, zero.low), max(one.high, zero.high)
        return self._either(bit, one, zero, low, high)

    def named(self, a: Expression) -> Expression:
        return self.let(f"v{len(self.statements)}", a)

    def live(self) -> tuple[list[str], set[str]]:
        """The statements without constants that nothing reads, and all names in them.

        What a range settles, as the product with a word that is always zero, reads nothing.
        """
        live, names = list[str](), set[str]()
        for statement in reversed(self.statements):
            made = CONSTANT.match(statement)
            if made is None or made[1] in names:
                live.append(statement)
                names.update(NAME.findall(statement))
        return live[::-1], names


class Statements(Terms, WithUnits[Expression]):
    """The statements of one function of a graph.

    ``numbers``: each node's, in names; ``flags``: the flag that an overflow of a node raises.
    """

    fixed: FixedGraph
    units: UnitFunctions
    numbers: Mapping[Node, int]
    flags: Mapping[Node, int]
    _calls: dict[tuple[str, ...], dict[str, Expression]]

    @abstractmethod
    def read(self, node: Node) -> Expression:
        """The word of a node that is no constant."""

    @abstractmethod
    def write(self, node: Node, word: Expression) -> None:
        """Put the word of a node where others read it."""

    @abstractmethod
    def raise_flag(self, node: Node, overflow: Expression) -> None:
        """Note a bit that says whether a node overflows."""

    @abstractmethod
    def call(self, function: UnitFunction, node: Node, *args: Expression) -> dict[str, Expression]:
        """All outputs of a function."""

    def products_of(self, kind: str, node: Node) -> str:
        """The makers of the products of a node's unit: dsp, fabric, or empty for either."""
        return ""

    def compute(self, node: Node) -> None:
        """The node's word, and whether it overflows."""
        out, k = self.fixed.formats[node], self.numbers[node]
        exact: Expression = INTEGER[node.op](self, self.fixed, node, *map(self.value, node.args))
        if exact.within(out.lowest, out.highest):
            word = self.let(f"n{k}", exact)
        elif out.saturates:
            above = self.let(f"l{k}", self.largest(self.let(f"t{k}", exact), out.lowest))
            word = self.let(f"n{k}", self.least(above, out.highest))
        elif out.wraps or node not in self.flags:
            word = self.let(f"n{k}", self.wrapped(exact, out.width))
        else:
            exact = self.let(f"t{k}", exact)
            word = self.let(f"n{k}", self.wrapped(exact, out.width))
            self.raise_flag(node, self.compared(word, "!=", exact))
        self.write(node, word)

    def value(self, node: Node) -> Expression:
        """The bits of a node."""
        node = source(node)
        if node.op is Op.CONST:
            return INTEGER[node.op](self, self.fixed, node)
        return self.read(node)

    def unit(self, kind: str, spec: Spec, node: Node, *args: Expression) -> dict[str, Expression]:
        """The outputs of a unit, which is called once for all that read one of them."""
        widths = [self.fixed.formats[a].width for a in node.args]
        function = self.units.function(kind, spec, widths, self.products_of(kind, node))
        key = function.name, *(a.text for a in args)
        if key not in self._calls:
            self._calls[key] = self.call(function, node, *args)
        return self._calls[key]


@dataclass(frozen=True)
class UnitFunction:
    """A function that computes a unit's outputs; ``outputs``: what each can be, in their order."""

    name: str
    text: str
    outputs: Mapping[str, tuple[int, int]]


@dataclass
class Tables:
    """The constant tables of a file; ``kind``: the type for numbers from the least to the largest.

    ``prefix``: of their names.
    """

    prefix: str
    kind: Callable[[int, int], str]
    named: dict[bytes, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def name(self, table: np.ndarray) -> str:
        """The name of a table (rows, columns), or of a column."""
        key = np.ascontiguousarray(table).tobytes() + repr(table.shape).encode()
        if key not in self.named:
            name = self.named[key] = f"{self.prefix}_table_{len(self.named) + 1}"
            if table.ndim == 1:
                rows, each = list(map(str, table.tolist())), 8
            else:
                rows, each = [f"{{{', '.join(map(str, row))}}}" for row in table.tolist()], 4
            lines = [", ".join(rows[k : k + each]) for k in range(0, len(rows), each)]
            body, shape = ",\n    ".join(lines), "".join(f"[{n}]" for n in table.shape)
            kind = self.kind(int(table.min()), int(table.max()))
            self.texts.append(f"static const {kind} {name}{shape} = {{\n    {body},\n}};")
        return self.named[key]


@dataclass
class UnitFunctions:
    """The functions for units.

    ``write``: of a name, a unit, the widths of its operands, and what makes its products: dsp or
    fabric, or empty.
    """

    prefix: str
    tables: Tables
    write: Callable[[str, Spec, Sequence[int], str, Tables], UnitFunction]
    made: dict[tuple[str, Spec, tuple[int, ...], str], UnitFunction] = field(default_factory=dict)

    def function(
        self, kind: str, spec: Spec, widths: Sequence[int], products: str = ""
    ) -> UnitFunction:
        """The function of a unit for operands of so many bits, or of the unit's width if larger."""
        inputs = spec.algorithm.inputs.values()
        taken = tuple(max(x.width, own) for x, own in zip(inputs, widths, strict=True))
        key = kind, spec, taken, products
        if key not in self.made:
            name = f"{self.prefix}_{kind}_{len(self.made) + 1}"
            self.made[key] = self.write(name, spec, taken, products, self.tables)
        return self.made[key]
