"""The sine and cosine unit, as integer arithmetic: the specification of ``rbdgen.rtl.sincos``.

The phase is an angle in turns, its integer part dropped. Its two leading bits are the quadrant,
the next ``INDEX`` bits choose the middle φ of one of 512 equal steps of the quarter turn, and
the rest, δ, is turned to radians and added by the angle sum to first or second order:

    sin(φ + δ) ≈ sin φ + δ (cos φ - ½ δ sin φ),   cos(φ + δ) ≈ cos φ - δ (sin φ + ½ δ cos φ)

|δ| ≤ 1.54e-3, so leaving out ½δ² costs 1.2e-6 (used up to 20 bits) and leaving out δ³/6 6e-10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

INDEX = 9  # bits of table index: 512 words of two times 18 bits fill one ECP5 block RAM
WIDEST = 35  # bits of an operand of a product in two hardware multipliers
GUARD = 2  # bits kept below the result until the last rounding


@dataclass(frozen=True)
class SinCos:
    """Sine and cosine with ``width`` bits, ``width - 1`` of them fraction; 1 is cut to 1 - ulp.

    ``phase`` is the number of fraction bits of the angle in turns, at least ``coarsest``.
    """

    phase: int
    width: int

    @property
    def coarsest(self) -> int:
        """Fraction bits below which δ would have no bit, or could not be cut to its own."""
        return max(INDEX + 3, self.width - 3)

    @property
    def order(self) -> int:
        """The order of the angle sum around the table's entries."""
        return 1 if self.width <= 20 else 2

    @property
    def table_fraction(self) -> int:
        """Fraction bits of the (unsigned) table entries; all of them below 1."""
        return self.width if self.order == 1 else self.width + GUARD

    @property
    def spare(self) -> int:
        """Last bits of a slope that its product with δ leaves out, so that it fits a multiplier:
        18 bits to first order, 35 to second."""
        return 1 if self.order == 1 else max(0, self.table_fraction + self.order - WIDEST)

    @property
    def slope_width(self) -> int:
        """Bits of what δ is multiplied by, signed."""
        return self.table_fraction - self.spare + self.order

    @property
    def delta_bits(self) -> int:
        """Bits of the signed distance to the table entry, in units of 2^-(phase + 1) turns.

        One bit more than the phase has: the middle of a step lies half a unit off the grid.
        """
        return self.phase - 2 - INDEX + 1

    @property
    def delta_fraction(self) -> int:
        """Fraction bits of δ in radians."""
        return self.width + 3 if self.order == 1 else self.width + 4

    @property
    def delta_width(self) -> int:
        """Bits of δ in radians, signed: |δ| < 2^-9."""
        return self.delta_fraction - 9 + 1

    @property
    def products(self) -> int:
        """Multiplications: one each for sine and cosine, twice that to second order."""
        return 2 * self.order

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

    def compute(self, angle: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sine and cosine words of angle words with ``phase`` fraction bits."""
        low = self.phase - 2 - INDEX
        angle = np.asarray(angle, dtype=np.int64)
        quadrant = (angle >> (self.phase - 2)) & 3
        entry = (angle >> low) & ((1 << INDEX) - 1)
        # distance to the step's middle, doubled to be whole
        d = 2 * (angle & ((1 << low) - 1)) - (1 << low)
        k, s = self.radians
        delta = (d * k) >> s
        sine, cosine = self.table[entry, 0], self.table[entry, 1]
        ft, fd, f = self.table_fraction, self.delta_fraction, self.width - 1
        slope_s, slope_c = cosine, sine
        if self.order == 2:
            slope_s = cosine - ((sine * delta) >> (fd + 1))
            slope_c = sine + ((cosine * delta) >> (fd + 1))
        slope_s, slope_c = slope_s >> self.spare, slope_c >> self.spare
        # both on the grid with GUARD bits below the result, then rounded half up
        cut, half = ft - f - GUARD, 1 << (GUARD - 1)
        grid = f + GUARD
        shift = ft - self.spare + fd - grid
        sine = _shift(sine, -cut) + ((slope_s * delta) >> shift)
        cosine = _shift(cosine, -cut) - ((slope_c * delta) >> shift)
        sine, cosine = (np.minimum((x + half) >> GUARD, (1 << f) - 1) for x in (sine, cosine))
        first = quadrant & 1 == 0
        sine, cosine = np.where(first, sine, cosine), np.where(first, cosine, sine)
        return (
            np.where(quadrant >= 2, -sine, sine),
            np.where((quadrant == 1) | (quadrant == 2), -cosine, cosine),
        )


def _shift(words: NDArray[np.int64], left: int) -> NDArray[np.int64]:
    return words << left if left >= 0 else words >> -left


@cache
def _table(fraction: int) -> NDArray[np.int64]:
    middle = (np.arange(1 << INDEX) + 0.5) / (1 << INDEX) * (math.pi / 2)
    scaled = np.stack([np.sin(middle), np.cos(middle)], axis=1)
    # the last entry would round up to 1: it stays a fraction
    rounded = np.floor(np.ldexp(scaled, fraction) + 0.5)
    return np.minimum(rounded, 2.0**fraction - 1).astype(np.int64)
