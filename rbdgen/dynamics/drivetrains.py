"""The effects of rotors, damping and friction on a robot's efforts, its M and its gradients.

Each is of one coordinate alone, so all formulations have them in the same way: added to what they
give for rigid bodies. With v = q̇ clipped to ±w and ``Drivetrain``'s numbers, friction is

    c s(q̇ / w) = v (k₁ - k₃ v²),     k₁ = 3 c / 2 w,   k₃ = c / 2 w³

and its slope k₁ - 3 k₃ v²: two products, two comparisons, and the slope comes for an addition.
"""

from __future__ import annotations

import operator

from ..graph.visits import Visit
from ..robot.model import Drivetrain, Robot
from ..robot.rotors import drivetrains
from .motion import RobotState
from .scalars import Arithmetic, Scalar, Vector
from .spatial import is_constant
from .steps import Runner
from .units import ALIKE, Balance


def armature(own: list[Drivetrain]) -> float:
    """The sum of rotor inertias on a coordinate's diagonal entry of M."""
    return sum(gears.armature for gears in own)


def add_drivetrains(
    run: Runner,
    robot: Robot,
    state: RobotState,
    tau: Vector,
    M: list[Vector],
    dqd: list[Vector],
    moves: bool = True,
    balance: Balance = ALIKE,
) -> None:
    """Add what drivetrains take to τ, M and ∂τ/∂q̇ of rigid bodies, in place.

    Each in the region of what it is added to, else on its joint's way back. ``moves``: whether
    velocities and accelerations matter.
    """
    owner = {robot.v_slices[i].start: i for i in robot.free}
    for k, own in drivetrains(robot).items():
        here, (of_M, _, of_dqd) = ("backward", owner[k]), balance.entries
        qd, qdd = state.qd[k], state.qdd[k]
        for n, (rotor, *resisting) in enumerate(_parts(own)):
            visit, by = Visit("driven", (k, n)), of_M.get((k, k), 1.0)
            M[k][k] = run.beside(M[k][k])(visit, here, operator.add, M[k][k], by * rotor)
            if not moves:
                continue
            numbers = _scaled([rotor, *resisting], balance.effort(k))
            beside = run.beside(tau[k])
            tau[k] = beside(visit, here, _driven, run.arithmetic, tau[k], qd, qdd, *numbers)
            numbers, beside = _scaled(resisting, of_dqd.get((k, k), 1.0)), run.beside(dqd[k][k])
            dqd[k][k] = beside(visit, here, _resisted, run.arithmetic, dqd[k][k], qd, *numbers)


def _parts(own: list[Drivetrain]) -> list[list[Scalar]]:
    """Armature, damping, k₁, k₃ and w: all rotors and dampers in the first, then frictions."""
    damping = sum(gears.damping for gears in own)
    first, *others = own
    return [
        [armature(own), damping, *_numbers(first)],
        *([0.0, 0.0, *_numbers(gears)] for gears in others if gears.friction),
    ]


def _scaled(numbers: list[Scalar], by: float) -> list[Scalar]:
    """All but the last, which is the width w, times a factor."""
    return [*(by * x for x in numbers[:-1]), numbers[-1]]


def curvature(arithmetic: Arithmetic, own: list[Drivetrain], qd: Scalar) -> Scalar:
    """The derivative of ``slope`` by q̇: -6 k₃ q̇ below the width of friction, 0 from it on."""
    total: Scalar = 0.0
    for gears in own:
        if gears.friction:
            _, k3, width = _numbers(gears)
            above = arithmetic.select(-width - qd, qd, 0.0)
            total = total - (6.0 * k3) * arithmetic.select(qd - width, above, 0.0)
    return total


def _numbers(gears: Drivetrain) -> tuple[Scalar, Scalar, float]:
    """k₁, k₃ and w."""
    c, w = gears.friction, gears.width
    if not is_constant(c):  # in a register, with what it is multiplied by
        return 1.5 / w * c, 0.5 / w**3 * c, w
    return 1.5 * c / w, 0.5 * c / w**3, w


def _clipped(arithmetic: Arithmetic, v: Scalar, width: Scalar) -> Scalar:
    """v, not above w, and not below -w: ranges of it are proven in this form."""
    least = arithmetic.select(v - width, v, width)
    return arithmetic.select(least + width, -width, least)


def _friction(arithmetic: Arithmetic, qd: Scalar, k1: Scalar, k3: Scalar, width: Scalar) -> Scalar:
    v = _clipped(arithmetic, qd, width)
    return v * (k1 - k3 * (v * v))


def _slope(arithmetic: Arithmetic, qd: Scalar, k1: Scalar, k3: Scalar, width: Scalar) -> Scalar:
    v = _clipped(arithmetic, qd, width)
    return k1 - 3.0 * (k3 * (v * v))


def _driven(
    arithmetic: Arithmetic,
    tau: Scalar,
    qd: Scalar,
    qdd: Scalar,
    armature: Scalar,
    damping: Scalar,
    *friction: Scalar,
) -> Scalar:
    """τ + a q̈ + d q̇ + c s(q̇ / w)."""
    return tau + (armature * qdd + damping * qd + _friction(arithmetic, qd, *friction))


def _resisted(
    arithmetic: Arithmetic, entry: Scalar, qd: Scalar, damping: Scalar, *friction: Scalar
) -> Scalar:
    """∂τ/∂q̇ + d + ∂(c s(q̇ / w))/∂q̇."""
    return entry + (damping + _slope(arithmetic, qd, *friction))
