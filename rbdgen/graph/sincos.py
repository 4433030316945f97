"""The sine and cosine unit, as an integer algorithm: the specification of its hardware.

The phase is an angle in turns, its integer part dropped. Its two leading bits are the quadrant,
the next ``INDEX`` bits choose the middle φ of one of 512 equal steps of the quarter turn, and
the rest, δ, is turned to radians and added by the angle sum to first or second order:

    sin(φ + δ) ≈ sin φ + δ (cos φ - ½ δ sin φ),   cos(φ + δ) ≈ cos φ - δ (sin φ + ½ δ cos φ)

|δ| ≤ 1.54e-3, so leaving out ½δ² costs 1.2e-6 (used up to 20 bits) and leaving out δ³/6 6e-10.
What δ multiplies counts for no more than that share of itself: to second order a slope has fewer
bits than the result, and ½δ sin φ, a share of a share, has short factors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from .algorithm import Algorithm, Draft, Variable
from .integers import execute

INDEX = 9  # bits of table index: 512 words of two times 18 bits fill one ECP5 block RAM
GUARD = 2  # bits kept below the result until the last rounding


@dataclass(frozen=True)
class SinCos:
    """Sine and cosine with ``width`` bits, ``width - 1`` of them fraction; 1 becomes 1 - ulp.

    ``phase`` is the number of fraction bits of the angle in turns, from ``coarsest`` to ``finest``.
    """

    phase: int
    width: int

    @property
    def coarsest(self) -> int:
        """Fraction bits below which δ would have no bit, or could not be truncated to its own."""
        return max(INDEX + 3, self.width - 3)

    @property
    def finest(self) -> int:
        """Fraction bits above which δ times 2π would not fit int64."""
        return 62 - self.width + INDEX + 2

    @property
    def order(self) -> int:
        """The order of the angle sum around the table's entries."""
        return 1 if self.width <= 20 else 2

    @property
    def table_fraction(self) -> int:
        """Fraction bits of the (unsigned) table entries; all of them below 1."""
        return self.width if self.order == 1 else self.width + GUARD

    @property
    def slope_fraction(self) -> int:
        """Fraction bits of what δ is multiplied by: to first order so many that it fits a
        multiplier of 18 bits. To second order its last bit, times δ, is 1/40 of a result's."""
        return self.width - 1 if self.order == 1 else self.width - 5

    @property
    def slope_width(self) -> int:
        """Bits of what δ is multiplied by, signed."""
        return self.slope_fraction + self.order

    @property
    def short_width(self) -> int:
        """Bits of both factors of a product of second order, signed; 0 to first order."""
        return 0 if self.order == 1 else self.width - 14

    @property
    def delta_fraction(self) -> int:
        """Fraction bits of δ in radians."""
        return self.width + 3 if self.order == 1 else self.width + 4

    @property
    def delta_width(self) -> int:
        """Bits of δ in radians, signed: |δ| < 2^-9."""
        return self.delta_fraction - 9 + 1

    @property
    def products(self) -> tuple[tuple[int, int], ...]:
        """Operand lengths of the multiplications in turn, each for sine and for cosine: to second
        order ½δ sin φ and ½δ cos φ come first."""
        short = self.short_width
        first = self.slope_width, self.delta_width
        return (first,) * 2 if self.order == 1 else ((short, short),) * 2 + (first,) * 2

    @cached_property
    def radians(self) -> tuple[int, int]:
        """(k, s): δ in radians is (d · k) >> s."""
        # d counts 2^-(phase + 1) turns. 201/32 is 2π to 3e-4, half of what leaving out ½δ² costs.
        bits = 5 if self.order == 1 else self.width - 3
        return round(2 * math.pi * 2.0**bits), bits + (self.phase + 1) - self.delta_fraction

    @property
    def table(self) -> NDArray[np.int64]:
        """(512, 2): sine and cosine of each step's middle, in units of 2^-table_fraction."""
        return _table(self.table_fraction)

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm from an ``angle`` to its ``sin`` and ``cos``."""
        return _algorithm(self)

    def compute(self, angle: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sine and cosine words of angle words with ``phase`` fraction bits."""
        found = execute(self.algorithm, angle=np.asarray(angle, dtype=np.int64))
        return found["sin"], found["cos"]


@cache
def _algorithm(spec: SinCos) -> Algorithm:
    draft = Draft()
    angle = draft.input("angle", spec.phase)
    low = spec.phase - 2 - INDEX
    rest = draft.bits(angle, 0, low)
    entry = draft.bits(angle, low, INDEX)
    quadrant = draft.bits(angle, spec.phase - 2, 2)
    ft, fd, grid = spec.table_fraction, spec.delta_fraction, spec.width - 1 + GUARD
    sine, cosine = draft.lookup(entry, spec.table, (ft, ft))

    # δ: distance to the step's middle, doubled to be whole, in radians
    d = draft.join(draft.const(0, 1), draft.centre(rest))
    k, s = spec.radians
    delta = draft.word(draft.right(draft.times(d, k), s), spec.delta_width)
    delta, sine, cosine = draft.meet(delta, sine, cosine)

    # sin φ + δ (cos φ - ½ δ sin φ), cos φ - δ (sin φ + ½ δ cos φ); slopes to the order
    slope_s, slope_c = (draft.right(x, ft - spec.slope_fraction) for x in (cosine, sine))
    if spec.order == 2:
        # δ has no more bits than what it multiplies: its first ones are zeros, or copies of a sign
        left_out = spec.delta_width - spec.short_width
        short = draft.right(delta, left_out)
        factors = [draft.right(x, ft + 1 - spec.short_width) for x in (sine, cosine)]
        places = spec.short_width - 1 + fd - left_out + 1 - spec.slope_fraction
        half_s, half_c = (draft.right(draft.mul(x, short), places) for x in factors)
        met = draft.meet(sine, cosine, delta, slope_s, slope_c, half_s, half_c)
        sine, cosine, delta, slope_s, slope_c, half_s, half_c = met
        slopes = draft.stage(draft.sub(slope_s, half_s), draft.add(slope_c, half_c))
        slope_s, slope_c = (draft.word(slope, spec.slope_width) for slope in slopes)
        sine, cosine, delta, slope_s, slope_c = draft.meet(sine, cosine, delta, slope_s, slope_c)
    shift = spec.slope_fraction + fd - grid
    change_s, change_c = (
        draft.right(draft.mul(slope, delta), shift) for slope in (slope_s, slope_c)
    )
    sums: list[Variable] = []
    for value, change, combine in ((sine, change_s, draft.add), (cosine, change_c, draft.sub)):
        # both on the grid with GUARD bits below the result, then rounded half up
        aligned = draft.left(value, grid - ft) if grid >= ft else draft.right(value, ft - grid)
        (start,) = draft.stage(draft.add(aligned, draft.const(1 << (GUARD - 1))))
        start, change = draft.meet(start, change)
        total = draft.right(combine(start, change), GUARD)
        sums += draft.stage(draft.word(total, spec.width + 1))

    # One becomes 1 - ulp. The second order makes -1 ulp of a sine of 0 in the widest words.
    least = 0 if spec.order == 1 else -1
    sine, cosine = (draft.bits(draft.saturate(x, least), 0, spec.width) for x in sums)
    quadrant, sine, cosine = draft.meet(quadrant, sine, cosine)
    swap, lower = draft.bits(quadrant, 0, 1), draft.bits(quadrant, 1, 1)
    sine, cosine = draft.stage(draft.select(swap, cosine, sine), draft.select(swap, sine, cosine))
    minus = draft.stage(lower, draft.differ(swap, lower))
    words: list[Variable] = []
    for value, sign in zip((sine, cosine), minus, strict=True):
        words += draft.stage(draft.negate(value, sign))
    sine, cosine = (draft.word(x, spec.width) for x in words)
    return draft.finish(sin=sine, cos=cosine)


@cache
def _table(fraction: int) -> NDArray[np.int64]:
    middle = (np.arange(1 << INDEX) + 0.5) / (1 << INDEX) * (math.pi / 2)
    scaled = np.stack([np.sin(middle), np.cos(middle)], axis=1)
    # the last entry would round up to 1: it stays a fraction
    rounded = np.floor(np.ldexp(scaled, fraction) + 0.5)
    return np.minimum(rounded, 2.0**fraction - 1).astype(np.int64)
