"""Every gradient against central differences along the tangent space."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.robot.model import Array
from tests.support.comparison import norm, random_question
from tests.support.marks import fast_at
from tests.support.random_robots import ALL_KINDS, random_robot

STEP = 1e-5


def differences(function: Callable[[Array], Array], nv: int) -> Array:
    """∂function/∂δ (N, nv, nv) at δ = 0, function from a displacement (nv,) to (N, nv)."""
    steps = STEP * np.eye(nv)
    return np.stack([(function(e) - function(-e)) / (2 * STEP) for e in steps], axis=-1)


@pytest.mark.parametrize(
    ("seed", "mimic"), fast_at((0, 1), [(k, (0.0, 0.4)[k % 2]) for k in range(6)])
)
def test_gradients_are_what_differences_say(seed: int, mimic: float) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 7, ALL_KINDS, mimic=mimic, fixed=0.15)
    q, qd, qdd, tau, f_ext = random_question(robot, 3, seed)
    inverse = golden.rnea_derivatives(robot, q, qd, qdd, f_ext)
    forward = golden.aba_derivatives(robot, q, qd, tau, f_ext)

    def moved(e: Array) -> Array:
        return golden.integrate(robot, q, np.broadcast_to(e, qd.shape))

    def inverse_at(q: Array, qd: Array, qdd: Array) -> Array:
        return golden.rnea(robot, q, qd, qdd, f_ext)

    def forward_at(q: Array, qd: Array, tau: Array) -> Array:
        return golden.aba(robot, q, qd, tau, f_ext)

    cases: list[tuple[Array, Callable[[Array], Array]]] = [
        (inverse.dtau_dq, lambda e: inverse_at(moved(e), qd, qdd)),
        (inverse.dtau_dqd, lambda e: inverse_at(q, qd + e, qdd)),
        (inverse.M, lambda e: inverse_at(q, qd, qdd + e)),
        (forward.dqdd_dq, lambda e: forward_at(moved(e), qd, tau)),
        (forward.dqdd_dqd, lambda e: forward_at(q, qd + e, tau)),
        (forward.Minv, lambda e: forward_at(q, qd, tau + e)),
    ]
    for gradient, function in cases:
        expected = differences(function, robot.nv)
        assert np.all(norm(gradient - expected) <= 1e-7 * norm(expected))
