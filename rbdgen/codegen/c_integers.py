"""Integers of C: expressions of 32 bits where their values fit, else of 64, and units of them.

No expression ever overflows its type, which C leaves undefined, whatever the inputs are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..graph.integers import Spec, computed
from ..system.quoting import Refusal
from .words import Expression, Tables, Terms, UnitFunction, word_range

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
