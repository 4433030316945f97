"""The cost of a body's numbers: products by constants in the recursive Newton-Euler algorithm.

A local estimate of what tracing counts, so that rewrites can weigh one frame against another. A
number counts wherever the recursion multiplies by it: a first moment in F = U h and N = h × a, a
lever in a + U r and r × f, a product of inertia in N; an angle for each of the five vectors that
it turns (ω, α, a on the way out, f, n on the way back). Bodies near the base move more simply.
"""

from __future__ import annotations

import math

from .angles import off_quarters, zxz
from .model import Inertia, JointKind, Robot, Transform

NONE = 1e-12  # smaller numbers, relative to the largest of their kind, are rounding noise
MASS = 3.0
OFFSET = 0.3  # a constant added to an angle, against a product by a constant
# by the number of turning joints from the base to the body's parent, two or more being alike:
ANGLE = (2.0, 12.0, 20.0)
LEVER_ACROSS = (0.0, 3.0, 5.0)
LEVER_ALONG = (0.0, 0.0, 5.0)
FIRST_MOMENT = (1.0, 3.0, 5.0)
PRODUCT_OF_INERTIA = (0.0, 3.0, 3.0)


def levels(robot: Robot) -> list[int]:
    """The number of turning joints between each joint's parent and the base, at most two."""
    found: list[int] = []
    for joint in robot.joints:
        level = 0
        if joint.parent >= 0:
            above = robot.joints[joint.parent].kind
            level = found[joint.parent] + (above is not JointKind.PRISMATIC)
        found.append(min(level, 2))
    return found


def placement_cost(placement: Transform, kind: JointKind, level: int) -> float:
    """The cost of getting from the parent's frame to the joint's and back.

    Of the angles (γ, α, β) a turning joint takes up the last in its offset.
    """
    gamma, alpha, beta = zxz(placement.rotation)
    if kind is JointKind.REVOLUTE and math.sin(alpha) < NONE:
        gamma, beta = 0.0, gamma
    turned = [int(off_quarters(angle) > NONE) for angle in (gamma, alpha, beta)]
    cost = ANGLE[level] * (turned[0] + turned[1])
    if turned[2]:
        cost += OFFSET if kind is JointKind.REVOLUTE else ANGLE[level]
    x, y, z = (int(abs(r) > NONE) for r in placement.translation)
    return cost + LEVER_ACROSS[level] * (x + y) + LEVER_ALONG[level] * z


def inertia_cost(inertia: Inertia, level: int, size: float = 1.0) -> float:
    """The cost of a body's force and moment. ``size``: the inertia whose rounding noise is none.

    Of revolute bodies the numbers that ``regroup_inertia`` leaves; diagonal entries cost the
    same in every frame.
    """
    h = sum(abs(x) > NONE * size for x in inertia.h)
    J = inertia.J
    products = sum(abs(x) > NONE * size for x in (J[0, 1], J[0, 2], J[1, 2]))
    mass = MASS if abs(inertia.mass) > NONE * size else 0.0
    return FIRST_MOMENT[level] * h + PRODUCT_OF_INERTIA[level] * products + mass
