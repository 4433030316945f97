"""Inertial parameters that are traced and differentiated; a robot as a pytree."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api.folder import InputError
from rbdgen_host.parallel import Dynamics
from rbdgen_host.parallel.chains import random_chain

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # compiling takes longest


def test_torques_are_linear_in_the_parameters() -> None:
    """Their Jacobian by the parameters, times these, is τ; other methods and shapes are refused."""
    dynamics, other = (Dynamics(random_chain(2, seed)) for seed in (1, 2))
    state = golden.random_state(dynamics.robot, 1, np.random.default_rng(1))
    q, qd, qdd = (x[0] for x in state)

    def tau(parameters: jax.Array) -> jax.Array:
        return dynamics.with_parameters(parameters).inverse_dynamics(q, qd, qdd)

    Y = jax.jit(jax.jacfwd(tau))(dynamics.parameters)
    expected = golden.rnea(dynamics.robot, *state)[0]
    np.testing.assert_allclose(np.tensordot(Y, dynamics.parameters, 2), expected, atol=1e-12)
    changed = dynamics.with_parameters(other.parameters)
    np.testing.assert_array_equal(changed.parameters, other.parameters)
    for method in ("native", "graph"):
        with pytest.raises(InputError, match="the file's numbers as constants"):
            changed.inverse_dynamics(q, qd, qdd, method)
    with pytest.raises(InputError, match=r"parameters are \(3, 10\); expected \(2, 10\)"):
        dynamics.with_parameters(np.zeros((3, 10)))


def test_a_robot_is_an_argument_of_compiled_functions() -> None:
    """Compiled once for both robots, which differ in the numbers of their links."""
    dynamics = Dynamics(random_chain(2))
    q = np.array([0.3, -0.2])
    heavy = dynamics.with_parameters(2 * dynamics.parameters)
    mass = jax.jit(lambda robot, q: robot.mass_matrix(q))
    M = golden.crba(dynamics.robot, q[None])[0]
    np.testing.assert_allclose(mass(dynamics, q), M, atol=1e-12)
    np.testing.assert_allclose(mass(heavy, q), 2 * M, atol=1e-12)
    assert mass._cache_size() == 1
