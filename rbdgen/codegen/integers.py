"""Expressions of C over integers, each with the least and the largest value that it can have.

The type of every result is chosen by these: 32 bits where they do, else 64. So no expression ever
overflows its type, which C leaves undefined, whatever the inputs are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..system.refusal import Refusal

INT32, INT64, UINT64 = "int32_t", "int64_t", "uint64_t"
RANGES = {  # in the order in which they are tried
    INT32: (-(1 << 31), (1 << 31) - 1),
    INT64: (-(1 << 63), (1 << 63) - 1),
    UINT64: (0, (1 << 64) - 1),
}
BITS = {INT32: 32, INT64: 64, UINT64: 64}


class WordError(Refusal, ValueError):
    """A word that no integer of C has room for."""


@dataclass(frozen=True)
class Term:
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


def type_of(low: int, high: int) -> str:
    """The first type that holds all these; WordError."""
    for name, (least, most) in RANGES.items():
        if least <= low and high <= most:
            return name
    bits = max(low, ~low, high, ~high).bit_length() + 1
    raise WordError(f"a step of the integer model takes {bits} bits, and C has 64; --width less")


def variable(text: str, low: int, high: int) -> Term:
    """A variable, or what stands for one, of the type that its values take."""
    return Term(text, low, high, type_of(low, high), whole=True)


def constant(value: int) -> Term:
    """A number."""
    if value in (RANGES[INT32][0], RANGES[INT64][0]):  # its magnitude has no literal
        return Term(f"{value + 1} - 1", value, value, type_of(value, value))
    return Term(str(value), value, value, type_of(value, value), whole=value >= 0)


def cast(x: Term, to: str) -> Term:
    """The same value in another type that holds it."""
    return x if x.type == to else replace(x, text=f"({to}){x}", type=to, whole=False)


def _made(text: Callable[[Term, Term], str], a: Term, b: Term, low: int, high: int) -> Term:
    """``text`` of two terms, computed in a type that holds them and the result."""
    to = type_of(min(low, a.low, b.low), max(high, a.high, b.high))
    if BITS[to] > max(BITS[a.type], BITS[b.type]):
        a = cast(a, to)
    wider = a.type if BITS[a.type] >= BITS[b.type] else b.type
    return Term(text(a, b), low, high, wider)


def plus(a: Term, b: Term) -> Term:
    """a + b"""
    if (b.low, b.high) == (0, 0):
        return a
    if (a.low, a.high) == (0, 0):
        return b
    return _made(lambda a, b: f"{a} + {b}", a, b, a.low + b.low, a.high + b.high)


def minus(a: Term, b: Term) -> Term:
    """a - b"""
    if (b.low, b.high) == (0, 0):
        return a
    return _made(lambda a, b: f"{a} - {b}", a, b, a.low - b.high, a.high - b.low)


def times(a: Term, b: Term) -> Term:
    """a · b"""
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return _made(lambda a, b: f"{a} * {b}", a, b, min(ends), max(ends))


def negative(a: Term) -> Term:
    """-a"""
    zero = constant(0)
    return _made(lambda a, _: f"-{a}", a, zero, -a.high, -a.low)


def left(a: Term, places: int) -> Term:
    """a · 2^places: C leaves the shift of a negative number open, and a product not."""
    return times(a, constant(1 << places)) if places else a


def right(a: Term, places: int) -> Term:
    """a · 2^-places, rounded down; the file says that its compiler must shift so."""
    if not places:
        return a
    places = min(places, BITS[a.type] - 1)
    return Term(f"{a} >> {places}", a.low >> places, a.high >> places, a.type)


def shifted(a: Term, places: Term) -> Term:
    """The same by places that vary, 63 at most."""
    if not places.within(0, 63):
        raise WordError(f"a shift by up to {places.high} places, and words of C have 64 bits")
    ends = [x >> p for x in (a.low, a.high) for p in (places.low, places.high)]
    return Term(f"{cast(a, INT64)} >> {places}", min(ends), max(ends), INT64)


def last_bits(a: Term, width: int) -> Term:
    """The last ``width`` bits as a number that is not negative."""
    mask = (1 << width) - 1
    if a.within(0, mask):
        return a
    return _made(lambda a, b: f"{a} & {b}", a, constant(mask), 0, mask)


def wrapped(a: Term, width: int, signed: bool = True) -> Term:
    """Two's complement of ``width`` bits; of none that is negative, its last bits."""
    if not signed:
        return last_bits(a, width)
    half = 1 << (width - 1)
    if a.within(-half, half - 1):
        return a
    mask = 2 * half - 1
    turned = _made(lambda a, b: f"{a} ^ {b}", last_bits(a, width), constant(half), 0, mask)
    return minus(turned, constant(half))


def least(a: Term, most: int) -> Term:
    """The smaller of both; ``a`` is read twice."""
    if a.high <= most:
        return a
    end = constant(most)
    return _made(lambda a, b: f"{a} < {b} ? {a} : {b}", a, end, min(a.low, most), most)


def largest(a: Term, least: int) -> Term:
    """The larger of both; ``a`` is read twice."""
    if a.low >= least:
        return a
    end = constant(least)
    return _made(lambda a, b: f"{a} > {b} ? {a} : {b}", a, end, least, max(a.high, least))


def chosen(condition: Term, negative: Term, otherwise: Term, test: str = " < 0") -> Term:
    """One of two by a third."""
    low, high = min(negative.low, otherwise.low), max(negative.high, otherwise.high)
    return _made(lambda a, b: f"{condition}{test} ? {a} : {b}", negative, otherwise, low, high)
