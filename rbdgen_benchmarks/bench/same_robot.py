"""One robot, read twice: by this package and by Pinocchio."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.testing import assert_allclose

from rbdgen.robot.model import Inertia, JointKind, Robot, Transform

if TYPE_CHECKING:
    import pinocchio


def rigid_bodies(robot: Robot) -> tuple[dict[int, Inertia], list[tuple[int, Transform]]]:
    """Inertia of each moving joint's body with all that is fixed to it, in the joint's frame; and
    for each joint its moving ancestor with its placement there. -1 is the world."""
    carried = {-1: robot.base_inertia}
    seat: list[tuple[int, Transform]] = []  # where each joint's parent body sits
    at: dict[int, tuple[int, Transform]] = {-1: (-1, Transform())}
    for i, joint in enumerate(robot.joints):
        ancestor, pose = at[joint.parent]
        placed = pose @ joint.placement
        seat.append((ancestor, placed))
        if joint.kind is JointKind.FIXED:
            at[i] = (ancestor, placed)
            carried[ancestor] += joint.inertia.seen_from(placed)
        else:
            at[i] = (i, Transform())
            carried[i] = joint.inertia
    return carried, seat


def assert_same_robot(robot: Robot, model: pinocchio.Model) -> None:
    """Same joints, tree, placements, axes and inertias; mimic tags ignored on both sides.

    AssertionError where there is another.
    """
    import pinocchio as pin

    assert robot.nv == model.nv
    # Pinocchio holds a continuous angle as cosine and sine.
    names = robot.joint_names
    circles = sum(joint.nq == 2 for joint in model.joints if joint.nv == 1)
    assert robot.nq == model.nq - circles
    assert sorted(names) == sorted(list(model.names)[1:])

    carried, seat = rigid_bodies(robot)
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    index = {-1: 0} | {i: model.getJointId(robot.joints[i].name) for i in robot.free}
    for i in robot.free:
        joint, k = robot.joints[i], index[i]
        ancestor, placed = seat[i]
        assert model.parents[k] == index[ancestor]
        assert_allclose(placed.rotation, model.jointPlacements[k].rotation, atol=1e-9)
        assert_allclose(placed.translation, model.jointPlacements[k].translation, atol=1e-12)
        theirs = model.inertias[k]
        assert_allclose(carried[i].mass, theirs.mass, rtol=1e-12, atol=1e-300)
        scale = max(1e-9, np.abs(theirs.matrix()).max())
        assert_allclose(carried[i].h, theirs.mass * theirs.lever, atol=1e-12 * scale)
        assert_allclose(carried[i].J, theirs.matrix()[3:, 3:], atol=1e-11 * scale)
        jacobian = np.reshape(pin.getJointJacobian(model, data, k, pin.LOCAL), (6, model.nv))
        column = jacobian[:, model.joints[k].idx_v]
        if joint.kind is JointKind.PRISMATIC:
            assert_allclose(column, [*joint.axis, 0, 0, 0], atol=1e-9)
        elif joint.kind is JointKind.REVOLUTE:
            assert_allclose(column, [0, 0, 0, *joint.axis], atol=1e-9)
