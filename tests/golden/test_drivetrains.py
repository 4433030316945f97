"""Rotors, damping and friction: against Pinocchio where it has them, else against their formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.robot.model import Array, Drivetrain, Mimic, Robot
from tests.support.comparison import check, golden_answers, norm, random_question
from tests.support.pinocchio_models import peer_from_robot
from tests.support.random_robots import ALL_KINDS, SINGLE, geared, random_robot

CASES = [(seed, 0.4 * (seed % 2)) for seed in range(6)]


def without(robot: Robot, **zeros: float) -> Robot:
    joints = [replace(j, drivetrain=replace(j.drivetrain, **zeros)) for j in robot.joints]
    return robot.with_joints(joints)


@pytest.mark.parametrize("seed", range(8))
def test_armature_and_damping_are_pinocchios(seed: int) -> None:
    """Its damping is a model's number that its algorithms do not read: it is put into efforts."""
    rng = np.random.default_rng(seed)
    robot = without(geared(random_robot(rng, 8, ALL_KINDS, fixed=0.2), rng), friction=0.0)
    question = random_question(robot, 4, seed)
    peer = peer_from_robot(robot)
    armature, d = np.zeros((2, robot.nv))
    for i in robot.free:
        if robot.joints[i].kind.nv == 1:
            k = robot.v_slices[i].start
            armature[k], d[k] = (
                robot.joints[i].drivetrain.armature,
                robot.joints[i].drivetrain.damping,
            )
    peer.model.armature = peer.velocity(armature)
    theirs = peer.answers(question._replace(tau=question.tau - d * question.qd))
    resisted = theirs.dqdd_dqd - theirs.minv * d[:, None].T
    check(
        question,
        golden_answers(robot, question),
        theirs._replace(
            rnea=theirs.rnea + d * question.qd,
            dtau_dqd=theirs.dtau_dqd + np.diag(d),
            dqdd_dqd=resisted,
        ),
    )


def test_friction_is_as_said() -> None:
    """Of one joint without weight: a q̈ + d q̇ + c s(q̇ / w), point by point."""
    rng = np.random.default_rng(0)
    robot = random_robot(rng, 1, SINGLE)
    robot = replace(geared(robot, rng), gravity=np.zeros(3))
    own = replace(robot.joints[0].drivetrain, width=0.5)
    robot = robot.with_joints([replace(robot.joints[0], drivetrain=own)])
    rigid = robot.with_joints([replace(robot.joints[0], drivetrain=Drivetrain())])
    q, qd = np.zeros((7, 1)), np.array([-9, -0.5, -0.25, 0, 0.25, 0.5, 9])[:, None]
    s = np.array([-1, -1, -0.6875, 0, 0.6875, 1, 1])[:, None]
    slope = np.array([0, 0, 2.25, 3, 2.25, 0, 0])[:, None, None]
    added = golden.rnea(robot, q, qd, qd) - golden.rnea(rigid, q, qd, qd)
    wanted = own.armature * qd + own.damping * qd + own.friction * s
    np.testing.assert_allclose(added, wanted, atol=1e-12)
    found = golden.rnea_derivatives(robot, q, qd, qd).dtau_dqd
    found = found - golden.rnea_derivatives(rigid, q, qd, qd).dtau_dqd
    np.testing.assert_allclose(found, own.damping + own.friction * slope, atol=1e-12)


@pytest.mark.parametrize(("seed", "mimic"), CASES)
def test_functions_agree_with_each_other(seed: int, mimic: float) -> None:
    rng = np.random.default_rng(seed)
    robot = geared(random_robot(rng, 8, ALL_KINDS, mimic=mimic, fixed=0.2), rng)
    q, qd, qdd, _, f_ext = random_question(robot, 6, seed)
    tau, M = golden.rnea(robot, q, qd, qdd, f_ext), golden.crba(robot, q)
    of = golden.rnea_derivatives(robot, q, qd, qdd, f_ext)
    assert np.all(norm(golden.aba(robot, q, qd, tau, f_ext) - qdd) <= 1e-9 * norm(qdd))
    assert np.all(norm(of.M - M) <= 1e-13 * norm(M))
    assert np.all(norm(M @ golden.minv(robot, q) - np.eye(robot.nv)) <= 1e-9)
    step = 1e-6
    for k, e in enumerate(np.eye(robot.nv)):
        ahead, behind = (golden.rnea(robot, q, qd + s * e, qdd, f_ext) for s in (step, -step))
        slope = (ahead - behind) / (2 * step)
        assert np.allclose(of.dtau_dqd[:, :, k], slope, rtol=0, atol=1e-5 * np.abs(slope).max())


@pytest.mark.parametrize("seed", range(4))
def test_a_mimic_joints_rotor_is_felt_by_the_square(seed: int) -> None:
    """τ Gᵀ of the tree in which the joint moves by itself, as the mimic makes it move."""
    rng = np.random.default_rng(seed)
    tree = geared(random_robot(rng, 3, SINGLE, branching=0.0), rng)
    m = rng.uniform(-2, 2)
    last = replace(tree.joints[2], mimic=Mimic(0, m, 0.3))
    robot = tree.with_joints([*tree.joints[:2], last])
    q, qd, qdd, _, _ = random_question(robot, 5, seed)
    G = np.array([[1.0, 0.0], [0.0, 1.0], [m, 0.0]])

    offset = np.array([0.0, 0.0, 0.3])

    def own(x: Array) -> Array:
        return x @ G.T

    free = golden.rnea(tree, own(q) + offset, own(qd), own(qdd))
    assert np.allclose(golden.rnea(robot, q, qd, qdd), free @ G, rtol=1e-12)
    M = G.T @ golden.crba(tree, own(q) + offset) @ G
    assert np.allclose(golden.crba(robot, q), M, rtol=1e-12)


def test_a_rotor_alone_is_no_singular_mass_matrix() -> None:
    rng = np.random.default_rng(1)
    chain = random_robot(rng, 2, SINGLE, branching=0.0)
    tip = replace(chain.joints[1], inertia=type(chain.joints[1].inertia)())
    drive = Drivetrain(armature=0.5)
    robot = chain.with_joints([chain.joints[0], replace(tip, drivetrain=drive)])
    q, qd, qdd, _, _ = random_question(robot, 3, 1)
    tau = golden.rnea(robot, q, qd, qdd)
    assert np.allclose(golden.aba(robot, q, qd, tau), qdd, rtol=1e-9)
