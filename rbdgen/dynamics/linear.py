"""Inverse dynamics from link to link with one matrix a joint, in place of a turn and a placement.

The same recursion as ``outward`` and ``rnea``. E = P R, a constant rotation times the joint's own,
has nine entries that are there before the recursion starts, so a vector crosses a joint in one
product where the others take two: fewer cycles a joint wherever an axis is oblique, more products.
"""

from __future__ import annotations

from ..robot.model import JointKind, Robot
from .common_frame import Relative, relative
from .forces import body_force
from .motion import Motion, State, multiplier
from .rnea import indices
from .scalars import Arithmetic, Scalar, Vector
from .spatial import ZERO, Wrench, add, cross, matvec, scale, transposed
from .units import Units


def inverse_dynamics(
    arithmetic: Arithmetic, robot: Robot, state: State, multiplications: int = 4
) -> Vector:
    """τ (nv,) of a tree of joints of any kind; regions ("forward", i) and ("backward", i)."""
    joints: dict[int, Relative] = {}
    motions: dict[int, Motion] = {}
    wrenches: dict[int, Wrench] = {}
    for i, joint in enumerate(robot.joints):
        with arithmetic.region("forward", i):
            joints[i] = relative(arithmetic, robot, i, state, multiplications)
            motions[i] = _moved(joints[i], motions.get(joint.parent))
            wrenches[i] = body_force(robot, i, motions[i], state, Units())
    tau: Vector = [0.0] * robot.nv
    for i in reversed(range(len(robot.joints))):
        joint, own = robot.joints[i], joints[i]
        with arithmetic.region("backward", i):
            force, moment = wrenches[i]
            for k, effort in _efforts(robot, i, force, moment).items():
                tau[k] += multiplier(joint) * effort
            if joint.parent >= 0:
                force, moment = matvec(own.E, force), matvec(own.E, moment)
                moment = add(moment, cross(own.place, force))
                above = wrenches[joint.parent]
                wrenches[joint.parent] = add(above[0], force), add(above[1], moment)
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


def _efforts(robot: Robot, i: int, force: Vector, moment: Vector) -> dict[int, Scalar]:
    """S·f, by place in q̇."""
    found = {
        JointKind.REVOLUTE: moment[2:],
        JointKind.PRISMATIC: force[2:],
        JointKind.PLANAR: [*force[:2], moment[2]],
        JointKind.FLOATING: [*force, *moment],
        JointKind.FIXED: [],
    }[robot.joints[i].kind]
    if i not in robot.v_slices:
        return {}
    return dict(zip(indices(robot.v_slices[i]), found, strict=True))
