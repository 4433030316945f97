"""Inverse dynamics from link to link with one matrix a joint, in place of a turn and a placement.

The same recursion as ``outward`` and ``rnea``. E = P R, a constant rotation times the joint's own,
has nine entries that are there before the recursion starts, so a vector crosses a joint in one
product where the others take two: fewer cycles a joint wherever an axis is oblique, more products.
"""

from __future__ import annotations

from ..graph.visits import Visit
from ..robot.model import JointKind, Robot
from .bodies import mass_of
from .forces import body_of, external_force, moving_force
from .motion import Motion, Relative, RobotState, multiplier, relative
from .repeated import by_place, weighing
from .rnea import indices, summed
from .scalars import Vector
from .spatial import (
    ZERO,
    Tensor,
    Wrench,
    add,
    cross,
    matvec,
    scale,
    transposed,
    wrench_difference,
    wrench_sum,
)
from .steps import Runner
from .units import Units


def inverse_dynamics(
    run: Runner, robot: Robot, state: RobotState, multiplications: int = 4
) -> Vector:
    """τ (nv,) of a tree of joints of any kind; regions ("forward", i) and ("backward", i)."""
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
            efforts = run(visit, here, _efforts, joint.kind, multiplier(joint), wrenches[i])
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


def _efforts(kind: JointKind, factor: float, wrench: Wrench) -> Vector:
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
