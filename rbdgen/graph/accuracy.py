"""Errors of results by coordinate: of τ_k, of q̈_k, of a matrix's row, each beside its own size.

An error is relative to the root mean square that its own coordinate has in states of one scale: at
the limits of velocities, accelerations and forces, and at a tenth of them. A matrix counts by rows,
by what a row makes of independent x_j that are as large as what the matrix is multiplied with
(1 rad or m, the limit of a velocity or an acceleration, the size of an effort):

    √( Σ_states Σ_j E_ij² x_j² / Σ_states Σ_j A_ij² x_j² )

so that neither units nor entries near zero decide.

Sums of errors by coordinate and scale; see `rbdgen.graph.accuracy`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from .evaluate import Array
from .word import FAR, SYMMETRIC, Word, array_named, parse, spell

# What a matrix's last axes are multiplied with; of "x" the first half is positions, then velocities
FACTORS: Mapping[str, tuple[str, ...]] = {
    "M": ("qdd",),
    "Minv": ("tau",),
    "dtau_dq": ("q",),
    "dtau_dqd": ("qd",),
    "dqdd_dq": ("q",),
    "dqdd_dqd": ("qd",),
    **{f"{array}_dq": ("q",) for array in ("dqdd_c", "dlambda_c")},
    **{f"{array}_dqd": ("qd",) for array in ("dqdd_c", "dlambda_c")},
    **{f"{array}_dtau": ("tau",) for array in ("dqdd_c", "dlambda_c")},
    "d2tau_dq2": ("q", "q"),
    "d2tau_dqd2": ("qd", "qd"),
    "d2tau_dq_dqd": ("q", "qd"),
    "dM_dq": ("qdd", "q"),
    "A": ("x",),
    "B": ("tau",),
    "R": ("",),
    "J": ("qd",),
    "Lambda": ("",),
    "Jcom": ("qd",),
    "Ag": ("qd",),
    "Y": ("",),
    "Yb": ("",),
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


@dataclass
class ErrorSums:
    """Sums over states of one scale: a row's squared errors, their squares, its own squares."""

    states: int = 0
    off: float = 0.0
    fourth: float = 0.0
    largest: float = 0.0
    own: float = 0.0

    def add(self, off: Array, own: Array) -> None:
        self.states += len(off)
        self.off += float(off.sum())
        self.fourth += float((off**2).sum())
        self.largest = max(self.largest, float(off.max(initial=0.0)))
        self.own += float(own.sum())

    def mean(self, deviations: float = 0.0) -> float:
        """Mean squared error, and so many of its standard deviations more."""
        if not self.states:
            return 0.0
        variance = max(self.fourth - self.off**2 / self.states, 0.0)
        return max(self.off + deviations * math.sqrt(variance), 0.0) / self.states


@dataclass
class Accuracy:
    """Errors by row and scale, of all states that were added. ``factors``: as of `rows_of`."""

    factors: Mapping[str, float]
    sums: dict[str, list[ErrorSums]] = field(default_factory=dict)

    def add(self, scale: int, words: Mapping[str, Array], exact: Mapping[str, Array]) -> None:
        """States (N,) of one of the `REPORTED` scales: what words stand for, and what is exact."""
        self.__dict__.pop("_largest", None)
        names = [name for name in exact if parse(name).kind != FAR]
        off = row_squares({name: words[name] - exact[name] for name in names}, self.factors)
        own = row_squares({name: exact[name] for name in names}, self.factors)
        for row, squares in off.items():
            self.sums.setdefault(row, [ErrorSums() for _ in REPORTED])[scale].add(squares, own[row])

    def add_parts(self, words: Mapping[str, Array], exact: Mapping[str, Array]) -> None:
        """States (N,) of which the promised `SCALES` are equal parts."""
        for k in range(len(SCALES)):
            own = [{name: part_of(x, k) for name, x in of.items()} for of in (words, exact)]
            self.add(k, *own)

    def size(self, row: str, scale: int) -> float:
        """The root mean square that counts as the row's own at a scale; that of its array's largest
        row, where it is nothing but the rounding of float64 beside that one."""
        largest = self._largest[array_named(row)]
        if self._mean(row) <= ROUNDING**2 * self._mean(largest):
            row = largest
        limits = max(self._mean(row), NOTHING**2 * self._mean(largest))
        if scale == 0:
            return math.sqrt(limits)
        own = self.sums[row][scale]
        mean = own.own / own.states if own.states else 0.0
        return math.sqrt(max(mean, SMALL**2 * limits))

    def _mean(self, row: str) -> float:
        """The mean of the row's squares at the limits."""
        sums = self.sums[row][0]
        return sums.own / sums.states if sums.states else 0.0

    @cached_property
    def _largest(self) -> dict[str, str]:
        """Array → the row with the largest mean."""
        rows: dict[str, list[str]] = {}
        for row in self.sums:
            rows.setdefault(array_named(row), []).append(row)
        return {array: max(own, key=self._mean) for array, own in rows.items()}

    def error(self, row: str, scale: int, deviations: float = 0.0) -> float:
        """Relative error, infinite where the row is 0 in all states and its words are not; 0 of an
        array that is nothing but the rounding of float64 beside the others."""
        most = max(map(self._mean, self._largest.values()))
        if self._mean(self._largest[array_named(row)]) <= ROUNDING**2 * most:
            return 0.0
        off, size = math.sqrt(self.sums[row][scale].mean(deviations)), self.size(row, scale)
        return off / size if size else math.inf if off else 0.0

    def absolute(self, row: str, scale: int) -> tuple[float, float]:
        """Root mean square of the error, and the largest."""
        own = self.sums[row][scale]
        return math.sqrt(own.mean()), math.sqrt(own.largest)

    def moves(self, row: str, scale: int) -> bool:
        """Whether the row is not almost 0 in all states of a scale."""
        own = self.sums[row][scale]
        return own.own > SMALL**2 * self.size(row, 0) ** 2 * own.states

    def shares(self, deviations: float = 0.0) -> dict[tuple[str, int], float]:
        """The errors at the promised `SCALES`, over what each allows."""
        return {
            (row, k): self.error(row, k, deviations) / scale.times
            for row in self.sums
            for k, scale in enumerate(SCALES)
        }


def part_of(states: Array, scale: int) -> Array:
    """States of one scale, of states (N,) of which the promised `SCALES` are equal parts."""
    return np.split(states, len(SCALES))[scale]


def weights(
    exact: Mapping[str, Array], factors: Mapping[str, float], counts: Shares
) -> dict[str, Array]:
    """Output → the root of what the square of an error in it counts in each state (N,).

    So weighted, and summed over outputs, squared errors are in the mean of the states those of all
    rows at all `SCALES`, relative, over what each scale allows, in the mean of rows. ``counts``:
    how often each of these counts; 1 unless stated.
    """
    seen = Accuracy(factors)
    seen.add_parts(exact, exact)
    found = {}
    for name, own in exact.items():
        parts = []
        for k, scale in enumerate(SCALES):
            square = 0.0
            for row, weight in rows_of(name, factors) if parse(name).kind != FAR else ():
                if size := seen.size(row, k) * scale.times:
                    square += counts.get((row, k), 1.0) * weight / size**2
            parts.append(np.full(len(part_of(own, k)), square))
        found[name] = np.sqrt(np.concatenate(parts) / max(len(seen.sums), 1))
    return found
