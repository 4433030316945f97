"""A Runge-Kutta step and its sensitivity, against finite differences of the golden model's."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.api import InputError
from rbdgen.design.loading import load
from rbdgen.golden import aba, rnea
from rbdgen_host.driver import Dynamics, Step, rk4_sensitivity
from tests.support.driver_designs import NAME, states

Points = tuple[np.ndarray, np.ndarray, np.ndarray]
H = 0.01
EPSILON = 1e-6
FUNCTIONS = ("minv", "dfd")


def points(robot: str, n: int) -> Points:
    """Well within the limits, as the slopes are taken beside them."""
    state = states(robot, n, 3)
    q, v, a = (0.5 * state[name] for name in "qva")
    return q, v, rnea(load(robot)[1], q, v, a)


def step(robot: str, x: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """x₊ (N, 2 nv) by forward dynamics alone."""
    _, loaded = load(robot)
    nv = tau.shape[1]

    def slope(x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[:, nv:], aba(loaded, x[:, :nv], x[:, nv:], tau)], axis=1)

    first = slope(x)
    second = slope(x + H / 2 * first)
    third = slope(x + H / 2 * second)
    fourth = slope(x + H * third)
    return x + H / 6 * (first + 2 * second + 2 * third + fourth)


@pytest.mark.parametrize("robot", ["gantry", "iiwa14"])
def test_golden_is_the_derivative(robot: str) -> None:
    q, v, tau = points(robot, 3)
    found = rk4_sensitivity(Dynamics(robot, "golden", functions=FUNCTIONS), q, v, tau, H)
    x, nv = np.concatenate([q, v], axis=1), q.shape[1]
    after = np.concatenate([found.q, found.v], axis=1)
    np.testing.assert_allclose(after, step(robot, x, tau), rtol=0, atol=1e-9)
    for k in range(3 * nv):
        d = EPSILON * np.eye(3 * nv)[k]
        ahead = step(robot, x + d[: 2 * nv], tau + d[2 * nv :])
        behind = step(robot, x - d[: 2 * nv], tau - d[2 * nv :])
        by = found.A[..., k] if k < 2 * nv else found.B[..., k - 2 * nv]
        scale = max(1.0, np.abs(by).max())
        np.testing.assert_allclose(by, (ahead - behind) / (2 * EPSILON), atol=1e-6 * scale)


def parts(found: Step) -> dict[str, np.ndarray]:
    """What the step adds to nothing: A without its unit matrix."""
    return {"v": found.v, "A": found.A - np.eye(found.A.shape[-1]), "B": found.B}


def test_integer_is_nearly_golden(integer: Dynamics) -> None:
    at = points(NAME, 20)
    golden = parts(rk4_sensitivity(Dynamics(NAME, "golden", functions=FUNCTIONS), *at, H))
    for name, values in parts(rk4_sensitivity(integer, *at, H)).items():
        error = np.sqrt(np.mean((values - golden[name]) ** 2) / np.mean(golden[name] ** 2))
        assert error < 5e-4  # as that of the gradients themselves


def test_what_it_is_not_for() -> None:
    floating = Dynamics("iiwa14", "golden", functions=FUNCTIONS, base="floating")
    with pytest.raises(InputError, match="q has 14 entries and v 13"):
        rk4_sensitivity(floating, np.zeros((1, 14)), np.zeros((1, 13)), np.zeros((1, 13)), H)
    lacking = Dynamics(NAME, "golden", functions=("dfd",))
    with pytest.raises(InputError, match="lacks minv"):
        rk4_sensitivity(lacking, *points(NAME, 1), H)
    q, v, tau = points(NAME, 2)
    with pytest.raises(InputError, match=r"\(2, 5\), \(5,\), \(2, 5\); each must be \(N, 5\)"):
        rk4_sensitivity(Dynamics(NAME, "golden", functions=FUNCTIONS), q, v[0], tau, H)
