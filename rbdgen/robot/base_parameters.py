"""Base inertial parameters: each body's inertia with the fewest numbers that do the same work."""

from __future__ import annotations

import math
from dataclasses import replace

from .frames import denoised
from .model import Inertia, JointKind, Robot


def regroup_inertia(robot: Robot, symmetry: bool = True) -> Robot:
    """Give each body the fewest inertial parameters: Khalil's base parameters, leaves to root.

    Revolute about z: what is symmetric about the axis and at rest on it (mass, h_z and a rod's
    second moment) may as well be fixed to the parent. Prismatic: the rotational inertia may.
    Khalil & Bennis 1995; with the rod's share chosen so that ∫z²dm = 0, or, where the body is
    symmetric about z, J_xx = J_yy = 0; without ``symmetry`` in the first way always.
    """
    joints = list(robot.joints)
    base_inertia = robot.base_inertia
    for i in reversed(range(len(joints))):
        joint = joints[i]
        if joint.kind is JointKind.REVOLUTE:
            kept = _kept_about_axis(joint.inertia, symmetry)
        elif joint.kind is JointKind.PRISMATIC:
            kept = Inertia(joint.inertia.mass, joint.inertia.h)
        else:
            continue
        moved = (joint.inertia + -kept).seen_from(joint.placement)
        joints[i] = replace(joint, inertia=kept)
        if joint.parent < 0:
            base_inertia += moved
        else:
            above = joints[joint.parent]
            joints[joint.parent] = replace(above, inertia=above.inertia + moved)
    return denoised(replace(robot, joints=tuple(joints), base_inertia=base_inertia))


def _kept_about_axis(inertia: Inertia, symmetry: bool) -> Inertia:
    J = inertia.J.copy()
    symmetric = symmetry and J[0, 1] == 0 and math.isclose(J[0, 0], J[1, 1], rel_tol=1e-12)
    rod = J[0, 0] if symmetric else (J[0, 0] + J[1, 1] - J[2, 2]) / 2
    J[0, 0], J[1, 1] = (0.0, 0.0) if symmetric else (J[0, 0] - rod, J[1, 1] - rod)
    return Inertia(0.0, inertia.h * [1.0, 1.0, 0.0], J)
