"""Payloads that a design must serve, and how states at random have one.

A payload's ten words are not free of each other: what has no mass has no inertia either. So states
are drawn, and searched, by its mass m, its centre of mass c and a rod's u, of which they are made:

    m,   m c,   inertia tr(Σ) 1 - Σ about the link's origin,   Σ = m c cᵀ + u uᵀ

In what is linear in inertia rods are the extremes of all bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..robot.model import Array
from ..robot.payload import ENTRIES
from .arrays import is_loaded
from .design import Design
from .functions import OF_FRAMES
from .nested import MotionLimits

DEFAULT_MASS, DEFAULT_REACH, DEFAULT_INERTIA = 5.0, 0.2, 0.1  # kg, m, kg·m²
LOADS = 7  # m, c and u
DRAWN = 64  # different payloads that states at random have
# of m, c and u, by their limits: -u is the same rod as u
CORNERS = np.array(
    [(1, *c, 1, *u) for c in product((-1, 1), repeat=3) for u in product((-1, 1), repeat=2)]
)


@dataclass(frozen=True)
class PayloadLimits:
    """The heaviest payload [kg], the ``reach`` [m] of each coordinate of its centre of mass in the
    link's frame, and the largest moment of inertia about it [kg·m²]."""

    mass: float = DEFAULT_MASS
    reach: float = DEFAULT_REACH
    inertia: float = DEFAULT_INERTIA

    @classmethod
    def of(cls, limits: MotionLimits) -> PayloadLimits:
        """Limits of a design, with defaults where it states none."""
        return cls(
            limits.payload_mass or DEFAULT_MASS,
            limits.payload_reach or DEFAULT_REACH,
            limits.payload_inertia or DEFAULT_INERTIA,
        )

    def loads(self) -> list[tuple[float, float]]:
        """Interval of each of m, c and u."""
        rod = self.inertia**0.5
        return [(0.0, self.mass), *[(-self.reach, self.reach)] * 3, *[(-rod, rod)] * 3]

    def words(self) -> list[tuple[float, float]]:
        """Interval of each word of a payload."""
        moment = self.mass * self.reach
        across = moment * self.reach + self.inertia
        product, inertia = (-across, across), (0.0, 2 * across)
        return [
            (0.0, self.mass),
            *[(-moment, moment)] * 3,
            *(inertia, product, inertia, product, product, inertia),
        ]


def notes_of_payload(design: Design) -> list[str]:
    """Notes on the range of a payload's words, and on functions that ignore it."""
    without = ", ".join(name for name in design.functions if name in OF_FRAMES)
    notes = [f"payload: no payload changes {without}"] if without else []
    if not is_loaded(design):
        return [f"{notes[0]}, so the design has no payload inputs"]
    own = PayloadLimits.of(design.limits)
    return [
        *notes,
        f'payload: on "{design.payload}" up to {own.mass:g} kg, its centre of mass within '
        f"{own.reach:g} m of the link's origin along each axis, its moments of inertia about that "
        f"up to {own.inertia:g} kg m²; limits: payload_mass, payload_reach, payload_inertia",
    ]


def words_of(loads: Sequence[Any]) -> list[Any]:
    """A payload's words of m, c and u: numbers, arrays or a graph's nodes."""
    m, c, u = loads[0], loads[1:4], loads[4:7]
    h = [m * x for x in c]
    xx, xy, yy, xz, yz, zz = (h[i] * c[j] + u[i] * u[j] for i, j in ENTRIES)
    return [m, *h, yy + zz, -xy, xx + zz, -xz, -yz, xx + yy]


def any_payloads(n: int, rng: np.random.Generator) -> Array:
    """Words (n, 10) of bodies of no payload's size, of which no two entries are equal."""
    first, other = rng.normal(0.0, 1.0, (2, LOADS, n))
    first[0], other[0] = np.abs(first[0]), np.abs(other[0])
    return np.stack(words_of(list(first)), axis=1) + np.stack(words_of(list(other)), axis=1)


def random_payloads(limits: PayloadLimits, n: int, rng: np.random.Generator) -> Array:
    """Words (n, 10) of payloads of which ``DRAWN`` are different: none, some anywhere within
    the limits, and all at their corners."""
    lower, upper = np.array(limits.loads()).T
    loads = rng.uniform(lower, upper, (DRAWN, LOADS))
    loads[0] = 0.0
    loads[DRAWN - len(CORNERS) :] = upper * CORNERS
    return np.stack(words_of(list(loads.T)), axis=1)[rng.integers(DRAWN, size=n)]
