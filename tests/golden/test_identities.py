"""What must hold between the functions, whatever a peer says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.golden import states as batch
from rbdgen.robot.model import Array, Inertia, Joint, JointKind, Mimic, Robot, RobotError, Transform
from tests.support.comparison import Question, golden_answers, norm, random_question
from tests.support.random_robots import ALL_KINDS, random_robot

CASES = [(seed, mimic) for seed in range(5) for mimic in (0.0, 0.5)]


def random_case(seed: int, mimic: float) -> tuple[Robot, Question]:
    robot = random_robot(np.random.default_rng(seed), 10, ALL_KINDS, mimic=mimic, fixed=0.2)
    return robot, random_question(robot, 4, seed)


@pytest.mark.parametrize(("seed", "mimic"), CASES)
def test_forward_undoes_inverse(seed: int, mimic: float) -> None:
    robot, (q, qd, qdd, _, f_ext) = random_case(seed, mimic)
    tau = golden.rnea(robot, q, qd, qdd, f_ext)
    assert np.all(norm(golden.aba(robot, q, qd, tau, f_ext) - qdd) <= 1e-10 * norm(qdd))


@pytest.mark.parametrize(("seed", "mimic"), CASES)
def test_mass_matrix(seed: int, mimic: float) -> None:
    robot, (q, qd, qdd, _, f_ext) = random_case(seed, mimic)
    M, Minv = golden.crba(robot, q), golden.minv(robot, q)
    assert np.array_equal(Minv, Minv.swapaxes(1, 2))
    assert np.all(norm(M - M.swapaxes(1, 2)) <= 1e-14 * norm(M))
    assert np.all(np.linalg.eigvalsh(M) > 0)
    assert np.all(norm(M @ Minv - np.eye(robot.nv)) <= 1e-10)
    # M = ∂τ/∂q̈, by another recursion, and τ is affine in q̈
    assert np.all(norm(golden.rnea_derivatives(robot, q, qd, qdd).M - M) <= 1e-13 * norm(M))
    bias = golden.rnea(robot, q, qd, 0 * qdd, f_ext)
    tau = np.einsum("nij,nj->ni", M, qdd) + bias
    assert np.all(norm(golden.rnea(robot, q, qd, qdd, f_ext) - tau) <= 1e-13 * norm(tau))


@pytest.mark.parametrize("seed", range(3))
def test_power_goes_into_kinetic_energy(seed: int) -> None:
    """Without weight, q̇ᵀτ = d/dt ½ q̇ᵀ M q̇, the rate taken by central differences."""
    robot, (q, qd, qdd, _, _) = random_case(seed, 0.3)
    robot = Robot(robot.name, robot.joints, gravity=np.zeros(3))
    step = 1e-5

    def energy(t: float) -> Array:
        speed = qd + t * qdd
        moved = golden.integrate(robot, q, t * qd + t**2 / 2 * qdd)
        half: Array = np.einsum("ni,nij,nj->n", speed, golden.crba(robot, moved), speed) / 2
        return half

    rate = (energy(step) - energy(-step)) / (2 * step)
    power = np.sum(qd * golden.rnea(robot, q, qd, qdd), axis=1)
    assert np.allclose(power, rate, rtol=1e-6, atol=1e-6)


# Robots whose M is well conditioned: sines and sums of a batch may be rounded otherwise than those
# of one state, and what the inverse of M makes of that says nothing of chunks.
@pytest.mark.parametrize("seed", [0, 2])
def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    robot, question = random_case(seed, 0.0)
    whole = golden_answers(robot, question)
    assert np.linalg.cond(whole.crba).max() < 1000
    monkeypatch.setattr(batch, "WORKSPACE", 1)
    one_by_one = golden_answers(robot, question)
    for name, a, b in zip(whole._fields, whole, one_by_one, strict=True):
        assert np.all(norm(a - b) <= 1e-13 * norm(a)), name


def test_no_states_and_no_joints() -> None:
    robot = random_robot(np.random.default_rng(0), 5, ALL_KINDS)
    empty = golden_answers(robot, random_question(robot, 0, seed=0))
    assert empty.rnea.shape == (0, robot.nv)
    assert empty.dqdd_dq.shape == (0, robot.nv, robot.nv)
    for still in (Robot("block", ()), random_robot(np.random.default_rng(0), 3, fixed=1.0)):
        answers = golden_answers(still, random_question(still, 4, seed=0))
        assert answers.aba.shape == answers.rnea.shape == (4, 0)
        assert answers.dtau_dq.shape == answers.minv.shape == (4, 0, 0)


def test_wrong_shapes_are_refused() -> None:
    robot = random_robot(np.random.default_rng(0), 4)
    q, qd, qdd, _, f_ext = random_question(robot, 3, seed=0)
    with pytest.raises(ValueError, match=r"q has shape \(4,\); random needs \(N, 4\)"):
        golden.rnea(robot, q[0], qd[0], qdd[0])
    with pytest.raises(ValueError, match=r"q has shape \(3, 5\)"):
        golden.crba(robot, np.zeros((3, 5)))
    with pytest.raises(ValueError, match=r"qdd has shape \(2, 4\).* needs \(3, 4\)"):
        golden.rnea(robot, q, qd, qdd[:2])
    with pytest.raises(ValueError, match=r"tau has shape \(4, 3\)"):
        golden.aba(robot, q, qd, qdd.T)
    with pytest.raises(ValueError, match=r"f_ext has shape \(3, 3, 6\).* needs \(3, 4, 6\)"):
        golden.rnea_derivatives(robot, q, qd, qdd, f_ext[:, :3])
    with pytest.raises(ValueError, match=r"v has shape \(3,\)"):
        golden.integrate(robot, q, np.zeros(3))


def massless(name: str, parent: int, axis: Array) -> Joint:
    return Joint(name, JointKind.REVOLUTE, parent, Transform(), name, Inertia(), axis)


def test_a_singular_mass_matrix_is_refused_where_it_matters() -> None:
    chain = random_robot(np.random.default_rng(0), 3, branching=0.0)
    robot = chain.with_joints([*chain.joints, massless("tip", 2, np.array([0.0, 0.0, 1.0]))])
    q, qd, qdd, tau, _ = random_question(robot, 2, seed=0)
    assert np.all(golden.rnea(robot, q, qd, qdd)[:, 3] == 0)
    assert not golden.rnea_derivatives(robot, q, qd, qdd).dtau_dq[:, 3].any()
    for forward in (golden.aba, golden.aba_derivatives):
        with pytest.raises(RobotError, match="no inertia resists joint 'tip'"):
            forward(robot, q, qd, tau)
    with pytest.raises(RobotError, match="'tip'"):
        golden.minv(robot, q)


def test_mimic_joints_without_mass_are_refused() -> None:
    """A mimic pair is singular only if neither of the two moves a mass."""
    chain = random_robot(np.random.default_rng(0), 2, branching=0.0)
    axis = np.array([0.0, 0.0, 1.0])
    tip = massless("tip", 1, axis)
    follower = replace(massless("follower", 1, axis), mimic=Mimic(2, 0.5))
    robot = chain.with_joints([*chain.joints, tip, follower])
    q, qd, _, tau, _ = random_question(robot, 2, seed=0)
    with pytest.raises(RobotError, match=r"no inertia resists joints \['tip'\]"):
        golden.aba(robot, q, qd, tau)
    heavy = replace(follower, inertia=chain.joints[0].inertia)
    golden.aba(robot.with_joints([*robot.joints[:3], heavy]), q, qd, tau)


def test_two_joints_that_do_the_same_are_refused() -> None:
    last = random_robot(np.random.default_rng(0), 1, [JointKind.REVOLUTE]).joints[0]
    same = Joint("b", last.kind, 0, Transform(), "b", last.inertia, last.axis)
    twice = Robot("twice", (massless("a", -1, last.axis), same))
    with pytest.raises(RobotError, match="no inertia resists joint 'a'"):
        golden.minv(twice, np.zeros((1, 2)))
    follower = replace(massless("c", 1, last.axis), mimic=Mimic(1, 0.5))
    with pytest.raises(RobotError, match="two joints move the same inertia"):
        golden.minv(twice.with_joints([*twice.joints, follower]), np.zeros((1, 2)))
