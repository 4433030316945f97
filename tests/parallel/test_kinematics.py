"""Frames of links, their Jacobians and the centre of mass within JAX, against the golden model."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from rbdgen import golden
from rbdgen.api.folder import InputError
from rbdgen.robot.model import RobotError
from rbdgen_host.parallel import Dynamics
from rbdgen_host.parallel.chains import random_chain

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # compiling takes longest

HOPPER = """<robot name="hopper">
  <link name="trunk"><inertial><mass value="2"/><origin xyz="0.1 0 0.05"/>
    <inertia ixx="0.05" iyy="0.04" izz="0.03" ixy="0" ixz="0.002" iyz="0"/></inertial></link>
  <link name="leg"><inertial><mass value="1"/><origin xyz="0 0.02 -0.2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0.001" ixz="0" iyz="0"/></inertial></link>
  <link name="foot"/>
  <joint name="hip" type="revolute"><parent link="trunk"/><child link="leg"/><axis xyz="0 1 0"/>
    <origin xyz="0 0.1 -0.1" rpy="0.1 0.2 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="9"/></joint>
  <joint name="ankle" type="fixed"><parent link="leg"/><child link="foot"/>
    <origin xyz="0.05 0 -0.4" rpy="0.3 0 0.2"/></joint>
</robot>"""
ARM = """<robot name="arm"><link name="world"/>
  <link name="upper"><inertial><mass value="2"/><origin xyz="0.1 0 0.05"/>
    <inertia ixx="0.05" iyy="0.04" izz="0.03" ixy="0" ixz="0.002" iyz="0"/></inertial></link>
  <link name="slide"><inertial><mass value="1"/><origin xyz="0 0.02 -0.2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0.001" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"/>
  <joint name="turn" type="revolute"><parent link="world"/><child link="upper"/><axis xyz="0 1 1"/>
    <origin xyz="0 0.1 0.3" rpy="0.1 0.2 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="9"/></joint>
  <joint name="rail" type="prismatic"><parent link="upper"/><child link="slide"/><axis xyz="1 0 0"/>
    <origin xyz="0 0 0.4"/><limit lower="-1" upper="1" velocity="3" effort="9"/></joint>
  <joint name="flange" type="fixed"><parent link="slide"/><child link="tool"/>
    <origin xyz="0.05 0 0.1" rpy="0.3 0 0.2"/></joint>
</robot>"""
ROBOTS = {"fixed": (ARM, "tool", "slide"), "floating": (HOPPER, "foot", "trunk")}
REFERENCES = ("local-world-aligned", "local", "world")


@pytest.fixture(scope="module", params=["fixed", pytest.param("floating", marks=pytest.mark.slow)])
def base(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def robot(base: str, tmp_path_factory: pytest.TempPathFactory) -> Dynamics:
    file = tmp_path_factory.mktemp("robot") / "robot.urdf"
    file.write_text(ROBOTS[base][0])
    return Dynamics(file, base=base)


def close(found: object, expected: object, tolerance: float = 1e-12) -> None:
    own, other = jax.tree.leaves(found), jax.tree.leaves(expected)
    assert len(own) == len(other)
    for a, b in zip(own, other, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * (1 + np.abs(b).max()))


def states(dynamics: Dynamics, n: int) -> tuple[np.ndarray, np.ndarray]:
    q, qd, _ = golden.random_state(dynamics.robot, n, np.random.default_rng(1))
    return q, qd


@pytest.mark.parametrize("method", ["native", "graph"])
def test_values(robot: Dynamics, base: str, method: str) -> None:
    links, (q, qd), own = ROBOTS[base][1:], states(robot, 6), robot.robot
    close(robot.frame_poses(q, links, method), tuple(golden.frame_poses(own, q, links)))
    for reference in REFERENCES if method == "graph" else REFERENCES[:1]:
        found = robot.frame_jacobians(q, links, reference, method)
        close(found, golden.frame_jacobians(own, q, links, reference))
        found = robot.frame_velocities(q, qd, links, reference, method)
        close(found, golden.frame_velocities(own, q, qd, links, reference))


@pytest.mark.parametrize("method", ["native", "graph"])
def test_derivatives_are_jacobians(robot: Dynamics, base: str, method: str) -> None:
    """Along the tangent space, forwards and backwards, of one state and of several at once."""
    links, (q, qd), own = ROBOTS[base][1:], states(robot, 3), robot.robot
    J = golden.frame_jacobians(own, q, links)
    R = golden.frame_poses(own, q, links).R
    zero = jnp.zeros_like(qd)

    def poses(v: jax.Array, q: jax.Array) -> tuple[jax.Array, jax.Array]:
        return robot.frame_poses(robot.integrate(q, v), links, method)

    dp, dR = jax.jit(jax.vmap(jax.jacfwd(poses)))(zero, q)
    close(dp, J[:, :, :3])
    close(dR, np.cross(J[:, :, 3:, None, :], R[..., None], axis=2))
    close(jax.vmap(jax.jacrev(poses))(zero, q), (dp, dR))

    def velocities(v: Any, q: Any, qd: Any) -> jax.Array:
        return robot.frame_velocities(robot.integrate(q, v), qd, links, method=method)

    close(jax.vmap(jax.jacfwd(velocities, 2))(zero, q, qd), J)
    # J̇ q̇ is the change of the velocities where q alone moves, by q̇
    drift = jax.jvp(lambda v: velocities(v, q, qd), (zero,), (qd,))[1]
    close(drift, golden.frame_drifts(own, q, qd, links))


@pytest.mark.parametrize("method", [pytest.param("native", marks=pytest.mark.slow), "graph"])
def test_center_of_mass(robot: Dynamics, method: str) -> None:
    (q, qd), own = states(robot, 3), robot.robot
    J = golden.center_of_mass_jacobian(own, q)
    close(robot.center_of_mass(q, method), golden.center_of_mass(own, q))
    close(robot.center_of_mass_jacobian(q, method), J)

    def center(v: jax.Array, q: jax.Array) -> jax.Array:
        return robot.center_of_mass(robot.integrate(q, v), method)

    close(jax.vmap(jax.jacrev(center))(jnp.zeros_like(qd), q), J)


@pytest.mark.slow
def test_second_derivatives(robot: Dynamics, base: str) -> None:
    """By differences of the first ones; and of Jacobians along their frames' axes."""
    links, (q, _) = ROBOTS[base][1:2], (x[0] for x in states(robot, 1))
    zero = jnp.zeros(robot.nv)

    def poses(v: jax.Array) -> tuple[jax.Array, jax.Array]:
        return robot.frame_poses(robot.integrate(q, v), links, "native")

    check_grads(jax.jit(poses), (zero,), order=2, rtol=1e-5, atol=1e-5)

    def jacobians(v: jax.Array, method: str) -> jax.Array:
        return robot.frame_jacobians(robot.integrate(q, v), links, "local", method)

    found, expected = (
        jax.jacfwd(partial(jacobians, method=own))(zero) for own in ("native", "graph")
    )
    close(found, expected)


def test_all_frames_of_any_leading_shape() -> None:
    """The frame of each joint's link, in the joints' order, is what "all" has, in float32, too."""
    dynamics = Dynamics("pendulum", dtype="float32")
    q, _ = states(dynamics, 6)
    links = [dynamics.robot.joints[i].body for i in dynamics.robot.moving]
    expected = golden.frame_jacobians(dynamics.robot, q, links)
    for method in ("native", "graph"):
        found = dynamics.frame_jacobians(q.reshape(2, 3, 2), method=method)
        assert found.dtype == jnp.float32
        close(found, expected.reshape(2, 3, *expected.shape[1:]), 1e-5)
    assert dynamics.frame_poses(q[0], "lower_rod", "graph")[0].shape == (1, 3)


def test_a_robot_without_file_has_the_graph() -> None:
    dynamics = Dynamics(random_chain(2))
    assert dynamics.frame_method == "graph"
    q, _ = states(dynamics, 2)
    close(dynamics.center_of_mass(q), golden.center_of_mass(dynamics.robot, q))


def test_refusals() -> None:
    dynamics = Dynamics("pendulum")
    q = np.zeros(2)
    with pytest.raises(RobotError, match='frames: no link "uper_rod"; did you mean "upper_rod"'):
        dynamics.frame_poses(q, "uper_rod")
    with pytest.raises(RobotError, match="needs frames"):
        dynamics.frame_poses(q, ())
    with pytest.raises(InputError, match="frames: 3 is no link's name"):
        dynamics.frame_poses(q, 3)  # type: ignore[arg-type]
    with pytest.raises(RobotError, match='reference: "wrld" is unknown; did you mean "world"'):
        dynamics.frame_jacobians(q, reference="wrld")
    with pytest.raises(InputError, match="method: 'serial' is unknown; one of native, graph"):
        dynamics.frame_jacobians(q, method="serial")
    other = dynamics.with_parameters(dynamics.parameters)
    with pytest.raises(InputError, match="or the Dynamics of the file"):
        other.center_of_mass(q)
