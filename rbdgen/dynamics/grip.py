"""The motions of a robot that leave frames where they are: the nearest ones to any others.

    x - W Jᵀ (J W Jᵀ + E)⁻¹ (J x + r)

is near x, by the weights W, and has J x' + r nearly zero. E, small beside J W Jᵀ, lets the frames
give way where they cannot be held without rates that have no bound, as by a straight limb.
"""

from __future__ import annotations

from collections.abc import Sequence

from .factorisation import Factors, Matrix, factorise, solve
from .scalars import Arithmetic, Scalar

Vector = dict[int, Scalar]  # coordinate → entry
REGIONS = "_grip"


class Grip:
    """The constraint of held frames in one state: ``rows`` of J, W and E by their diagonals."""

    def __init__(
        self,
        one: Arithmetic,
        rows: Sequence[Vector],
        weights: Sequence[float],
        yielding: Sequence[float],
    ) -> None:
        self.one, self.rows = one, rows
        self.weighted = [{k: x * weights[k] for k, x in row.items()} for row in rows]
        self.factors = self._factors(yielding)

    def _factors(self, yielding: Sequence[float]) -> Factors:
        G: Matrix = [[0.0] * len(self.rows) for _ in self.rows]
        for a, row in enumerate(self.weighted):
            for b in range(a + 1):
                G[a][b] = _dot(row, self.rows[b])
            G[a][a] = G[a][a] + yielding[a]
        return factorise(self.one, G, dict.fromkeys(range(len(self.rows)), 0), REGIONS)

    def held(self, motion: Vector, rests: Sequence[Scalar], slip: float = 0.0) -> Vector:
        """The nearest to ``motion`` x with J x' + r = 0, of ``rests`` r by row; or, by a share
        ``slip``, towards x itself."""
        moves = {a: _dot(row, motion) + rests[a] for a, row in enumerate(self.rows)}
        (by,) = solve(self.one, self.factors, [moves], REGIONS)
        found = dict(motion)
        for a, row in enumerate(self.weighted):
            for k, x in row.items():
                if a in by:
                    found[k] = found.get(k, 0.0) - x * by[a] * (1 - slip)
        return found


def slowed(one: Arithmetic, motion: Vector, limits: Sequence[float]) -> Vector:
    """The motion, all of it as much slower as brings each coordinate within ± its limit."""
    largest: Scalar = 1.0
    for k, x in motion.items():
        share = x * (1 / limits[k])
        for side in (share, -share):
            largest = one.select(largest - side, side, largest)
    slower = one.recip(largest)
    return {k: x * slower for k, x in motion.items()}


def _dot(a: Vector, b: Vector) -> Scalar:
    total: Scalar = 0.0
    for k, x in a.items():
        if k in b:
            total = total + x * b[k]
    return total
