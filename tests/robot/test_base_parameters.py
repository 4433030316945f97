"""Base parameters: as many as τ depends on, and the combinations that determine it."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.robot.base_parameters import BaseParameters, base_columns, base_parameters
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import BASE, Array, Robot, frozen
from tests.support.random_robots import ALL_KINDS, SINGLE
from tests.support.traced import some_robot

STATES = 40


def stacked(robot: Robot, seed: int, first: int = 0) -> Array:
    """Y of many states, one below the other, without the rows before ``first``."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = golden.random_state(robot, STATES, rng, 2.0)
    Y = golden.joint_torque_regressor(robot, q, qd, qdd)[:, first:]
    return Y.reshape(-1, Y.shape[2])


def check(robot: Robot, seed: int, first: int = 0) -> BaseParameters:
    """Y and K have the rank of K's rows, and what K leaves out Y does not see."""
    canonical = canonicalize(robot)
    found, Y = base_parameters(canonical, first), stacked(robot, seed, first)
    sizes = np.linalg.svd(Y, compute_uv=False)
    assert len(found.columns) == np.count_nonzero(sizes > 1e-9 * sizes[0])
    assert base_columns(canonical, first) == found.columns
    K = found.of
    left = Y - Y @ np.linalg.pinv(K) @ K
    np.testing.assert_allclose(left, 0.0, rtol=0, atol=1e-9 * np.abs(Y).max())
    return found


@pytest.mark.parametrize("seed", range(8))
def test_rank_is_that_of_samples(seed: int) -> None:
    """Every kind of joint anywhere, several trees on the base, links that are fixed."""
    kinds = ALL_KINDS if seed % 2 else SINGLE
    check(some_robot(seed, kinds=kinds, fixed=0.2, floating_base=seed == 3), seed)


@pytest.mark.parametrize(("name", "count"), [("iiwa14", 43), ("gantry", 13), ("pendulum", 6)])
def test_shipped_robots(name: str, count: int) -> None:
    assert len(check(load(name)[1], 1).columns) == count


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.0, -9.81, 0.0)])
def test_gravity_decides(gravity: tuple[float, ...]) -> None:
    """Without weight there are fewer, by the parts that its moments alone tell apart."""
    robot = load("iiwa14")[1]
    object.__setattr__(robot, "gravity", frozen(gravity))
    check(robot, 2)


def test_of_a_base_whose_motion_is_given_no_parameter_counts() -> None:
    found = check(load("hyq", base="floating", root="given")[1], 3, BASE)
    assert all(joint > 0 for joint, _ in found.columns)


def test_named() -> None:
    """The upper rod of a pendulum moves as if the lower one's mass were at its end, 0.5 m down."""
    canonical = canonicalize(load("pendulum")[1])
    named = base_parameters(canonical).named(canonical)
    assert named["upper_rod.Izz"] == {"upper_rod.Iyy": 1.0, "lower_rod.m": 0.25}
    assert [*named][-1] == "lower_rod.Izz"
