"""The compiler's functions within JAX, as C++ and as graphs: values, derivatives, refusals."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from rbdgen import golden
from rbdgen.api.folder import InputError
from rbdgen_host.parallel import Dynamics
from rbdgen_host.parallel.chains import random_chain
from rbdgen_host.parallel.native import can_compile

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # compiling takes longest

HOPPER = """<robot name="hopper">
  <link name="trunk"><inertial><mass value="2"/><origin xyz="0.1 0 0.05"/>
    <inertia ixx="0.05" iyy="0.04" izz="0.03" ixy="0" ixz="0.002" iyz="0"/></inertial></link>
  <link name="leg"><inertial><mass value="1"/><origin xyz="0 0.02 -0.2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0.001" ixz="0" iyz="0"/></inertial></link>
  <joint name="hip" type="revolute"><parent link="trunk"/><child link="leg"/><axis xyz="0 1 0"/>
    <origin xyz="0 0.1 -0.1" rpy="0.1 0.2 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="9"/><dynamics damping="0.3"/></joint>
</robot>"""
CART = """<robot name="cart"><link name="world"/>
  <link name="body"><inertial><mass value="2"/><origin xyz="0.1 0 0.05"/>
    <inertia ixx="0.05" iyy="0.04" izz="0.03" ixy="0" ixz="0.002" iyz="0"/></inertial></link>
  <joint name="plane" type="planar"><parent link="world"/><child link="body"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="9"/></joint>
</robot>"""


def close(found: object, expected: object, tolerance: float = 1e-12) -> None:
    own, other = jax.tree.leaves(found), jax.tree.leaves(expected)
    assert len(own) == len(other)
    for a, b in zip(own, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(b).max())


def states(dynamics: Dynamics, n: int) -> tuple[golden.State, np.ndarray, np.ndarray]:
    """States, forces on links, and τ at them."""
    rng = np.random.default_rng(1)
    state = golden.random_state(dynamics.robot, n, rng)
    f_ext = rng.normal(size=(n, len(dynamics.robot.moving), 6))
    return state, f_ext, golden.rnea(dynamics.robot, *state, f_ext)


@pytest.fixture(scope="module")
def pendulum() -> Dynamics:
    return Dynamics("pendulum")


@pytest.mark.parametrize("method", ["native", "graph"])
def test_values(pendulum: Dynamics, method: str) -> None:
    (q, qd, qdd), f_ext, tau = states(pendulum, 6)
    close(pendulum.inverse_dynamics(q, qd, qdd, method, f_ext), tau)
    close(pendulum.forward_dynamics(q, qd, tau, method, f_ext), qdd)
    close(pendulum.mass_matrix(q, method), golden.crba(pendulum.robot, q))
    many = (x.reshape(2, 3, 2) for x in (q, qd, qdd))
    free = golden.rnea(pendulum.robot, q, qd, qdd)
    close(pendulum.inverse_dynamics(*many, method), free.reshape(2, 3, 2))


def test_a_batch_is_one_call(pendulum: Dynamics) -> None:
    """However vmap makes it, and whatever all of its states share."""
    (q, qd, qdd), _, _ = states(pendulum, 5)

    def tau(q: jax.Array, qdd: jax.Array) -> jax.Array:
        return pendulum.inverse_dynamics(q, qd[0], qdd, "native")

    batch = jax.jit(jax.vmap(jax.vmap(tau, (None, 0)), (0, None)))
    text = batch.lower(q, qdd).as_text()
    assert text.count("stablehlo.custom_call") == 1
    assert "stablehlo.while" not in text
    expected = [golden.rnea(pendulum.robot, *np.broadcast_arrays(p, qd[0], qdd)) for p in q]
    close(batch(q, qdd), np.array(expected))


@pytest.mark.parametrize("method", ["native", pytest.param("graph", marks=pytest.mark.slow)])
def test_first_derivatives(pendulum: Dynamics, method: str) -> None:
    """Forwards, backwards and of a batch are the golden model's."""
    (q, qd, qdd), _, _ = states(pendulum, 4)
    tau = golden.rnea(pendulum.robot, q, qd, qdd)

    def inverse(*x: jax.Array) -> jax.Array:
        return pendulum.inverse_dynamics(*x, method)

    def forward(*x: jax.Array) -> jax.Array:
        return pendulum.forward_dynamics(*x, method)

    expected = golden.rnea_derivatives(pendulum.robot, q, qd, qdd)
    close(jax.jit(jax.vmap(jax.jacfwd(inverse, (0, 1, 2))))(q, qd, qdd), tuple(expected))
    expected_forward = golden.aba_derivatives(pendulum.robot, q, qd, tau)
    close(jax.vmap(jax.jit(jax.jacrev(forward, (0, 1, 2))))(q, qd, tau), tuple(expected_forward))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["native", "graph"])
def test_second_derivatives(pendulum: Dynamics, method: str) -> None:
    """By differences of the first ones, forwards and backwards; a third is refused."""
    (q, qd, qdd), f_ext, tau = (jax.tree.map(lambda x: x[0], own) for own in states(pendulum, 1))

    def inverse(q: jax.Array, qd: jax.Array, qdd: jax.Array, f: jax.Array) -> jax.Array:
        return pendulum.inverse_dynamics(q, qd, qdd, method, f)

    def forward(q: jax.Array, qd: jax.Array, tau: jax.Array, f: jax.Array) -> jax.Array:
        return pendulum.forward_dynamics(q, qd, tau, method, f)

    check_grads(jax.jit(inverse), (q, qd, qdd, f_ext), order=2, rtol=1e-5, atol=1e-5)
    check_grads(jax.jit(forward), (q, qd, tau, f_ext), order=2, rtol=1e-5, atol=1e-5)
    found = jax.jacfwd(lambda q: pendulum.mass_matrix(q, method))(q)
    close(found, golden.rnea_second_derivatives(pendulum.robot, q[None], 0 * q[None],
                                                0 * q[None]).dM_dq[0])  # fmt: skip
    third = jax.jacfwd(jax.jacfwd(jax.jacfwd(inverse)))
    if method == "graph":
        assert third(q, qd, qdd, f_ext).shape == (2, 2, 2, 2)
        return
    with pytest.raises(InputError, match=r"second derivatives, and this is a third"):
        third(q, qd, qdd, f_ext)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "base"), [(CART, "fixed"), (HOPPER, "floating")])
def test_along_the_tangent_space(text: str, base: str, tmp_path: Path) -> None:
    """Of joints whose q are more than their velocities, through `integrate` at no step."""
    (tmp_path / "robot.urdf").write_text(text)
    dynamics = Dynamics(tmp_path / "robot.urdf", base=base)
    (q, qd, qdd), _, _ = states(dynamics, 2)
    zero = jnp.zeros_like(qd)

    def inverse(v: jax.Array, q: jax.Array, qd: jax.Array, qdd: jax.Array) -> jax.Array:
        return dynamics.inverse_dynamics(dynamics.integrate(q, v), qd, qdd, "native")

    def slopes(v: jax.Array, q: jax.Array, qd: jax.Array, qdd: jax.Array) -> jax.Array:
        moved = dynamics.integrate(q, v)
        return dynamics.inverse_dynamics_derivatives(moved, qd, qdd, "native")[0]

    first = golden.rnea_derivatives(dynamics.robot, q, qd, qdd).dtau_dq
    close(jax.vmap(jax.jacrev(inverse))(zero, q, qd, qdd), first)
    second = golden.rnea_second_derivatives(dynamics.robot, q, qd, qdd)
    found = jax.vmap(jax.jacfwd(slopes, (0, 2, 3)))(zero, q, qd, qdd)
    by_qdd = second.dM_dq.swapaxes(2, 3)  # ∂M_il/∂q_j at [i, j, l]
    close(found, (second.d2tau_dq2, second.d2tau_dq_dqd, by_qdd))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["native", "graph", "composite"])
def test_matrices_of_derivatives(method: str, tmp_path: Path) -> None:
    """With forces on links and a floating base, of compiled functions and of JAX's own."""
    (tmp_path / "robot.urdf").write_text(HOPPER)
    dynamics = Dynamics(tmp_path / "robot.urdf", base="floating")
    own = ("axes", "jsiia") if method == "composite" else (method, method)
    (q, qd, qdd), f_ext, tau = states(dynamics, 3)
    found = dynamics.inverse_dynamics_derivatives(q, qd, qdd, own[0], f_ext)
    close(found, tuple(golden.rnea_derivatives(dynamics.robot, q, qd, qdd, f_ext)))
    found = dynamics.forward_dynamics_derivatives(q, qd, tau, own[1], f_ext)
    close(found, tuple(golden.aba_derivatives(dynamics.robot, q, qd, tau, f_ext)), 1e-11)


def test_float32() -> None:
    dynamics = Dynamics("pendulum", dtype="float32")
    (q, qd, qdd), _, _ = states(dynamics, 3)
    found = dynamics.inverse_dynamics(q, qd, qdd, "native")
    assert found.dtype == jnp.float32
    close(found, golden.rnea(dynamics.robot, q, qd, qdd), 1e-5)


def test_a_state_that_is_no_number_has_none(pendulum: Dynamics) -> None:
    """The others of the batch have theirs, and nothing is raised, as elsewhere in JAX."""
    q, v = np.array([[0.1, 0.2], [np.nan, 0.0]]), np.ones((2, 2))
    found = pendulum.forward_dynamics(q, v, v, "native")
    assert np.isfinite(np.asarray(found)).all(1).tolist() == [True, False]


def test_a_robot_without_file_is_refused() -> None:
    dynamics = Dynamics(random_chain(2))
    with pytest.raises(InputError, match="compiled from a robot's file"):
        dynamics.mass_matrix(np.zeros(2), "native")


def test_without_a_compiler_a_warning_names_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    can_compile.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match=r"slower than 'native'.*no C\+\+ compiler"):
            assert Dynamics("pendulum").inverse_method == "graph"
    finally:
        can_compile.cache_clear()
