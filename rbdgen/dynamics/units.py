"""Units of acceleration and force in which a robot has the fewest constants to multiply by.

A recursion may carry the acceleration of points as A·a and forces as B·f, with angular motion and
moments as they are: lengths and moments then enter it scaled. A link's length, or the first
moment that several limbs share, becomes a power of two, which costs nothing. A and B are free of
each other, since no product of the two scaled vectors is ever formed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..robot.model import Joint, JointKind, Robot
from .scalars import Scalar, Vector

FREE = (JointKind.PLANAR, JointKind.FLOATING)
ROUNDING = 1e-12  # relative; constants nearer than this are equal
Weighed = tuple[float, int, int]  # c, p, n: n products by c · unitᵖ, p = ±1


@dataclass(frozen=True)
class Units:
    """``acceleration``: A, of what is carried as A·a; ``force``: B, of what is carried as B·f."""

    acceleration: float = 1.0
    force: float = 1.0


Places = Mapping[tuple[int, int], float]
NOWHERE: tuple[Places, Places, Places] = ({}, {}, {})


@dataclass(frozen=True)
class Balance:
    """Powers of two that joints are counted in, so that they share words (``balance``); else one.

    ``bodies``: of all forces and masses on a joint's body, and of τ. ``columns``: of G, F1 and F2
    (``composite``) of joint i's coordinates, as joint l's body has them, by (i, l). ``entries``: of
    M, ∂τ/∂q and ∂τ/∂q̇, by row and column. ``coordinates``: s_k, in which M is inverted, and
    ``sides``: of the columns of ∂τ/∂q and ∂τ/∂q̇ that it is then multiplied by.
    """

    bodies: Mapping[int, float] = field(default_factory=dict)
    columns: tuple[Places, Places, Places] = NOWHERE
    entries: tuple[Places, Places, Places] = NOWHERE
    efforts: Mapping[int, float] = field(default_factory=dict)
    coordinates: Mapping[int, float] = field(default_factory=dict)
    sides: tuple[Mapping[int, float], Mapping[int, float]] = ({}, {})

    def body(self, i: int) -> float:
        """The unit of all forces and masses on a joint's body."""
        return self.bodies.get(i, 1.0)

    def onward(self, i: int, start: int, to: int) -> list[float]:
        """Units of joint ``i``'s columns on the body of ``to``, over those on ``start``'s."""
        return [of.get((i, to), 1.0) / of.get((i, start), 1.0) for of in self.columns]

    def effort(self, k: int) -> float:
        """The unit of an effort."""
        return self.efforts.get(k, 1.0)

    def at(self, k: int) -> float:
        """The unit of a coordinate where M is inverted."""
        return self.coordinates.get(k, 1.0)


ALIKE = Balance()
IN_METRES = Units()


def scaled(values: Iterable[Scalar], factor: float) -> Vector:
    """The values times ``factor``; a number that is a power of two but for rounding becomes one."""
    products = []
    for value in values:
        if not isinstance(value, (float, int)):
            products.append(factor * value)
            continue
        product = float(value) * factor
        power = math.copysign(2.0 ** round(math.log2(abs(product))), product) if product else 0.0
        products.append(power if math.isclose(product, power, rel_tol=ROUNDING) else product)
    return products


def units(robot: Robot, external_forces: int = 0) -> Units:
    """The units that save the most products by constants in the recursion of ``rnea``."""
    A = _best(_met_by_acceleration(robot))
    return Units(A, _best(_met_by_force(robot, A, external_forces)))


def consistent_units(robot: Robot) -> list[Units]:
    """The candidates for M and gradients (``composite``), where moments and powers stay.

    Coordinates that slide beside others, as a floating base's, have A in each of their entries.
    Where there are any, the two are to be compared.
    """
    A = _best(_met_by_acceleration(robot))
    free = any(joint.kind in FREE for joint in robot.joints)
    return [Units(A, 1 / A)] + [Units()] * (free and A != 1)


def _met_by_acceleration(robot: Robot) -> list[Weighed]:
    """The constants beside a: gravity, a + U r, h × a, m a; a sliding joint's q, q̇ and q̈."""
    met: list[Weighed] = []
    for joint in robot.joints:
        level = _level(robot, joint)
        if level == 0:
            met += [(g, 1, 2) for g in robot.gravity]
        else:
            met += [(r, 1, 2 if level == 1 else 3) for r in joint.placement.translation]
        met += [(h, -1, 1 if level == 0 else 2) for h in joint.inertia.h]
        met += [(joint.inertia.mass, -1, 3)]
        if joint.kind is JointKind.PRISMATIC:
            met += [(1.0, 1, 3)]
    return met


def _met_by_force(robot: Robot, A: float, external_forces: int) -> list[Weighed]:
    """The constants beside f: F = m a + U h, r × f, external forces, a sliding joint's τ and q."""
    met: list[Weighed] = [(1.0, 1, 3)] * external_forces
    asked: list[bool] = []  # whether a lever or a sliding joint from here to the base asks for f
    for joint in robot.joints:
        level, (x, y, z) = _level(robot, joint), joint.placement.translation
        lever = level > 0 and bool(x or y or (z and level > 1))
        slides = joint.kind is JointKind.PRISMATIC
        asked.append(lever or slides or (level > 0 and asked[joint.parent]))
        if level == 1:  # only the moment about the first axis goes on
            met += [(x, -1, 1), (y, -1, 1)]
        elif level > 1:
            met += [(r, -1, 2) for r in (x, y, z)]
        if asked[-1]:
            met += [(h, 1, 1 if level == 1 else 3) for h in joint.inertia.h]
            met += [(joint.inertia.mass / A, 1, 3)]
        if slides:
            met += [(1.0, -1, 2)]
    return met


def _level(robot: Robot, joint: Joint) -> int:
    """0 for a joint on the base, 1 for a joint on such a joint's body, 2 for all others."""
    if joint.parent < 0:
        return 0
    return 1 if robot.joints[joint.parent].parent < 0 else 2


def _best(met: list[Weighed]) -> float:
    """The unit that makes most products ones by powers of two; 1 if none does better.

    c · unitᵖ is a power of two for one unit in [1, 2) only: each constant votes for its own.
    """
    votes: dict[str, int] = {}
    units: dict[str, float] = {}
    for constant, power, products in met:
        if constant:
            unit = _mantissa(abs(constant) ** -power)
            key = f"{unit:.12g}"
            votes[key] = votes.get(key, 0) + products
            units.setdefault(key, unit)
    best = max(votes, key=lambda key: votes[key], default="1")
    return units[best] if votes.get(best, 0) > votes.get("1", 0) else 1.0


def _mantissa(x: float) -> float:
    """x · 2^k in [1, 2)."""
    return 2 * math.frexp(x)[0]
