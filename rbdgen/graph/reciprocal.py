"""The reciprocal unit and the scaling behind it, as integer algorithms: their specification.

A positive a = f · 2^k with f in [½, 1) has the reciprocal 1/f · 2^-k: a mantissa in (1, 2], which
keeps its relative precision however small a is, and an exponent, which scales a product by a
shift. ``Reciprocal`` makes both of one word, ``ScaleAlgorithm`` does the shift.

The word is normalised by steps of 2^j places that are taken where the leading 2^j bits are zeros.
Of f the ``INDEX`` bits behind the leading one choose one of 512 equal intervals, on which 1/f is
a line, v - s δ, δ the distance to the interval's middle: to ±2^-20 where it is steepest. Words
wider than ``LINEAR`` take such a line for 18 bits, y, and one Newton step, y - y (f y - 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .algorithm import Algorithm, Draft, Variable
from .integers import execute

INDEX = 9  # bits of table index: 512 words of up to 36 bits fill one ECP5 block RAM
LINEAR = 20  # widest word that the table's lines are good enough for
SEED = 18  # width of what the Newton step starts from: one operand of a hardware multiplier
GUARD = 2  # bits kept below the result until the last rounding
WIDEST = 60  # bits of an operand, and of a product to be scaled, so that int64 can follow

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Reciprocal:
    """Mantissa and exponent of the reciprocal of a positive word.

    Args:
        operand: bits of the word, 2 to 60, with its sign.
        top: the exponent k of words whose first bit below the sign is set.
        steps: of the normalisation; exponents from ``lowest`` = top - 2^steps + 1 are provided.
        width: bits of the mantissa, 12 to 32, ``width - 2`` of them fraction; 2 becomes 2 - ulp.
    """

    operand: int
    top: int
    steps: int
    width: int

    @property
    def lowest(self) -> int:
        """The smallest exponent; words below 2^(lowest - 1) are flagged."""
        return self.top - (1 << self.steps) + 1

    @property
    def exponent_width(self) -> int:
        """Bits of a signed word that holds every exponent."""
        return exponent_width(self.lowest, self.top)

    @property
    def newton(self) -> bool:
        """Whether a Newton step follows the table."""
        return self.width > LINEAR

    @property
    def seed(self) -> int:
        """Bits of the mantissa that the table gives."""
        return SEED if self.newton else self.width

    @property
    def fraction(self) -> int:
        """Bits of f behind its leading one; the rest of the word is truncated."""
        return min(self.width + 2, 33)  # with its sign an operand of two multipliers

    @property
    def window(self) -> int:
        """Bits in which the word is normalised, with zeros behind it where it is narrower."""
        return max(self.operand - 1, self.fraction + 1, 1 << self.steps)

    @property
    def delta_width(self) -> int:
        """Bits of the signed δ, whose last is 2^-(seed + 3)."""
        return self.seed + 2 - INDEX

    @property
    def slope_fraction(self) -> int:
        """Fraction bits of the slope s, a number in [1, 4)."""
        return self.seed - 9

    @property
    def slope_width(self) -> int:
        """Bits of the slope as a signed word."""
        return self.slope_fraction + 3

    @property
    def error_fraction(self) -> int:
        """Fraction bits of f y - 1, which is less than 2^-16 in magnitude."""
        return min(self.width + 2, 33)

    @property
    def error_width(self) -> int:
        return self.error_fraction - 16 + 1

    @property
    def products(self) -> tuple[tuple[int, int], ...]:
        """Operand widths of the unit's multiplications, in their order: s δ, f y, y (f y - 1)."""
        line = (self.slope_width, self.delta_width)
        step = ((self.fraction + 2, SEED), (SEED, self.error_width))
        return (line, *step) if self.newton else (line,)

    @property
    def table(self) -> Integers:
        """(512, 2): v - 1 in units of 2^-seed, rounding included, and s in its own."""
        return _table(self.seed)

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm from an ``operand`` to ``mantissa``, ``exponent`` and ``outside``, a bit.

        Outside of the range are words that are negative, zero or below 2^(lowest - 1). Their bits
        below the sign are shifted like any other's, and the leading one is taken to be there.
        """
        return _reciprocal(self)

    def compute(self, words: Integers) -> tuple[Integers, Integers, NDArray[np.bool_]]:
        """Mantissa words, exponents, and which of the words are out of range."""
        found = execute(self.algorithm, operand=np.asarray(words, dtype=np.int64))
        return found["mantissa"], found["exponent"], found["outside"] != 0


@cache
def _reciprocal(spec: Reciprocal) -> Algorithm:
    draft = Draft()
    operand = draft.input("operand", spec.operand)
    x, places, negative = draft.normalise(operand, spec.window, spec.steps)
    f = draft.bits(x, spec.window - 1 - spec.fraction, spec.fraction)  # behind its leading one
    y = _line(draft, spec, f)
    if spec.newton:
        f, y = draft.meet(f, y)
        y = _newton_step(draft, spec, draft.join(f, draft.const(1, 2), signed=True), y)
    found = draft.bits(x, spec.window - 1, 1)
    places, found, negative = draft.stage(places, found, negative)
    exponent = draft.sub(draft.const(spec.top), places)
    (exponent,) = draft.stage(draft.bits(exponent, 0, spec.exponent_width))
    (outside,) = draft.stage(draft.either(negative, draft.invert(found)))
    exponent, outside, y = draft.meet(exponent, outside, y)
    exponent = draft.word(exponent, spec.exponent_width)
    return draft.finish(mantissa=y, exponent=exponent, outside=outside)


def _line(draft: Draft, spec: Reciprocal, f: Variable) -> Variable:
    """v - s δ with ``spec.seed`` bits; f without its leading one."""
    low = spec.fraction - INDEX
    entry = draft.bits(f, low, INDEX)
    value, slope = draft.lookup(entry, spec.table, (spec.seed, spec.slope_width - 1))
    slope = draft.join(slope, draft.const(0, 1), signed=True)
    # δ: distance to the interval's middle
    delta = draft.centre(draft.bits(f, low - spec.delta_width, spec.delta_width))
    delta, value, slope = draft.meet(delta, value, slope)
    change = draft.mul(slope, delta)
    value, change = draft.meet(value, change)
    value, change = draft.join(value, draft.const(1, 1)), draft.right(change, spec.seed - 6)
    return _below_two(draft, draft.right(draft.sub(value, change), GUARD), spec.seed)


def _newton_step(draft: Draft, spec: Reciprocal, f: Variable, y: Variable) -> Variable:
    """y - y (f y - 1)."""
    product = draft.mul(f, y)
    # near 1 the bits below 2^-16 are f y - 1, the one of 2^-16 its sign
    one = spec.fraction + SEED - 1
    off = draft.bits(product, one - spec.error_fraction, spec.error_width, signed=True)
    y, off = draft.meet(y, off)
    change = draft.mul(y, off)
    y, change = draft.meet(y, change)
    change = draft.right(change, SEED - 2 + spec.error_fraction - spec.width)
    # 1 behind: a quarter of the last bit, half of what cutting and flooring left in
    start = draft.join(draft.const(1, spec.width - SEED + GUARD), y)
    return _below_two(draft, draft.right(draft.sub(start, change), GUARD), spec.width)


def _below_two(draft: Draft, total: Variable, width: int) -> Variable:
    """A sum of ``width`` bits, positive, of which 2, the first bit set, becomes 2 - ulp."""
    (total,) = draft.stage(draft.bits(total, 0, width))
    return draft.stage(draft.saturate(total, 0))[0]


@dataclass(frozen=True)
class ScaleAlgorithm:
    """x · 2^-k, rounded half up: a barrel shift.

    Args:
        operand: bits of x, signed.
        shift: places to the right, from fraction to fraction, at the smallest k; may be negative.
        lowest: the smallest k.
        steps: of the shift: k up to lowest + 2^steps - 1.
    """

    operand: int
    shift: int
    lowest: int
    steps: int

    @property
    def zeros(self) -> int:
        """Zeros behind x, so that one bit below the result's last is left to round by."""
        return max(0, 1 - self.shift)

    @property
    def dropped(self) -> int:
        """Last bits of x that no k has a use for."""
        return max(0, self.shift - 1)

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm from ``x`` and ``k`` to ``scaled``, before it is wrapped to its width."""
        return _scale(self)

    def compute(self, x: Integers, k: Integers) -> Integers:
        """Words of the result, before they are wrapped to its width."""
        scaled: Integers = execute(self.algorithm, x=x, k=k)["scaled"]
        return scaled


@cache
def _scale(spec: ScaleAlgorithm) -> Algorithm:
    draft = Draft()
    x = draft.input("x", spec.operand)
    k = draft.input("k", exponent_width(spec.lowest, spec.lowest + (1 << spec.steps) - 1))
    places = draft.bits(draft.sub(k, draft.const(spec.lowest)), 0, spec.steps)
    if spec.zeros:
        x = draft.join(draft.const(0, spec.zeros), x)
    dropped = min(spec.dropped, x.width - 1)
    x = draft.bits(x, dropped, max(x.width - dropped, 2), signed=True)
    x = draft.shift(x, places)
    half = draft.bits(x, 0, 1)
    return draft.finish(scaled=draft.add(draft.bits(x, 1, x.width - 1, signed=True), half))


def exponent_width(lowest: int, highest: int) -> int:
    """Bits of a signed word for whole numbers from ``lowest`` to ``highest``, at least 2."""
    return max(2, *(1 + max(k, ~k).bit_length() for k in (lowest, highest)))


@cache
def _table(seed: int) -> Integers:
    edges = 0.5 + np.arange((1 << INDEX) + 1) / (2 << INDEX)
    left, right = edges[:-1], edges[1:]
    middle = (left + right) / 2
    # the chord, moved down so that it is as far from 1/f in the middle as at its ends
    chord = (1 / left + 1 / right) / 2
    value = np.ldexp((chord + 1 / middle) / 2 - 1, seed)
    slope = np.ldexp(1 / (left * right), seed - 9)
    # half of the result's last bit; less what the product and f leave out on average
    value += (1 << (GUARD - 1)) - 1
    # the first slope may round up to 4, which is a bit more than it has
    slope = np.minimum(np.floor(slope + 0.5), 2.0 ** (seed - 7) - 1)
    return np.stack([np.floor(value + 0.5), slope], axis=1).astype(np.int64)
