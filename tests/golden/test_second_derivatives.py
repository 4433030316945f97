"""Second derivatives against central differences of the gradients, and their symmetries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.robot.model import Array, JointKind, Robot
from rbdgen_benchmarks.compare import pinocchio
from tests.support.comparison import norm, random_question
from tests.support.random_robots import ALL_KINDS, geared, random_robot

STEP = 1e-5


def some_robot(seed: int) -> Robot:
    """Any joints, mimics and fixed ones among them; rotors, damping and friction on some."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 4, ALL_KINDS, mimic=0.3 * (seed % 2), fixed=0.15)
    return geared(robot, rng) if seed % 3 == 0 else robot


def differences(function: Callable[[Array], Array], nv: int) -> Array:
    """∂function/∂δ, the direction last, of function from a displacement (nv,) to (N, …)."""
    steps = STEP * np.eye(nv)
    return np.stack([(function(e) - function(-e)) / (2 * STEP) for e in steps], axis=-1)


@pytest.mark.parametrize("seed", range(6))
def test_second_derivatives_are_what_differences_of_gradients_say(seed: int) -> None:
    robot = some_robot(seed)
    q, qd, qdd, _, f_ext = random_question(robot, 2, seed)
    found = golden.rnea_second_derivatives(robot, q, qd, qdd, f_ext)

    def moved(e: Array) -> golden.InverseDerivatives:
        there = golden.integrate(robot, q, np.broadcast_to(e, qd.shape))
        return golden.rnea_derivatives(robot, there, qd, qdd, f_ext)

    def faster(e: Array) -> golden.InverseDerivatives:
        return golden.rnea_derivatives(robot, q, qd + e, qdd, f_ext)

    cases: list[tuple[Array, Callable[[Array], Array]]] = [
        (found.d2tau_dq2, lambda e: moved(e).dtau_dq),
        (found.d2tau_dqd2, lambda e: faster(e).dtau_dqd),
        (found.d2tau_dq_dqd, lambda e: faster(e).dtau_dq),
        (found.d2tau_dq_dqd.swapaxes(2, 3), lambda e: moved(e).dtau_dqd),
        (found.dM_dq, lambda e: moved(e).M),
    ]
    for values, function in cases:
        expected = differences(function, robot.nv)
        assert np.all(norm(values - expected) <= 1e-7 * np.maximum(norm(expected), 1.0))


@pytest.mark.parametrize("seed", range(4))
def test_symmetries(seed: int) -> None:
    robot = some_robot(seed)
    q, qd, qdd, _, f_ext = random_question(robot, 2, seed)
    found = golden.rnea_second_derivatives(robot, q, qd, qdd, f_ext)
    several = [
        robot.v_slices[i]
        for i in robot.free
        if robot.joints[i].kind in (JointKind.FLOATING, JointKind.PLANAR)
    ]
    skew = found.d2tau_dq2 - found.d2tau_dq2.swapaxes(2, 3)
    for at in several:
        skew[:, :, at, at] = 0.0
    for zero in (
        skew,
        found.d2tau_dqd2 - found.d2tau_dqd2.swapaxes(2, 3),
        found.dM_dq - found.dM_dq.swapaxes(1, 2),
    ):
        assert np.abs(zero).max(initial=0.0) <= 1e-10 * np.abs(found.d2tau_dq2).max()


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "base"), [("iiwa14", "fixed"), ("hyq", "floating")])
def test_pinocchio_has_the_same(robot: str, base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its headers, compiled: Python has no binding of them. Zeros by structure, too."""
    monkeypatch.setattr(pinocchio, "WITHIN", 1e-12)
    pinocchio.check(pinocchio.TEMPLATED, "ddid", robot, base=base)
