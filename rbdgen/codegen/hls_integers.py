"""Integers of arbitrary width, as ``ap_int.h`` has them: statements of C++, and units of them.

Each step is a constant of its own, of as many bits as its values take: neither C++'s rules of
promotion nor a library's decide how wide anything is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..graph.integers import Spec, computed
from .real import identifier
from .words import Expression, Tables, Terms, UnitFunction, UnitFunctions, word_range


def type_of(low: int, high: int) -> str:
    """The narrowest type for these values; signed if one is negative."""
    if low >= 0:
        return f"ap_uint<{max(high.bit_length(), 1)}>"
    return f"ap_int<{1 + max(high, ~low).bit_length()}>"


def word_type(width: int) -> str:
    """The type of a word in two's complement."""
    return f"ap_int<{width}>"


def variable(text: str, low: int, high: int) -> Expression:
    """A variable of the narrowest type."""
    return Expression(text, low, high, type_of(low, high), whole=True)


def word(text: str, width: int) -> Expression:
    """A variable that is a word of so many bits."""
    return variable(text, *word_range(width))


class HlsIntegers(Terms):
    """Statements of C++, and the names that they declare, once each.

    ``prefix``: of the names of its steps; ``products``: what makes them: dsp, fabric, or empty.
    """

    def __init__(self, tables: Tables, prefix: str = "t", products: str = "") -> None:
        super().__init__(tables)
        self.prefix, self.products = prefix, products
        self.declared: dict[str, Expression] = {}
        self._count = 0

    def declare(self, name: str, low: int, high: int) -> Expression:
        """A name that is this function's own; ValueError where it is already."""
        if name in self.declared:
            raise ValueError(f"{name} is declared twice")
        self.declared[name] = term = variable(name, low, high)
        return term

    def let(self, name: str, value: Expression) -> Expression:
        if value.whole:
            return value
        self.statements.append(f"const {type_of(value.low, value.high)} {name} = {value.text};")
        return self.declare(name, value.low, value.high)

    def named(self, a: Expression) -> Expression:
        return a if a.whole else self._step(a.text, a.low, a.high)

    def constant(self, value: int) -> Expression:
        long = "LL" * (not -(1 << 31) < value < 1 << 31)
        return variable(f"{type_of(value, value)}({value}{long})", value, value)

    def bit(self, text: str) -> Expression:
        return Expression(text, 0, 1, type_of(0, 1))

    def negative(self, a: Expression) -> Expression:
        return self._step(f"-{a}", -a.high, -a.low)

    def times(self, a: Expression, b: Expression) -> Expression:
        product = super().times(a, b)
        if self.products:
            bound = f"variable={product.text} op=mul impl={self.products}"
            self.statements.append(f"#pragma HLS BIND_OP {bound}")
        return product

    def multiple(self, a: Expression, by: int) -> Expression:
        """Shifts and sums, of which no multiplier is made."""
        total, left, place = self.constant(0), by, 0
        while left:
            if left & 1:
                digit = 2 - (left & 3)  # 1 or -1, so that half of all digits are zero or more
                part = self.left(a, place)
                total = self.plus(total, part) if digit > 0 else self.minus(total, part)
                left -= digit
            left, place = left >> 1, place + 1
        return variable(total.text, a.low * by, a.high * by)

    def left(self, a: Expression, places: int) -> Expression:
        """A shift, which widens nothing, so that the operand has the result's type."""
        if not places:
            return a
        low, high = a.low << places, a.high << places
        return self._step(f"{type_of(low, high)}({a.text}) << {places}", low, high)

    def is_zero(self, a: Expression) -> Expression:
        return self.bit(f"{a} == 0")

    def compared(self, a: Expression, operator: str, b: Expression) -> Expression:
        """A comparison of the values: where one is signed alone, both get a type that holds both.

        Of a signed and an unsigned number the headers compare the bits, as many as the wider has.
        """
        if (a.low < 0) == (b.low < 0):
            return super().compared(a, operator, b)
        kind = type_of(min(a.low, b.low), max(a.high, b.high))
        return self.bit(f"{kind}({a.text}) {operator} {kind}({b.text})")

    def lookup(self, table: NDArray[np.int64], row: Expression) -> tuple[Expression, ...]:
        return tuple(
            self._step(f"{self.tables.name(own)}[{row}]", int(own.min()), int(own.max()))
            for own in table.T
        )

    def _step(self, text: str, low: int, high: int) -> Expression:
        self._count += 1
        return self.let(f"{self.prefix}{self._count}", Expression(text, low, high, ""))

    def _operation(
        self, a: Expression, operator: str, b: Expression, low: int, high: int
    ) -> Expression:
        return self._step(f"{a} {operator} {b}", low, high)

    def _right(self, a: Expression, places: Expression | int, low: int, high: int) -> Expression:
        return self._step(f"{a} >> {places}", low, high)

    def _wrapped(self, a: Expression, width: int, signed: bool) -> Expression:
        low, high = word_range(width) if signed else (0, (1 << width) - 1)
        return Expression(f"{type_of(low, high)}({a.text})", low, high, type_of(low, high))

    def _either(
        self, bit: Expression, one: Expression, zero: Expression, low: int, high: int
    ) -> Expression:
        test, kind = f"{bit} != 0" if bit.whole else bit.text, type_of(low, high)
        return self._step(f"{test} ? {kind}({one.text}) : {kind}({zero.text})", low, high)


def units(prefix: str, pragmas: Sequence[str] = ()) -> UnitFunctions:
    """The units of a file in C++; ``pragmas``: those in the body of each function."""
    return UnitFunctions(prefix, Tables(identifier(prefix), _kind), partial(_function, pragmas))


def _kind(least: int, largest: int) -> str:
    assert least >= 0
    return "unsigned" if largest < 1 << 32 else "unsigned long long"


def _function(
    pragmas: Sequence[str],
    name: str,
    spec: Spec,
    widths: Sequence[int],
    products: str,
    tables: Tables,
) -> UnitFunction:
    body, algorithm = HlsIntegers(tables, products=products), spec.algorithm.live
    inputs = {own: word(own, width) for own, width in zip(algorithm.inputs, widths, strict=True)}
    outputs = computed(body, algorithm, inputs)
    taken = [f"{x.type} {own}" for own, x in inputs.items()]
    taken += [f"{x.type} &{own}_out" for own, x in outputs.items()]
    given = (f"{own}_out = {x.text};" for own, x in outputs.items())
    lines = [*pragmas, *body.statements, *given]
    text = "".join(f"{line}\n" if line[0] == "#" else f"    {line}\n" for line in lines)
    text = f"static void {name}({', '.join(taken)})\n{{\n{text}}}"
    return UnitFunction(name, text, {own: (t.low, t.high) for own, t in outputs.items()})
