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
from .spatial import is_constant, is_zero
from .steps import Runner
from .units import ALIKE, Balance


def armature(own: list[Drivetrain]) -> float:
    """The sum of rotor inertias on a coordinate's diagonal entry of M."""
    return sum(gears.armature for gears in own)


def effort(arithmetic: Arithmetic, own: list[Drivetrain], qd: Scalar, qdd: Scalar) -> Scalar:
    """a q̈ + d q̇ + c s(q̇ / w) of a coordinate."""
    total = armature(own) * qdd + sum(gears.damping for gears in own) * qd
    for gears in own:
        if gears.friction and not is_zero([qd]):  # at rest it holds nothing
            total = total + _friction(arithmetic, qd, *_numbers(gears))
    return total


def slope(arithmetic: Arithmetic, own: list[Drivetrain], qd: Scalar) -> Scalar:
    """The derivative of ``effort`` by q̇."""
    total: Scalar = sum(gears.damping for gears in own)
    for gears in own:
        if gears.friction:
            total = total + _slope(arithmetic, qd, *_numbers(gears))
    return total


def curvature(arithmetic: Arithmetic, own: list[Drivetrain], qd: Scalar) -> Scalar:
    """The derivative of ``slope`` by q̇: -6 k₃ q̇ below the width of friction, 0 from it on."""
    total: Scalar = 0.0
    for gears in own:
        if gears.friction:
            _, k3, width = _numbers(gears)
            above = arithmetic.select(-width - qd, qd, 0.0)
            total = total - (6.0 * k3) * arithmetic.select(qd - width, above, 0.0)
    return total


def added(arithmetic: Arithmetic, robot: Robot, state: RobotState, tau: Vector) -> Vector:
    """τ (nv,) of rigid bodies with what drivetrains take."""
    total = list(tau)
    for k, own in drivetrains(robot).items():
        total[k] = total[k] + effort(arithmetic, own, state.qd[k], state.qdd[k])
    return total


def record(
    run: Runner,
    robot: Robot,
    state: RobotState,
    tau: Vector,
    M: list[Vector],
    dqd: list[Vector],
    balance: Balance = ALIKE,
) -> None:
    """The same as visits to a template "driven", in place, in M and ∂τ/∂q̇ too."""
    for k, own in drivetrains(robot).items():
        for n, gears in enumerate(own):
            visit, s = Visit("driven", (k, n)), balance.effort(k)
            of_M, _, of_dqd = (of.get((k, k), 1.0) for of in balance.entries)
            here = visit.template, k
            qd, qdd = state.qd[k], state.qdd[k]
            tau[k] = run(visit, here, _driven, run.arithmetic, tau[k], qd, qdd, *_scaled(gears, s))
            M[k][k] = run(visit, here, operator.add, M[k][k], of_M * gears.armature)
            dqd[k][k] = run(
                visit, here, _resisted, run.arithmetic, dqd[k][k], qd, *_scaled(gears, of_dqd)[1:]
            )


def _scaled(gears: Drivetrain, by: float) -> tuple[Scalar, ...]:
    """Armature, damping, k₁ and k₃ times a factor, and w."""
    k1, k3, width = _numbers(gears)
    return by * gears.armature, by * gears.damping, by * k1, by * k3, width


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
    return tau + armature * qdd + damping * qd + _friction(arithmetic, qd, *friction)


def _resisted(
    arithmetic: Arithmetic, entry: Scalar, qd: Scalar, damping: Scalar, *friction: Scalar
) -> Scalar:
    return entry + damping + _slope(arithmetic, qd, *friction)
