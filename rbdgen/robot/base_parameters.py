"""Base inertial parameters: each body's inertia with the fewest numbers that do the same work."""

from __future__ import annotations

import math
from dataclasses import replace


from .angles import NOISE
from .cost import MASS, inertia_cost, levels
from .frames import denoised
from .model import Inertia, Joint, JointKind, Robot, Transform


def regroup_inertia(robot: Robot, counterweights: bool = True) -> Robot:
    """Give each body the fewest inertial parameters: Khalil's base parameters, leaves to root.

    Revolute about z: what is symmetric about the axis and at rest on it (mass, h_z and a rod's
    second moment) may as well be fixed to the parent. Prismatic: the rotational inertia may.
    Khalil & Bennis 1995; with the rod's share chosen so that ∫z²dm = 0, or, where the body is
    symmetric about z, J_xx = J_yy = 0. With ``counterweights`` mass comes back to a child where
    that empties h_x or h_y of its parent.
    """
    joints, level = list(robot.joints), levels(robot)
    base_inertia = robot.base_inertia
    for i in reversed(range(len(joints))):
        if counterweights and joints[i].kind is JointKind.REVOLUTE:
            _empty_by_counterweight(robot, joints, i, level)
        joint = joints[i]
        if joint.kind is JointKind.REVOLUTE:
            kept = _kept_about_axis(joint.inertia)
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


def _empty_by_counterweight(robot: Robot, joints: list[Joint], i: int, level: list[int]) -> None:
    """Leave mass with a child of body ``i`` where that empties h_x or h_y of the body.

    A child's mass m does the same work at its joint, F = m a there, as in h = m r here; of what
    it gave its parent, it takes back as much as costs it less than h_x or h_y costs here.
    """
    joint = joints[i]
    best, least = None, inertia_cost(_kept_about_axis(joint.inertia), level[i]) - 1e-9
    for c in robot.children[i]:
        child, point = joints[c], joints[c].placement.translation
        if child.kind is not JointKind.REVOLUTE:
            continue
        for k in (0, 1):
            if abs(point[k]) > NOISE and abs(joint.inertia.h[k]) > NOISE:
                mass = joint.inertia.h[k] / point[k]
                lighter = joint.inertia + Inertia(-mass).seen_from(Transform(translation=point))
                spent = inertia_cost(_kept_about_axis(lighter), level[i]) + MASS
                if spent < least:
                    best, least = (c, mass, lighter), spent
    if best is not None:
        c, mass, lighter = best
        joints[c] = replace(joints[c], inertia=joints[c].inertia + Inertia(mass))
        joints[i] = replace(joint, inertia=lighter)


def _kept_about_axis(inertia: Inertia) -> Inertia:
    J = inertia.J.copy()
    symmetric = J[0, 1] == 0 and math.isclose(J[0, 0], J[1, 1], rel_tol=1e-12)
    rod = J[0, 0] if symmetric else (J[0, 0] + J[1, 1] - J[2, 2]) / 2
    J[0, 0], J[1, 1] = (0.0, 0.0) if symmetric else (J[0, 0] - rod, J[1, 1] - rod)
    return Inertia(0.0, [inertia.h[0], inertia.h[1], 0.0], J)
