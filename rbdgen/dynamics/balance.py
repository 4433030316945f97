"""Powers of two in which all joints of a robot count about the same: for words that they share.

An arm's first joint takes 300 Nm, its last one 0.3. Where one binary point serves all joints, the
last ones have few bits left. So all that is on body i, forces and masses, is counted in a unit of
its own, in which the largest of its wrenches, in states within the design's limits, is in (½, 1].
So are the columns of M and of the gradients of τ, wherever they meet a joint on their way to the
base. What goes on to another joint is read in that one's unit, which no child's is smaller than:
going on drops bits, and takes no product.

M⁻¹ magnifies what the last joints lack. Where M is inverted, coordinate k is counted in units of
s_k = 2^n, with D from M = Lᵀ D L (``elimination``):

    M' = s M s,   M'⁻¹ = s⁻¹ M⁻¹ s⁻¹,   τ' = s τ,   q̈' = s⁻¹ q̈

and 1 / s² is between the largest M_kk and the smallest D_k.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import TypeVar

import numpy as np

from ..robot.model import JointKind, Robot
from ..robot.rotors import drivetrains
from .composite import Columns, Composite, Gradient, Matrix
from .drivetrains import add_drivetrains
from .elimination import Elimination, Order
from .motion import RobotState
from .outward import move
from .rnea import gather, indices
from .scalars import FloatScalars, Scalar
from .spatial import Wrench
from .steps import Inline
from .units import Balance, Units

SLIDING = (JointKind.PRISMATIC, JointKind.PLANAR, JointKind.FLOATING)
TURNING = (JointKind.REVOLUTE, JointKind.PLANAR, JointKind.FLOATING)
NOISE = 2.0**-40  # of the largest size; less is nothing but for rounding
T = TypeVar("T")
Place = tuple[int, int]  # a joint, and the one on whose body its columns are; or itself, all there


def balance_of(
    robot: Robot, state: RobotState, order: Order, forced: bool, matrices: bool, gradients: bool
) -> Balance:
    """Units from states, each entry of ``state`` (N,), and s_k of the coordinates in ``order``.

    ``forced``: forces are computed, of τ or of the bias; ``matrices``: M or gradients are, and
    ``gradients``: these.
    """
    run, unit = Inline(FloatScalars()), Units()
    moved = move(run, robot, state, unit)
    columns = Columns(run, robot, moved, unit)
    wrenches: dict[int, Wrench] = {}

    def observe(i: int, wrench: Wrench) -> None:
        wrenches[i] = wrench
        if matrices:
            columns.add(i, wrench)

    tau = gather(run, robot, moved, unit, observe=observe)
    M, _, dqd = columns.gradient
    add_drivetrains(run, robot, state, tau, M, dqd)
    if not forced:
        wrenches = {i: _weight(whole) for i, whole in columns.carried.items()}
    bodies = _of_bodies(robot, wrenches)
    parts = [_of_columns(robot, columns, bodies, part) for part in ("G1", "F1", "F2")]
    G, F1, F2 = ({at: 2.0**-n for at, n in own.items()} for own in parts)
    entries = _entries(robot, G, G), _entries(robot, G, F2), _entries(robot, G, F1)
    efforts = {k: unit for (k, j), unit in entries[0].items() if k == j}
    for k in drivetrains(robot):  # with rotors these are of another size, and a template's own
        efforts[k] = _unit(tau[k], efforts[k])
        for own, matrix in zip(entries, columns.gradient, strict=True):
            own[k, k] = _unit(matrix[k][k], own[k, k])
    coordinates = _coordinates(M, order)
    return Balance(
        {i: 2.0**-n for i, n in bodies.items()},
        (G, F1, F2),
        entries,
        efforts,
        coordinates,
        _sides(columns.gradient, coordinates) if gradients else ({}, {}),
    )


def _weight(whole: Composite) -> Wrench:
    """Wrench on a body and all that it carries, for an acceleration of one along any axis."""
    turning = whole.S[0][0] + whole.S[1][1] + whole.S[2][2]
    return [whole.m] * 3, [turning] * 3


def _largest(robot: Robot, i: int, wrench: Wrench) -> float:
    """The size of a wrench on body ``i``, as far as this joint or those before it ask for it."""
    above, slides = i, robot.joints[i].kind in SLIDING
    while above >= 0 and robot.joints[above].kind not in TURNING:
        above = robot.joints[above].parent
    force, moment = (float(np.max(np.abs(np.stack(np.broadcast_arrays(*x))))) for x in wrench)
    return max(moment if above >= 0 else 0.0, force if slides or above < 0 else 0.0)


def _of_bodies(robot: Robot, wrenches: Mapping[int, Wrench]) -> dict[int, int]:
    """Body → n of its unit 2^-n: that of a parent is no less than that of a child."""
    found = _powers({i: _largest(robot, i, wrench) for i, wrench in wrenches.items()})
    least = min(found.values(), default=0)  # of a body that weighs nothing
    for i in reversed(range(len(robot.joints))):
        below = [found[c] for c in robot.children[i]]
        found[i] = max([found.get(i, least), *below])
    return found


def _of_columns(
    robot: Robot, columns: Columns, bodies: Mapping[int, int], part: str
) -> dict[Place, int]:
    """The same of a part of joints' columns, which are in their own body's unit there."""
    sizes: dict[Place, float] = {}
    for ((i, _), l), column in columns.met.items():
        own = _largest(robot, l, getattr(column, part))
        sizes[i, l] = max(own, sizes.get((i, l), 0.0))
    powers = _powers(sizes)
    found = {(i, i): n for i, n in bodies.items()}
    for i, l in sorted(sizes, key=lambda place: -place[1]):
        before = _towards(robot, i, l)
        on_the_way = [found[i, before]] if before != i else []
        found[i, l] = max([powers.get((i, l), bodies[i]), *on_the_way])
    return found


def _powers(sizes: Mapping[T, float]) -> dict[T, int]:
    """The least n for which a size is not above 2^n; not of what is only rounding."""
    least = NOISE * max(sizes.values(), default=0.0)
    return {key: math.ceil(math.log2(size)) for key, size in sizes.items() if size > least}


def _unit(values: Scalar, otherwise: float) -> float:
    """The unit of the largest of some values."""
    largest = float(np.max(np.abs(values)))
    return 2.0 ** -math.ceil(math.log2(largest)) if largest > 0 else otherwise


def _towards(robot: Robot, i: int, l: int) -> int:
    """The child of body ``l`` that leads to body ``i``."""
    while robot.joints[i].parent != l:
        i = robot.joints[i].parent
    return i


def _entries(
    robot: Robot, below: Mapping[Place, float], above: Mapping[Place, float]
) -> dict[Place, float]:
    """Row and column → the unit of the entry, ``below`` M's diagonal and ``above`` it.

    Of several joints that share the coordinates it is the coarsest.
    """
    found: dict[Place, float] = {}
    for i, l in below:
        a, b = (indices(robot.v_slices.get(own, slice(0, 0))) for own in (i, l))
        for k, j in product(a, b):
            for entry, unit in (((k, j), below[i, l]), ((j, k), above[i, l])):
                found[entry] = min(unit, found.get(entry, math.inf))
    return found


def _coordinates(M: Matrix, order: Order) -> dict[int, float]:
    """s_k of the coordinates that M is inverted for."""
    if not order:
        return {}
    rows = Elimination.of(Inline(FloatScalars()), M, order).rows
    return {k: _power(np.max(M[k][k]), np.min(1 / rows[k].inverse)) for k in order}


def _sides(
    gradient: Gradient, coordinates: Mapping[int, float]
) -> tuple[dict[int, float], dict[int, float]]:
    """Units of the columns of ∂τ/∂q and ∂τ/∂q̇, in which they are about as large as each other."""
    found = []
    for matrix in gradient[1:]:
        sizes = {
            c: max(float(np.max(np.abs(s * matrix[i][c]))) for i, s in coordinates.items())
            for c in coordinates
        }
        powers = _powers(sizes)
        largest = max(powers.values(), default=0)  # for what is nothing, which is then no word's
        found.append({c: 2.0 ** -powers.get(c, largest) for c in sizes})
    return found[0], found[1]


def _power(largest: Scalar, least: Scalar) -> float:
    """The power of two s for which s² is nearest to one between the two."""
    return 2.0 ** -round(math.log2(math.sqrt(float(largest * least))) / 2)
