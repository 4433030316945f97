"""Statements over integers of arbitrary width, as ``ap_int.h`` has them.

Each step is a constant of its own, of as many bits as its values take: neither C++'s rules of
promotion nor a library's decide how wide anything is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Term:
    """A name or a number, and the least and the largest value that it can have."""

    text: str
    low: int
    high: int

    @property
    def type(self) -> str:
        """The narrowest type that has room for its values."""
        return type_of(self.low, self.high)

    @property
    def is_name(self) -> bool:
        """Whether a statement declares it, or a parameter does; else it is a number."""
        return self.text.isidentifier()

    def within(self, low: int, high: int) -> bool:
        """Whether all its values lie there."""
        return low <= self.low and self.high <= high


def type_of(low: int, high: int) -> str:
    """The narrowest type for these values; signed if one is negative."""
    if low >= 0:
        return f"ap_uint<{max(high.bit_length(), 1)}>"
    return f"ap_int<{1 + max(high, ~low).bit_length()}>"


def word_type(width: int) -> str:
    """The type of a word in two's complement."""
    return f"ap_int<{width}>"


def word_range(width: int) -> tuple[int, int]:
    """Its values."""
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


def constant(value: int) -> Term:
    """A number."""
    long = "LL" * (not -(1 << 31) < value < 1 << 31)
    return Term(f"{type_of(value, value)}({value}{long})", value, value)


def compared(a: Term, how: str, b: Term) -> str:
    """A comparison of the values: where one is signed alone, both get a type that holds both.

    Of a signed and an unsigned number the headers compare the bits, as many as the wider has.
    """
    if (a.low < 0) == (b.low < 0):
        return f"{a.text} {how} {b.text}"
    kind = type_of(min(a.low, b.low), max(a.high, b.high))
    return f"{kind}({a.text}) {how} {kind}({b.text})"


@dataclass
class Body:
    """The statements of a function so far, and the names that they declare, once each.

    ``prefix``: of the names of its steps.
    """

    prefix: str = "t"
    lines: list[str] = field(default_factory=list)
    declared: dict[str, Term] = field(default_factory=dict)
    _count: int = 0

    def declare(self, name: str, low: int, high: int) -> Term:
        """A name that is this function's own; ValueError where it is already."""
        if name in self.declared:
            raise ValueError(f"{name} is declared twice")
        self.declared[name] = term = Term(name, low, high)
        return term

    def let(self, text: str, low: int, high: int, name: str = "", kind: str = "") -> Term:
        """A new constant; ``kind``: its type, else the narrowest."""
        if not name:
            self._count += 1
            name = f"{self.prefix}{self._count}"
        self.lines.append(f"const {kind or type_of(low, high)} {name} = {text};")
        return self.declare(name, low, high)

    def plus(self, a: Term, b: Term) -> Term:
        """a + b"""
        if (b.low, b.high) == (0, 0):
            return a
        if (a.low, a.high) == (0, 0):
            return b
        return self.let(f"{a.text} + {b.text}", a.low + b.low, a.high + b.high)

    def minus(self, a: Term, b: Term) -> Term:
        """a - b"""
        if (b.low, b.high) == (0, 0):
            return a
        return self.let(f"{a.text} - {b.text}", a.low - b.high, a.high - b.low)

    def negative(self, a: Term) -> Term:
        """-a"""
        return self.let(f"-{a.text}", -a.high, -a.low)

    def times(self, a: Term, b: Term, made_of: str = "") -> Term:
        """a · b; ``made_of``: dsp or fabric, whichever multiplies."""
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        product = self.let(f"{a.text} * {b.text}", min(ends), max(ends))
        if made_of:
            self.lines.append(f"#pragma HLS BIND_OP variable={product.text} op=mul impl={made_of}")
        return product

    def multiple(self, a: Term, by: int) -> Term:
        """a times a positive number: shifts and sums, of which no multiplier is made."""
        total, left, place = constant(0), by, 0
        while left:
            if left & 1:
                digit = 2 - (left & 3)  # 1 or -1, so that half of all digits are zero or more
                part = self.left(a, place)
                total = self.plus(total, part) if digit > 0 else self.minus(total, part)
                left -= digit
            left, place = left >> 1, place + 1
        return Term(total.text, a.low * by, a.high * by)

    def left(self, a: Term, places: int) -> Term:
        """a · 2^places; shifts widen nothing, so that the operand has the result's type."""
        if not places:
            return a
        low, high = a.low << places, a.high << places
        return self.let(f"{type_of(low, high)}({a.text}) << {places}", low, high)

    def right(self, a: Term, places: int) -> Term:
        """a · 2^-places, rounded down."""
        if not places:
            return a
        return self.let(f"{a.text} >> {places}", a.low >> places, a.high >> places)

    def shifted(self, a: Term, places: Term) -> Term:
        """The same by places that vary."""
        ends = [x >> p for x in (a.low, a.high) for p in (places.low, places.high)]
        return self.let(f"{a.text} >> {places.text}", min(ends), max(ends))

    def last_bits(self, a: Term, width: int, signed: bool) -> Term:
        """The last ``width`` bits as they are, or as a word in two's complement."""
        low, high = word_range(width) if signed else (0, (1 << width) - 1)
        if a.within(low, high):
            return a
        kind = word_type(width) if signed else f"ap_uint<{width}>"
        return self.let(f"{kind}({a.text})", low, high, kind=kind)

    def least(self, a: Term, most: int) -> Term:
        """The smaller of a and a number."""
        if a.high <= most:
            return a
        end = constant(most)
        return self._either(compared(a, ">", end), end, a, a.low, most)

    def largest(self, a: Term, least: int) -> Term:
        """The larger of a and a number."""
        if a.low >= least:
            return a
        end = constant(least)
        return self._either(compared(a, "<", end), end, a, least, max(a.high, least))

    def chosen(self, test: str, one: Term, other: Term) -> Term:
        """``one`` where the test is true."""
        return self._either(test, one, other, min(one.low, other.low), max(one.high, other.high))

    def _either(self, test: str, one: Term, other: Term, low: int, high: int) -> Term:
        kind = type_of(low, high)
        return self.let(f"{test} ? {kind}({one.text}) : {kind}({other.text})", low, high)

    def pieces(self, terms: Sequence[Term]) -> str:
        """Names as arguments."""
        return ", ".join(term.text for term in terms)
