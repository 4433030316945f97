"""Robots after exact rewrites: moved body frames, and parameters that are no rigid body's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rbdgen.robot.model import Array, Inertia, Joint, JointKind, Robot, Transform, skew
from tests.support.comparison import check, golden_answers, norm, random_question
from tests.support.pinocchio_models import peer_from_robot
from tests.support.random_robots import SINGLE, random_robot, random_rotation


def turned_about(axis: Array, angle: float) -> Array:
    """Rotation (3, 3) by ``angle`` about the unit vector ``axis``."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def reframed(robot: Robot, rng: np.random.Generator) -> Robot:
    """Every body frame of a revolute or prismatic joint moved at random; the motion is the same.

    A joint placed at P turns its body by T(q). In a frame at B = turn(α)·C of the body, with C
    turned anyhow and slid along the axis, P T(q) B = (P C) T'(q + α) for the axis Cᵀ u.
    """
    moved: list[Transform] = []
    joints: list[Joint] = []
    for joint in robot.joints:
        offset, B = joint.offset, Transform()
        placement, axis = joint.placement, joint.axis
        if joint.kind is JointKind.REVOLUTE:
            alpha = rng.normal()
            C = Transform(random_rotation(rng), rng.normal() * axis)
            B = Transform(turned_about(axis, alpha)) @ C
            placement, axis, offset = placement @ C, C.rotation.T @ axis, offset + alpha
        elif joint.kind is JointKind.PRISMATIC:
            B = Transform(random_rotation(rng), rng.normal(size=3))
            placement, axis = placement @ B, B.rotation.T @ axis
        if joint.parent >= 0:
            placement = moved[joint.parent].inverse() @ placement
        moved.append(B)
        joints.append(
            replace(
                joint,
                placement=placement,
                axis=axis,
                offset=offset,
                inertia=joint.inertia.seen_from(B.inverse()),
                link_frame=B.inverse() @ joint.link_frame,
            )
        )
    return robot.with_joints(joints)


def regrouped(robot: Robot) -> Robot:
    """Mass, first moment along the axis and a transverse inertia of every revolute body, the rod
    on the axis, fixed to the parent instead: Khalil's base parameters, some of them negative."""
    joints = list(robot.joints)
    for i in reversed(range(len(joints))):
        joint, u = joints[i], joints[i].axis
        if joint.kind is not JointKind.REVOLUTE:
            continue
        across = np.eye(3) - np.outer(u, u)
        transverse = np.trace(across @ joint.inertia.J @ across) / 2
        rod = Inertia(joint.inertia.mass, u @ joint.inertia.h * u, transverse * across)
        joints[i] = replace(joint, inertia=joint.inertia + -rod)
        if joint.parent >= 0:
            parent = joints[joint.parent]
            inertia = parent.inertia + rod.seen_from(joint.placement)
            joints[joint.parent] = replace(parent, inertia=inertia)
    return robot.with_joints(joints)


@pytest.mark.parametrize("seed", range(8))
def test_moved_body_frames_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 8, SINGLE, mimic=0.3, fixed=0.2, floating_base=seed % 2 == 0)
    question = random_question(robot, 4, seed)
    other = reframed(robot, rng)
    assert any(joint.offset for joint in other.joints)
    check(question, golden_answers(other, question), golden_answers(robot, question))


@pytest.mark.parametrize("seed", range(4))
def test_moved_body_frames_agree_with_pinocchio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = reframed(random_robot(rng, 8, SINGLE, fixed=0.2), rng)
    question = random_question(robot, 4, seed)
    check(question, golden_answers(robot, question), peer_from_robot(robot).answers(question))


@pytest.mark.parametrize("floating_base", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_base_parameters_change_nothing(seed: int, floating_base: bool) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 8, SINGLE, mimic=0.2, floating_base=floating_base)
    other = regrouped(robot)
    leaf = other.joints[-1]
    assert leaf.kind is JointKind.PRISMATIC or leaf.inertia.mass == 0
    assert any(np.linalg.eigvalsh(joint.inertia.J)[0] < 0 for joint in other.joints)
    question = random_question(robot, 4, seed)
    actual, expected = golden_answers(other, question), golden_answers(robot, question)
    check(question, actual, expected)
    assert np.all(norm(actual.minv - expected.minv) <= 1e-10 * norm(expected.minv))
