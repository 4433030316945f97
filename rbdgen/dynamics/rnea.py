"""Inverse dynamics, τ = ID(q, q̇, q̈, f_ext): recursive Newton-Euler, with the least arithmetic.

Luh, Walker and Paul's recursion (1980) in the form of Khalil and Dombre (*Modeling,
Identification and Control of Robots*, §9.5): ``outward`` has the motions and what they ask of each
body, here is the way back; and both for one matrix a joint in place of a turn and a placement.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from ..graph.node import Region
from ..graph.visits import Visit
from ..robot.model import JointKind, Robot
from .bodies import mass_of
from .drivetrains import add_drivetrains
from .motion import LinkMotion, Motion, Relative, RobotState, multiplier, relative
from .outward import body_of, external_force, move, moving_force
from .repeated import by_place, gathering, weighing
from .scalars import Arithmetic, Scalar, Vector
from .spatial import (
    ZERO,
    Placement,
    Rotation,
    Tensor,
    Turn,
    Wrench,
    add,
    cross,
    is_nothing,
    is_zero,
    matvec,
    scale,
    transposed,
    wrench_difference,
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


def link_to_link(run: Runner, robot: Robot, state: RobotState, multiplications: int = 4) -> Vector:
    """τ (nv,) of a tree of joints of any kind, with one matrix E = P R a joint.

    Of the constant rotation times the joint's own, nine entries are there before the recursion
    starts, so a vector crosses a joint in one product where `rnea` takes two: fewer cycles a joint
    wherever an axis is oblique, more products. Regions ("forward", i) and ("backward", i).
    """
    joints: dict[int, Relative] = {}
    motions: dict[int, Motion] = {}
    wrenches: dict[int, Wrench] = {}
    for i, joint in enumerate(robot.joints):
        here, visit = ("forward", i), by_place("out", robot, i)
        joints[i] = relative(run, robot, i, state, multiplications, here)
        motions[i] = run(visit, here, _moved, joints[i], motions.get(joint.parent))
        mass = mass_of(run, here, joint.inertia, i, state.payload)
        known = mass.is_known
        body = body_of(mass, Units()) if known else run(weighing(i), here, body_of, mass, Units())
        wrenches[i] = run(visit, here, moving_force, body, motions[i])
        if state.f_ext:  # nothing on the others, whose visits are alike
            external = external_force(run, here, joint, i, state)
            wrenches[i] = run(visit, here, wrench_difference, wrenches[i], external)
    tau: Vector = [0.0] * robot.nv
    for i in reversed(range(len(robot.joints))):
        joint, own = robot.joints[i], joints[i]
        here, visit = ("backward", i), by_place("back", robot, i)
        if i in robot.v_slices:  # a fixed joint has no coordinates
            efforts = run(visit, here, _along_axes, joint.kind, multiplier(joint), wrenches[i])
            for k, effort in zip(indices(robot.v_slices[i]), efforts, strict=True):
                tau[k] = summed(run, (k, i), here, tau[k], effort)
        if (above := joint.parent) >= 0:
            passed = run(visit, here, _passed, own.E, own.place, wrenches[i])
            wrenches[above] = run(Visit("gather", (i,)), here, wrench_sum, wrenches[above], passed)
    return tau


def _moved(own: Relative, above: Motion | None) -> Motion:
    """The body's motion along its own axes, from its parent's; None: the base."""
    (w_J, v_J), (alpha_J, a_J) = own.rates, own.changes
    E = transposed(own.E)
    if above is None:
        w, alpha, a = ZERO, ZERO, own.weight
    else:
        w, alpha = matvec(E, above.w), matvec(E, above.alpha)
        a = matvec(E, above.of_point(own.place))
    # α = Eᵀ α_λ + α_J + ω' × ω_J,   a = Eᵀ (a_λ + U_λ p) + a_J + ω_J × v_J + 2 ω' × v_J
    coriolis = add(cross(w_J, v_J), scale(2.0, cross(w, v_J)))
    return Motion(
        add(w, w_J),
        add(add(alpha, alpha_J), cross(w, w_J)),
        add(a, add(a_J, coriolis)),
    )


def _along_axes(kind: JointKind, factor: float, wrench: Wrench) -> Vector:
    """S·f, of each coordinate."""
    force, moment = wrench
    found = {
        JointKind.REVOLUTE: moment[2:],
        JointKind.PRISMATIC: force[2:],
        JointKind.PLANAR: [*force[:2], moment[2]],
        JointKind.FLOATING: [*force, *moment],
    }[kind]
    return scale(factor, found)


def _passed(E: Tensor, place: Vector, wrench: Wrench) -> Wrench:
    """Force and moment in the parent's frame, about the parent's origin."""
    force, moment = (matvec(E, x) for x in wrench)
    return force, add(moment, cross(place, force))
