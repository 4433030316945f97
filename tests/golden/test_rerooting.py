"""A floating robot seen from another of its links: the same dynamics in other coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.design.loading import load
from rbdgen.golden import crba, random_state, rerooted, rnea
from rbdgen.robot.compose import reroot
from rbdgen.robot.model import JointKind, RobotError
from tests.support.random_robots import geared, random_robot
from tests.support.trees import floating_tree

TOLERANCE = 1e-10


@pytest.mark.parametrize("seed", range(8))
def test_torques_and_mass_matrix_of_every_root(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = geared(floating_tree(seed), rng) if seed % 2 else floating_tree(seed)
    state = random_state(robot, 3, rng, velocity=5.0, acceleration=5.0)
    tau, M = rnea(robot, *state), crba(robot, state.q)
    for joint in robot.joints:
        other = reroot(robot, joint.body)
        q, qd, qdd, A = rerooted(robot, other, *state)
        back = np.einsum("nij,ni->nj", A, rnea(other, q, qd, qdd))
        assert np.abs(back - tau).max() <= TOLERANCE * np.abs(tau).max()
        # the kinetic energy is the same: M = Aᵀ M' A
        assert np.abs(A.swapaxes(1, 2) @ crba(other, q) @ A - M).max() <= TOLERANCE * M.max()


def test_there_and_back_is_the_same_robot() -> None:
    robot = load("humanoid", base="floating")[1]
    there = reroot(robot, "left_hand")
    back = reroot(there, "pelvis")
    state = random_state(robot, 4, np.random.default_rng(0))
    away = rerooted(robot, there, *state)
    home = rerooted(there, back, *away[:3])
    place = {joint.name: i for i, joint in enumerate(back.joints)}
    for i in robot.free[1:]:
        k = place[robot.joints[i].name]
        for one, other in ((state.q, home.q), (state.qd, home.qd), (state.qdd, home.qdd)):
            slices = (robot.q_slices, back.q_slices)
            if one is not state.q:
                slices = (robot.v_slices, back.v_slices)
            np.testing.assert_allclose(other[:, slices[1][k]], one[:, slices[0][i]], atol=1e-12)
    np.testing.assert_allclose(home.qd[:, :6], state.qd[:, :6], atol=1e-10)
    np.testing.assert_allclose(home.qdd[:, :6], state.qdd[:, :6], atol=1e-10)
    np.testing.assert_allclose(home.q[:, :3], state.q[:, :3], atol=1e-12)
    turn = np.abs(np.sum(home.q[:, 3:7] * state.q[:, 3:7], axis=1))
    np.testing.assert_allclose(turn, 1, atol=1e-12)
    assert sorted(place) == sorted(joint.name for joint in robot.joints)


def test_refusals() -> None:
    with pytest.raises(RobotError, match="only a floating base can be another link"):
        reroot(load("iiwa14")[1], "link_3")
    robot = floating_tree(1)
    with pytest.raises(RobotError, match=r'no joint moves a link "link00"; did you mean "link0'):
        reroot(robot, "link00")
    rng = np.random.default_rng(0)
    bent = random_robot(rng, 4, [JointKind.PLANAR], branching=0.0, floating_base=True)
    with pytest.raises(RobotError, match='"joint003" has several axes and has no way back'):
        reroot(bent, "link003")
