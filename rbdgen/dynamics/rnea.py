"""Inverse dynamics, τ = ID(q, q̇, q̈, f_ext): recursive Newton-Euler, with the least arithmetic.

Luh, Walker and Paul's recursion (1980) in the form of Khalil and Dombre (*Modeling,
Identification and Control of Robots*, §9.5): ``outward`` has the motions and what they ask of each
body, here is the way back.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from ..graph.node import Region
from ..graph.visits import Visit
from ..robot.model import JointKind, Robot
from .drivetrains import add_drivetrains
from .motion import LinkMotion, RobotState, multiplier
from .outward import move
from .repeated import gathering
from .scalars import Arithmetic, Scalar, Vector
from .spatial import (
    ZERO,
    Placement,
    Rotation,
    Turn,
    Wrench,
    add,
    cross,
    is_nothing,
    is_zero,
    scale,
    wrench_sum,
)
from .steps import Inline, Runner, in_units
from .units import ALIKE, Balance, Units, scaled, units


def rnea(
    arithmetic: Arithmetic, robot: Robot, state: RobotState, multiplications: int = 4
) -> list[Scalar]:
    """Joint efforts (nv,) of a tree of joints of any kind, axes of one-axis joints along z.

    Joint i's way out is traced in region ("forward", i), its way back in ("backward", i).
    """
    run, unit = Inline(arithmetic), units(robot, len(state.f_ext))
    moved = move(run, robot, state, unit, multiplications)
    tau, unused = gather(run, robot, moved, unit), [[0.0] * robot.nv for _ in range(robot.nv)]
    add_drivetrains(run, robot, state, tau, unused, unused)
    return tau


def gather(
    run: Runner,
    robot: Robot,
    moved: dict[int, LinkMotion],
    unit: Units,
    observe: Callable[[int, Wrench], None] | None = None,
    balance: Balance = ALIKE,
) -> list[Scalar]:
    """τ (nv,), in those of ``balance``; joint i's share is in region ("backward", i).

    ``observe`` is shown each joint and the force and moment on its whole subtree, children first.
    """
    tau: list[Scalar] = [0.0] * robot.nv
    joined = {} if run.shares else _joined_by(robot)
    passed: dict[int, Wrench] = {}
    for i in reversed(range(len(robot.joints))):
        joint, visit, here = robot.joints[i], gathering(robot, i), ("backward", i)
        own = (ZERO, ZERO) if i in joined else moved[i].force
        below = [
            in_units(passed[child], balance.body(i) / balance.body(child))
            for child in robot.children[i]
        ] or [(ZERO, ZERO)]
        force = run(visit, here, _whole_force, own, below)
        if observe is not None:
            observe(i, force)
        if i in robot.v_slices:
            efforts = run(visit, here, _efforts, joint.kind, multiplier(joint), force, unit)
            for k, effort in zip(indices(robot.v_slices[i]), efforts, strict=True):
                effort = in_units(effort, balance.effort(k) / balance.body(i))
                tau[k] = summed(run, (k, i), here, tau[k], effort)
        if joint.parent >= 0:
            r = scaled(joint.placement.translation, 1 / unit.force)
            R = run.rotation(joint.placement.rotation)
            passed[i] = run(
                visit, here, wrench_to_parent, moved[i].rotation, moved[i].shift, R, r, force, unit
            )
            if joined.get(joint.parent) == i:
                passed[i] = run(visit, here, wrench_sum, passed[i], moved[joint.parent].force)
    return tau


def summed(run: Runner, key: tuple[int, ...], region: Region, a: Scalar, b: Scalar) -> Scalar:
    """a + b, of two joints that share a coordinate; b where nothing was there yet."""
    return b if is_nothing(a) else run(Visit("sum", key), region, operator.add, a, b)


def _whole_force(own: Wrench, below: list[Wrench]) -> Wrench:
    """f = F + Σ_children X* f."""
    for wrench in below:
        own = wrench_sum(own, wrench)
    return own


def indices(at: slice) -> range:
    """The places that a slice with both ends covers."""
    return range(at.start, at.stop)


def _efforts(kind: JointKind, factor: float, wrench: Wrench, unit: Units) -> Vector:
    """τ = S·f, in SI units, times ``factor``."""
    force, moment = wrench
    newtons = scale(1 / unit.force, force)
    match kind:
        case JointKind.REVOLUTE:
            efforts = [moment[2]]
        case JointKind.PRISMATIC:
            efforts = [newtons[2]]
        case JointKind.PLANAR:
            efforts = [newtons[0], newtons[1], moment[2]]
        case JointKind.FLOATING:
            efforts = [*newtons, *moment]
        case JointKind.FIXED:
            efforts = []
    return [factor * effort for effort in efforts]


def wrench_to_parent(
    rotation: Rotation | Turn | None,
    shift: Vector,
    R: Placement,
    r: Vector,
    wrench: Wrench,
    unit: Units,
) -> Wrench:
    """Force and moment in the parent's frame, about the parent's origin."""
    force, moment = wrench
    if rotation is not None:
        force, moment = rotation.forward(force), rotation.forward(moment)
    if not is_zero(shift):
        moment = add(moment, cross(scale(1 / unit.force, shift), force))
    force, moment = R.forward(force), R.forward(moment)
    return force, add(moment, cross(r, force))


def _joined_by(robot: Robot) -> dict[int, int]:
    """Joint → the child in whose region its own force joins what comes back: the deepest.

    A FIFO stands in for the register of an adder that writes it, so the sum is formed before the
    FIFO. Joints on the base multiply nothing on the way back.
    """
    height = [0] * len(robot.joints)
    deepest: dict[int, int] = {}
    for i in reversed(range(len(robot.joints))):
        parent = robot.joints[i].parent
        if parent >= 0 and height[parent] <= height[i]:
            height[parent], deepest[parent] = height[i] + 1, i
    return {i: child for i, child in deepest.items() if robot.joints[i].parent >= 0}
