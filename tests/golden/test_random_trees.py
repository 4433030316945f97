"""Golden against Pinocchio on random trees that no URDF holds: every kind of joint anywhere."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.robot.model import JointKind
from tests.support.comparison import Answers, check, golden_answers, random_question
from tests.support.pinocchio_models import peer_from_robot
from tests.support.random_robots import ALL_KINDS, SINGLE, random_robot


@pytest.mark.parametrize("seed", range(20))
def test_every_function_agrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 9, ALL_KINDS, fixed=0.2)
    question = random_question(robot, 4, seed)
    check(question, golden_answers(robot, question), peer_from_robot(robot).answers(question))


@pytest.mark.parametrize("kind", ALL_KINDS, ids=lambda kind: kind.value)
def test_every_kind_of_joint_alone(kind: JointKind) -> None:
    robot = random_robot(np.random.default_rng(3), 1, [kind])
    question = random_question(robot, 10, seed=3)
    check(question, golden_answers(robot, question), peer_from_robot(robot).answers(question))


@pytest.mark.parametrize("seed", range(10))
def test_mimic_joints(seed: int) -> None:
    """M is compared with columns of Pinocchio's rnea: its crba (4.1) disagrees with them on trees
    that mix mimic joints with planar or floating ones."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 14, (*SINGLE, *ALL_KINDS), mimic=0.8, fixed=0.1)
    assert any(joint.mimic for joint in robot.joints)
    question = random_question(robot, 3, seed)
    q, qd, qdd, _, f_ext = question
    peer = peer_from_robot(robot)
    rest = question._replace(qd=0 * qd, qdd=0 * qdd, f_ext=0 * f_ext)
    weight = peer.rnea(rest)
    columns = [peer.rnea(rest._replace(qdd=rest.qdd + e)) - weight for e in np.eye(robot.nv)]
    check(
        question,
        Answers(rnea=golden.rnea(robot, q, qd, qdd, f_ext), crba=golden.crba(robot, q)),
        Answers(rnea=peer.rnea(question), crba=np.stack(columns, axis=-1)),
    )
