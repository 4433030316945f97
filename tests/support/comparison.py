"""The same question to two models of a robot, and how far apart their answers are.

An error is relative to the size (Frobenius norm) of the whole vector or matrix of one state.
Gradients can vanish by physics: a balanced rotor has no ∂τ/∂q. They are measured against at least a
thousandth of what such a gradient can be: ‖q̈‖ + ‖q̇‖² for ∂q̈/∂q, ‖q̇‖ for ∂q̈/∂q̇, and ‖M‖ times
that for those of τ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbdgen import golden
from rbdgen.robot.model import Array, Robot

# What does not pass through M⁻¹ agrees to rounding.
INVERSE_TOLERANCE = 1e-12
# What does, loses digits with its condition.
FORWARD_TOLERANCE = 1e-9

EMPTY = np.zeros(0)


class Question(NamedTuple):
    """States (N, ·) with torques and external forces on every moving body."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    f_ext: Array


class Answers(NamedTuple):
    """Every function's answer, (N, nv) or (N, nv, nv); empty where it was not asked."""

    rnea: Array = EMPTY
    crba: Array = EMPTY
    dtau_dq: Array = EMPTY
    dtau_dqd: Array = EMPTY
    aba: Array = EMPTY
    minv: Array = EMPTY
    dqdd_dq: Array = EMPTY
    dqdd_dqd: Array = EMPTY


FORWARD = ("aba", "minv", "dqdd_dq", "dqdd_dqd")


def random_question(robot: Robot, n: int, seed: int) -> Question:
    """``n`` states in motion under torques and external forces."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = golden.random_state(robot, n, rng, velocity=3.0, acceleration=10.0)
    tau = rng.normal(0.0, 10.0, (n, robot.nv))
    f_ext = rng.normal(0.0, 10.0, (n, len(robot.moving), 6))
    return Question(q, qd, qdd, tau, f_ext)


def golden_answers(robot: Robot, question: Question, forward: bool = True) -> Answers:
    """The golden model's; without the ones that need a regular M unless ``forward``."""
    q, qd, qdd, tau, f_ext = question
    inverse = golden.rnea_derivatives(robot, q, qd, qdd, f_ext)
    answers = Answers(
        rnea=golden.rnea(robot, q, qd, qdd, f_ext),
        crba=golden.crba(robot, q),
        dtau_dq=inverse.dtau_dq,
        dtau_dqd=inverse.dtau_dqd,
    )
    if not forward:
        return answers
    gradients = golden.aba_derivatives(robot, q, qd, tau, f_ext)
    return answers._replace(
        aba=golden.aba(robot, q, qd, tau, f_ext),
        minv=golden.minv(robot, q),
        dqdd_dq=gradients.dqdd_dq,
        dqdd_dqd=gradients.dqdd_dqd,
    )


def relative_errors(question: Question, actual: Answers, expected: Answers) -> dict[str, Array]:
    """Per function that was asked, the error (N,) of each state."""
    speed, M = norm(question.qd), norm(expected.crba)
    floors = {"dtau_dq": M * (norm(question.qdd) + speed**2), "dtau_dqd": M * speed}
    if expected.aba.size:
        floors |= {"dqdd_dq": norm(expected.aba) + speed**2, "dqdd_dqd": speed}
    errors = {}
    for name, a, b in zip(Answers._fields, actual, expected, strict=True):
        assert a.shape == b.shape, f"{name}: {a.shape} and {b.shape}"
        if b.size:
            errors[name] = norm(a - b) / np.maximum(norm(b), 1e-3 * floors.get(name, 0.0))
    return errors


def tolerances(expected: Answers) -> dict[str, Array]:
    """Per function the error (N,) to allow.

    Where M is nearly singular (iCub's neck at gimbal lock), Pinocchio's M⁻¹ may miss by more than
    the tolerance: by how much M M⁻¹ misses the identity says so.
    """
    states = len(expected.rnea)
    allowed = {name: np.full(states, INVERSE_TOLERANCE) for name in Answers._fields}
    if expected.minv.size:
        own_error = norm(expected.crba @ expected.minv - np.eye(expected.minv.shape[1]))
        for name in FORWARD:
            allowed[name] = np.maximum(FORWARD_TOLERANCE, 4 * own_error)
    return allowed


def norm(values: Array) -> Array:
    """Norm (N,) of everything that belongs to a state, for values (N, …)."""
    return np.linalg.norm(values.reshape(len(values), -1), axis=1)


def check(question: Question, actual: Answers, expected: Answers) -> dict[str, float]:
    """Assert that the answers agree; the worst error per function."""
    allowed = tolerances(expected)
    errors = relative_errors(question, actual, expected)
    for name, error in errors.items():
        assert np.all(error <= allowed[name]), f"{name}: {error} relative"
    return {name: float(error.max()) for name, error in errors.items()}
