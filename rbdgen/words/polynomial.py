"""Polynomials in signals, whose coefficients are known on a grid of angles.

A coefficient is a trigonometric polynomial in the angles. On N equal steps of a turn one of degree
d < N/2 comes within cos(π d / N) of its largest magnitude: near that it is no less than the cosine
of the same height and degree (M. Riesz). So its largest value on the grid, over all values of the
signals, bounds the polynomial everywhere: see ``ends``.

Rounding is counted: ``error`` bounds what the coefficients, computed in float64, are off.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..graph.evaluate import Array
from ..graph.intervals import Interval, product, square
from ..graph.node import Node

Monomial = tuple[Node, ...]  # in the order of their indices, each as often as its power; () is 1
Coefficient = float | Array

STEPS = 24  # of a turn
ROUNDING = 2.0**-50  # relative, of an operation: eight times what float64 has
SINE = 2.0**-47  # absolute, of a sine of a grid's angle


@dataclass(frozen=True, eq=False, slots=True)
class Polynomial:
    """Σ coefficient · monomial, over the signals' values and a grid of angles.

    ``terms``: coefficients are numbers, or arrays that broadcast to the grid, an axis an angle.
    ``degree``: in each angle, at most. ``size``: the largest Σ |coefficient · monomial|, at most.
    ``error``: the largest difference from the polynomial that is meant, at most.
    """

    terms: Mapping[Monomial, Coefficient]
    degree: tuple[int, ...]
    size: float
    error: float = 0.0

    @property
    def power(self) -> int:
        """The largest number of signals in a product."""
        return max(map(len, self.terms), default=0)

    def scaled(self, by: float) -> Polynomial:
        terms = {monomial: by * c for monomial, c in self.terms.items()}
        size = abs(by) * self.size
        return Polynomial(terms, self.degree, size, abs(by) * self.error + ROUNDING * size)

    def plus(self, other: Polynomial, sign: float) -> Polynomial:
        """self + sign · other, for a sign of 1 or -1."""
        terms = dict(self.terms)
        for monomial, c in other.terms.items():
            terms[monomial] = terms[monomial] + sign * c if monomial in terms else sign * c
        degree = tuple(map(max, self.degree, other.degree))
        size = self.size + other.size
        return Polynomial(terms, degree, size, self.error + other.error + ROUNDING * size)

    def times(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, Coefficient] = {}
        for one, c in self.terms.items():
            for two, d in other.terms.items():
                monomial = tuple(sorted(one + two, key=lambda node: node.index))
                terms[monomial] = terms[monomial] + c * d if monomial in terms else c * d
        degree = tuple(a + b for a, b in zip(self.degree, other.degree, strict=True))
        size = self.size * other.size
        summed = len(self.terms) * len(other.terms)
        carried = self.error * other.size + self.size * other.error + self.error * other.error
        return Polynomial(terms, degree, size, carried + summed * ROUNDING * size)

    def ends(self, of: Mapping[Node, Interval]) -> Interval:
        """An interval that holds the polynomial at all angles, for all signals in theirs.

        For given signals the polynomial p is within [low, high] on the grid, so |p - middle| is at
        most half of that there, and in each angle 1 / cos(π d / N) times as much elsewhere.
        """
        most = math.prod(map(beyond_grid, self.degree))
        low: Coefficient = 0.0
        high: Coefficient = 0.0
        for monomial, c in self.terms.items():
            a, b = _values(monomial, of)
            if a == -b:  # most signals can be as large with either sign
                c = np.abs(c) * b
                low, high = low - c, high + c
            else:
                low = low + np.minimum(c * a, c * b)
                high = high + np.maximum(c * a, c * b)
        lowest, highest = float(np.min(low)), float(np.max(high))
        off = self.error + (len(self.terms) + 8) * ROUNDING * self.size
        half = ((highest - lowest) / 2 + off) * most
        middle = (lowest + highest) / 2
        return middle - half, middle + half


def beyond_grid(degree: int) -> float:
    """How much larger a trigonometric polynomial may be than on the grid, at most."""
    if 2 * degree >= STEPS:
        return math.inf
    return (1 + ROUNDING) / math.cos(math.pi * degree / STEPS)


def number(value: float, angles: int) -> Polynomial:
    return Polynomial({(): value}, (0,) * angles, abs(value))


def signal(node: Node, own: Interval, angles: int) -> Polynomial:
    """The node itself, which has values in ``own``."""
    return Polynomial({(node,): 1.0}, (0,) * angles, max(map(abs, own)))


def sine(of: Array, axis: int, angles: int) -> Polynomial:
    """The sine, or cosine, ``of`` (STEPS,) the angle that the axis of the grid is."""
    shape = [1] * angles
    shape[axis] = STEPS
    degree = tuple(int(k == axis) for k in range(angles))
    return Polynomial({(): of.reshape(shape)}, degree, 1.0, SINE)


def _values(monomial: Monomial, of: Mapping[Node, Interval]) -> Interval:
    """The interval of a product of signals; of two equal ones it has no sign."""
    if len(monomial) == 2 and monomial[0] is monomial[1]:
        return square(of[monomial[0]])
    found = 1.0, 1.0
    for node in monomial:
        found = product(found, of[node])
    return found
