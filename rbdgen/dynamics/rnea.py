"""Inverse dynamics, τ = ID(q, q̇, q̈, f_ext): recursive Newton-Euler, with the least arithmetic.

Luh, Walker and Paul's recursion (1980) in the form of Khalil and Dombre (*Modeling,
Identification and Control of Robots*, §9.5): ``outward`` has the motions and what they ask of each
body, here is the way back.
"""

from __future__ import annotations

from collections.abc import Callable

from ..robot.model import Joint, JointKind, Robot
from .motion import Moved, State, multiplier
from .outward import move
from .scalars import Arithmetic, Scalar, Vector
from .spatial import ZERO, ConstantRotation, Wrench, add, cross, is_zero, scale
from .units import Units, scaled, units


def rnea(
    arithmetic: Arithmetic, robot: Robot, state: State, multiplications: int = 4
) -> list[Scalar]:
    """Joint efforts (nv,) of a tree of joints of any kind, axes of one-axis joints along z.

    Joint i's way out is traced in region ("forward", i), its way back in ("backward", i).
    """
    unit = units(robot, len(state.f_ext))
    moved = move(arithmetic, robot, state, unit, multiplications)
    return gather(arithmetic, robot, moved, unit)


def gather(
    arithmetic: Arithmetic,
    robot: Robot,
    moved: dict[int, Moved],
    unit: Units,
    region: str = "backward",
    observe: Callable[[int, Wrench], None] | None = None,
) -> list[Scalar]:
    """τ (nv,); joint i's share is traced in region (``region``, i).

    ``observe`` is shown, in that region, each joint and the force and moment on its whole subtree,
    children first.
    """
    tau: list[Scalar] = [0.0] * robot.nv
    joined = _joined_by(robot)
    passed: dict[int, Wrench] = {}
    for i in reversed(range(len(robot.joints))):
        joint = robot.joints[i]
        with arithmetic.region(region, i):
            # f = F + Σ_children X* f
            force, moment = (ZERO, ZERO) if i in joined else moved[i].force
            for child in robot.children[i]:
                force, moment = add(force, passed[child][0]), add(moment, passed[child][1])
            if observe is not None:
                observe(i, (force, moment))
            # τ = S·f
            if i in robot.v_slices:
                for k, effort in zip(
                    indices(robot.v_slices[i]), _efforts(joint, force, moment, unit), strict=True
                ):
                    tau[k] += multiplier(joint) * effort
            if joint.parent >= 0:
                force, moment = wrench_to_parent(joint, moved[i], (force, moment), unit)
                if joined.get(joint.parent) == i:
                    above = moved[joint.parent].force
                    force, moment = add(force, above[0]), add(moment, above[1])
                passed[i] = force, moment
    return tau


def indices(at: slice) -> range:
    """The places that a slice with both ends covers."""
    return range(at.start, at.stop)


def _efforts(joint: Joint, force: Vector, moment: Vector, unit: Units) -> Vector:
    """S·f, in SI units."""
    newtons = scale(1 / unit.force, force)
    match joint.kind:
        case JointKind.REVOLUTE:
            return [moment[2]]
        case JointKind.PRISMATIC:
            return [newtons[2]]
        case JointKind.PLANAR:
            return [newtons[0], newtons[1], moment[2]]
        case JointKind.FLOATING:
            return [*newtons, *moment]
        case JointKind.FIXED:
            return []


def wrench_to_parent(joint: Joint, moved: Moved, wrench: Wrench, unit: Units) -> Wrench:
    """Force and moment in the parent's frame, about the parent's origin."""
    force, moment = wrench
    B = unit.force
    R = ConstantRotation(joint.placement.rotation)
    if moved.rotation is not None:
        force, moment = moved.rotation.forward(force), moved.rotation.forward(moment)
    if not is_zero(moved.shift):
        moment = add(moment, cross(scale(1 / B, moved.shift), force))
    force, moment = R.forward(force), R.forward(moment)
    return force, add(moment, cross(scaled(joint.placement.translation, 1 / B), force))


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
