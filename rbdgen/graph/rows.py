"""Errors of results by coordinate: of τ_k, of q̈_k, of a matrix's row, each beside its own size.

An error is relative to the root mean square that its own coordinate has in states of one scale: at
the limits of velocities, accelerations and forces, and at a tenth of them. A matrix counts by rows,
by what a row makes of independent x_j that are as large as what the matrix is multiplied with
(1 rad or m, the limit of a velocity or an acceleration, the size of an effort):

    √( Σ_states Σ_j E_ij² x_j² / Σ_states Σ_j A_ij² x_j² )

so that neither units nor entries near zero decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from .arrays import SYMMETRIC
from .evaluate import Array
from .word import Word, parse, spell

# What a matrix's last axes are multiplied with; of "x" the first half is positions, then velocities
FACTORS: Mapping[str, tuple[str, ...]] = {
    "M": ("qdd",),
    "Minv": ("tau",),
    "dtau_dq": ("q",),
    "dtau_dqd": ("qd",),
    "dqdd_dq": ("q",),
    "dqdd_dqd": ("qd",),
    "d2tau_dq2": ("q", "q"),
    "d2tau_dqd2": ("qd", "qd"),
    "d2tau_dq_dqd": ("q", "qd"),
    "dM_dq": ("qdd", "q"),
    "A": ("x",),
    "B": ("tau",),
    "R": ("",),
    "J": ("qd",),
    "Jcom": ("qd",),
    "Ag": ("qd",),
}
# Of its own size at the limits, and of the largest row's there: the least that counts as its size.
SMALL, NOTHING = 2.0**-10, 2.0**-20
ROUNDING = 2.0**-48  # of the largest: a row of less, and an array of such, is float64's rounding


class StateScale(NamedTuple):
    """States at a share of the limits, and how much larger errors may be there, relative to what
    the coordinates are there."""

    name: str
    share: float
    times: float


# A row, and which of the `SCALES`.
Shares = Mapping[tuple[str, int], float]
SCALES = (StateScale("at the limits", 1.0, 1.0), StateScale("at a tenth", 0.1, 10.0))
REPORTED = (*SCALES, StateScale("at rest", 0.0, math.inf))


class Worst(NamedTuple):
    """An error that counts: relative, over what its scale allows, and whose it is."""

    share: float  # of the error that is allowed at the scale, were 1 allowed at the limits
    row: str
    scale: StateScale

    @property
    def error(self) -> float:
        return self.share * self.scale.times

    def __str__(self) -> str:
        return f"{self.error:.2g} of {self.row} {self.scale.name}"


@cache
def _entry(name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The rows that an output is an entry of, and the factors of its columns."""
    word = parse(name)
    factors = FACTORS.get(word.kind, ())
    orders = {word.indices, word.indices[::-1]} if word.kind in SYMMETRIC else {word.indices}
    found = []
    for indices in sorted(orders):
        count = len(indices) - len(factors)
        own, columns = indices[:count], indices[count:]
        row = str(Word(word.kind, own)) if own or not factors else word.kind
        row = f"{row[:-1]},:]" if factors and own else row
        pairs = zip(factors, columns, strict=True)
        found.append((row, tuple(spell(kind, k) for kind, k in pairs if kind)))
    return tuple(found)


def rows_of(name: str, factors: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """The rows that an output is an entry of, and the square of what its column is multiplied with.

    ``factors``: of words that columns stand for, as ``qd[3]``; 1 where none is stated.
    """
    for row, columns in _entry(name):
        yield row, math.prod(factors.get(own, 1.0) ** 2 for own in columns)


def row_squares(values: Mapping[str, Array], factors: Mapping[str, float]) -> dict[str, Array]:
    """Row → in each state (N,) the square of what it makes of its columns' factors."""
    found: dict[str, Array] = {}
    for name, own in values.items():
        for row, weight in rows_of(name, factors):
            found[row] = found.get(row, 0.0) + weight * own**2
    return found


def worst_of(shares: Shares) -> Worst:
    """The error that is most of what its scale allows."""
    (row, k), share = max(shares.items(), key=lambda own: own[1], default=(("", 0), 0.0))
    return Worst(share, row, SCALES[k])
