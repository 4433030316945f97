"""Steps in configuration space through the driver: shapes, types, refusals, whatever the base."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api.folder import InputError
from rbdgen.design.loading import load
from rbdgen_host.driver import Dynamics


@pytest.fixture(scope="module", params=["golden", "cpp", "cpp32"])
def dynamics(request: pytest.FixtureRequest) -> Dynamics:
    """In NumPy, and by compiled modules."""
    return Dynamics("pendulum", request.param, base="floating", functions=("g",))


def test_steps_of_one_state_and_of_batches(dynamics: Dynamics) -> None:
    _, robot = load("pendulum", base="floating")
    rng = np.random.default_rng(0)
    q, v = golden.random_state(robot, 6, rng)[:2]
    moved = dynamics.integrate(q, v)
    np.testing.assert_allclose(moved, golden.integrate(robot, q, v), rtol=0, atol=1e-14)
    assert np.array_equal(dynamics.integrate(q[0], v[0]), moved[0])
    grid = dynamics.difference(q.reshape(2, 3, -1), moved.reshape(2, 3, -1))
    assert grid.shape == (2, 3, robot.nv)
    np.testing.assert_allclose(grid.reshape(6, -1), v, rtol=0, atol=1e-12)
    out = np.empty_like(v)
    assert dynamics.difference(q, moved, out=out) is out
    assert np.array_equal(out, grid.reshape(6, -1))
    assert np.array_equal(dynamics.neutral(), golden.neutral(robot))
    assert dynamics.integrate([*dynamics.neutral()], [0.0] * robot.nv)[6] == 1
    strided = dynamics.integrate(np.asfortranarray(q), v)
    np.testing.assert_allclose(strided, moved, rtol=0, atol=1e-14)
    single = dynamics.integrate(q.astype(np.float32), v.astype(np.float32))
    assert single.dtype == np.float32 and abs(single - moved).max() < 4e-6


def test_what_has_no_step_is_refused(dynamics: Dynamics) -> None:
    q, v = dynamics.neutral(), np.zeros(dynamics.nv)
    with pytest.raises(
        InputError, match=r"integrate: v is float64 \(9,\); expected numbers \(8,\)"
    ):
        dynamics.integrate(q, q)
    with pytest.raises(InputError, match=r"q1 is float64 \(2, 9\); expected numbers \(9,\)"):
        dynamics.difference(q, [q, q])
    with pytest.raises(InputError, match=r"integrate: v is <U1 \(8,\); expected numbers \(8,\)"):
        dynamics.integrate(q, list("12345678"))
    q[6] = 0
    with pytest.raises(InputError, match=r"state 0 is not finite: .* has length 0"):
        dynamics.integrate(q, v)
