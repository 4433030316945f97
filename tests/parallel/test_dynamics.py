"""Every formulation against the golden model: robots of all kinds, long chains, gradients."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api.folder import InputError
from rbdgen.design.loading import load
from rbdgen.robot.model import (
    Array,
    Drivetrain,
    Inertia,
    Joint,
    JointKind,
    Robot,
    RobotError,
    Transform,
)
from rbdgen_host.parallel import FORWARD, INVERSE, MASS, Dynamics
from rbdgen_host.parallel.chains import random_chain as chain
from tests.support.marks import slow
from tests.support.random_robots import ALL_KINDS, random_robot

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # compiling takes longest


def off(found: object, expected: Array) -> float:
    """Of each state's largest entry, the worst state's."""
    found = np.asarray(found).reshape(len(expected), -1)
    expected = expected.reshape(len(expected), -1)
    return float((np.abs(found - expected).max(1) / np.abs(expected).max(1)).max())


SLIDES = "a chain that slides"
ROBOTS = {
    "iiwa14": load("iiwa14")[1],
    "hyq floating": load("hyq", base="floating")[1],
    "all kinds": random_robot(
        np.random.default_rng(4), 9, ALL_KINDS, branching=0.5, fixed=0.2, floating_base=True
    ),
    "mimics": random_robot(np.random.default_rng(8), 7, branching=0.4, mimic=0.4),
    "one joint": chain(1),
    SLIDES: random_robot(np.random.default_rng(4), 5, branching=0.0),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow)
        if name in ("hyq floating", "iiwa14", "mimics", SLIDES)
        else name
        for name in ROBOTS
    ],
)
def test_inverse_dynamics_and_mass_matrix(name: str) -> None:
    """With forces on links."""
    dynamics = Dynamics(ROBOTS[name])
    rng = np.random.default_rng(1)
    state = golden.random_state(dynamics.robot, 4, rng)
    f_ext = rng.normal(size=(4, len(dynamics.robot.moving), 6))
    tau = golden.rnea(dynamics.robot, *state, f_ext)
    for method in INVERSE:
        assert off(dynamics.inverse_dynamics(*state, method=method, f_ext=f_ext), tau) < 1e-12
    M = golden.crba(dynamics.robot, state.q)
    for method in MASS:
        assert off(dynamics.mass_matrix(state.q, method), M) < 1e-12


@pytest.mark.parametrize(
    ("name", "methods"),
    [
        pytest.param("iiwa14", list(FORWARD), marks=pytest.mark.slow),
        ("all kinds", ["serial", "jsiia", "hybrid_abia", "scanned_abia"]),
        slow(("mimics", ["jsiia"])),
        pytest.param("one joint", list(FORWARD), marks=pytest.mark.slow),
        pytest.param(SLIDES, ["cfa"], marks=pytest.mark.slow),
    ],
)
def test_forward_dynamics(name: str, methods: list[str]) -> None:
    """With forces on links."""
    dynamics = Dynamics(ROBOTS[name])
    rng = np.random.default_rng(2)
    state = golden.random_state(dynamics.robot, 4, rng)
    f_ext = rng.normal(size=(4, len(dynamics.robot.moving), 6))
    tau = golden.rnea(dynamics.robot, *state, f_ext)
    qdd = golden.aba(dynamics.robot, state.q, state.qd, tau, f_ext)
    for method in methods:
        found = dynamics.forward_dynamics(state.q, state.qd, tau, method, f_ext)
        assert off(found, qdd) < 1e-10, method


@pytest.mark.parametrize(
    ("name", "method"), [("one joint", "graph"), ("mimics", "graph"), ("all kinds", "serial")]
)
def test_the_default_method_is_one_that_the_robot_can_have(name: str, method: str) -> None:
    """The compiler's graph of a small robot on the tests' CPU, link by link of a large one."""
    dynamics = Dynamics(ROBOTS[name])
    assert dynamics.forward_method == method
    q, qd, qdd = golden.random_state(dynamics.robot, 2, np.random.default_rng(3))
    tau = golden.rnea(dynamics.robot, q, qd, qdd)
    assert off(dynamics.forward_dynamics(q, qd, tau), qdd) < 1e-10


def test_cfa_of_chains_on_one_base() -> None:
    """HyQ's legs, held by the trunk: nothing couples them."""
    dynamics = Dynamics("hyq")
    state = golden.random_state(dynamics.robot, 3, np.random.default_rng(2))
    tau = golden.rnea(dynamics.robot, *state)
    assert off(dynamics.forward_dynamics(state.q, state.qd, tau, "cfa"), state.qdd) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 5])
def test_gradients(n: int) -> None:
    """jax.jacfwd is the golden gradient."""
    dynamics = Dynamics(chain(n))
    state = golden.random_state(dynamics.robot, 3, np.random.default_rng(5))
    expected = golden.rnea_derivatives(dynamics.robot, *state)
    for method in INVERSE if n > 3 else ("axes",):

        def tau(q: Array, qd: Array, qdd: Array, method: str = method) -> jax.Array:
            return dynamics.inverse_dynamics(q, qd, qdd, method)

        found = jax.jit(jax.vmap(jax.jacfwd(tau, (0, 1, 2))))(*state)
        for own, golden_one in zip(found, expected, strict=True):
            assert off(own, golden_one) < 1e-8
    tau_given = golden.rnea(dynamics.robot, *state)
    expected_forward = golden.aba_derivatives(dynamics.robot, state.q, state.qd, tau_given)
    for method in FORWARD if n > 3 else ("hybrid_abia",):

        def qdd(q: Array, qd: Array, tau: Array, method: str = method) -> jax.Array:
            return dynamics.forward_dynamics(q, qd, tau, method)

        found = jax.jit(jax.vmap(jax.jacfwd(qdd, (0, 1, 2))))(state.q, state.qd, tau_given)
        for own, golden_one in zip(found, expected_forward, strict=True):
            assert off(own, golden_one) < 1e-8, method


@pytest.mark.slow
def test_gradients_along_the_tangent_space() -> None:
    """Of a tree with a floating base and planar joints, by `integrate` at no step."""
    robot = random_robot(
        np.random.default_rng(6), 3, (JointKind.PLANAR,), branching=0.5, floating_base=True
    )
    dynamics = Dynamics(robot)
    state = golden.random_state(robot, 2, np.random.default_rng(5))
    step = np.random.default_rng(7).normal(size=(2, robot.nv))
    for scale in (1.0, 1e-4):
        moved = golden.integrate(robot, state.q, scale * step)
        assert off(dynamics.integrate(state.q, scale * step), moved) < 1e-14

    def tau(δ: jax.Array, q: jax.Array, qd: jax.Array, qdd: jax.Array) -> jax.Array:
        return dynamics.inverse_dynamics(dynamics.integrate(q, δ), qd, qdd)

    found = jax.vmap(jax.jacfwd(tau))(jnp.zeros((2, robot.nv)), *map(jnp.asarray, state))
    assert off(found, golden.rnea_derivatives(robot, *state).dtau_dq) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 16, 31])
def test_long_chains(n: int) -> None:
    _accurate(n, 64)


@pytest.mark.slow
def test_the_longest_chain() -> None:
    _accurate(256, 64)


def _accurate(n: int, states: int) -> None:
    """The worst of the states of one chain, by the bars of each method."""
    robot = chain(n, seed=n)
    dynamics = Dynamics(robot)
    rng = np.random.default_rng(n)
    q = rng.uniform(-3, 3, (states, n))
    qd, qdd = rng.uniform(-1, 1, (2, states, n))
    tau = golden.rnea(robot, q, qd, qdd)
    for method in INVERSE:
        assert off(dynamics.inverse_dynamics(q, qd, qdd, method), tau) < 1e-12, method
    for method in MASS if n <= 64 else ("composite",):
        M = golden.crba(robot, q[:4])
        assert off(dynamics.mass_matrix(q[:4], method), M) < 1e-12, method
    for method in FORWARD:
        bars = {16: 1e-9, 32: 1e-7, 256: 1e-5} if method == "cfa" else {32: 1e-9, 256: 1e-7}
        bar = next(bar for size, bar in bars.items() if n <= size)
        error = off(dynamics.forward_dynamics(q, qd, tau, method), qdd)
        assert error < bar, method
        if n >= 16:  # beside articulated bodies, one link after another
            assert error <= 100 * off(golden.aba(robot, q, qd, tau), qdd), method


def test_any_leading_shape_and_float32() -> None:
    dynamics = Dynamics("pendulum", dtype="float32")
    state = golden.random_state(dynamics.robot, 6, np.random.default_rng(1))
    tau = golden.rnea(dynamics.robot, *state)
    many = [x.reshape(2, 3, -1) for x in state]
    found = dynamics.inverse_dynamics(*many)
    assert (found.shape, found.dtype) == ((2, 3, 2), jnp.float32)
    assert 1e-9 < off(np.asarray(found).reshape(6, 2), tau) < 1e-5
    one = dynamics.inverse_dynamics(*(x[0] for x in state))
    assert one.shape == (2,)
    np.testing.assert_allclose(one, found[0, 0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=[pytest.mark.slow] * (method not in ("jsiia", "scanned_abia")))
        for method in FORWARD
    ],
)
def test_forward_dynamics_in_float32(method: str) -> None:
    dynamics = Dynamics("pendulum", dtype="float32")
    state = golden.random_state(dynamics.robot, 6, np.random.default_rng(1))
    tau = golden.rnea(dynamics.robot, *state)
    qdd = dynamics.forward_dynamics(state.q, state.qd, tau, method)
    assert qdd.dtype == jnp.float32
    assert off(qdd, state.qdd) < 1e-3


def massless(at: int) -> Robot:
    robot = chain(3)
    joints = [replace(j, inertia=Inertia()) if i == at else j for i, j in enumerate(robot.joints)]
    return robot.with_joints(joints)


@pytest.mark.parametrize(
    ("robot", "method", "said"),
    [
        (massless(1), "cfa", "the inertia of link link2 has no inverse; take method='jsiia'"),
        (massless(1), "scanned_abia", "link link2 has no inertia along joint joint2 by itself"),
        (ROBOTS["hyq floating"], "cfa", "link trunk carries several joints"),
        (ROBOTS["mimics"], "hybrid_abia", "mimics joint"),
        (chain(2), "cf", "method: 'cf' is unknown; did you mean"),
    ],
)
def test_refusals(robot: Robot, method: str, said: str) -> None:
    dynamics = Dynamics(robot)
    q, v = np.zeros(robot.nq), np.zeros(robot.nv)
    with pytest.raises((RobotError, InputError)) as refused:
        dynamics.forward_dynamics(q, v, v, method)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_massless_links_go_on_by_other_methods() -> None:
    robot = massless(1)
    dynamics = Dynamics(robot)
    state = golden.random_state(robot, 3, np.random.default_rng(1))
    tau = golden.rnea(robot, *state)
    for method in ("jsiia", "hybrid_abia"):
        found = dynamics.forward_dynamics(state.q, state.qd, tau, method)
        assert off(found, state.qdd) < 1e-9


def test_wrong_arrays_and_choices() -> None:
    dynamics = Dynamics("pendulum")
    with pytest.raises(InputError, match=r"qd is \(3,\); expected \(2,\) or \(N, 2\)"):
        dynamics.inverse_dynamics(np.zeros(2), np.zeros(3), np.zeros(2))
    with pytest.raises(InputError, match="another number of states"):
        dynamics.inverse_dynamics(np.zeros((4, 2)), np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(InputError, match="ii is a choice of hardware"):
        Dynamics("pendulum", ii=4)
    with pytest.raises(RobotError, match="no choice"):
        Dynamics("pendulum", bas="floating")
    with pytest.raises(InputError, match="dtype: 'half' is unknown"):
        Dynamics("pendulum", dtype="half")
    fixed = Robot("still", (Joint("j", JointKind.FIXED, -1, Transform(), "l", Inertia()),))
    with pytest.raises(RobotError, match="no joint moves"):
        Dynamics(fixed)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("import sys; sys.modules['jax'] = None", 'pip install "rbdgen[parallel]"'),
        ("", "jax.config.update('jax_enable_x64', True)"),
    ],
)
def test_what_is_missing_is_said(before: str, said: str) -> None:
    code = f"{before}\nfrom rbdgen_host.parallel import Dynamics\nDynamics('pendulum')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode
    assert said in done.stderr.strip().splitlines()[-1]


def driven(mimic: float = 0.0) -> Robot:
    """A tree whose joints have rotors, dampers and friction, but for the first joint."""
    rng = np.random.default_rng(3)
    robot = random_robot(rng, 4, branching=0.4, mimic=mimic)
    gears = [Drivetrain(*rng.uniform(0.1, 2.0, 3), width=0.5) for _ in robot.joints[1:]]
    moved = [replace(j, drivetrain=g) for j, g in zip(robot.joints[1:], gears, strict=True)]
    return robot.with_joints([robot.joints[0], *moved])


@pytest.mark.parametrize("mimic", [0.0, pytest.param(0.6, marks=pytest.mark.slow)])
def test_rotors_damping_and_friction(mimic: float) -> None:
    """Below and above the width of friction, by each method that a robot can have."""
    robot = driven(mimic)
    assert any(j.mimic for j in robot.joints) == bool(mimic)
    dynamics = Dynamics(robot)
    q, qd, qdd = golden.random_state(robot, 6, np.random.default_rng(1))
    tau = golden.rnea(robot, q, qd, qdd)
    assert 0 < np.mean(np.abs(qd) < 0.5) < 1
    for method in INVERSE:
        assert off(dynamics.inverse_dynamics(q, qd, qdd, method), tau) < 1e-12, method
    for method in MASS:
        assert off(dynamics.mass_matrix(q, method), golden.crba(robot, q)) < 1e-12, method
    for method in ("jsiia",) if mimic else ("serial", "jsiia", "hybrid_abia", "scanned_abia"):
        assert off(dynamics.forward_dynamics(q, qd, tau, method), qdd) < 1e-10, method


def test_a_rotor_is_in_no_links_inertia() -> None:
    """cfa has damping and friction, and refuses rotors; scanned_abia takes one for an inertia."""
    robot = chain(3)
    gears = Drivetrain(damping=0.3, friction=0.2, width=0.5)
    damped = robot.with_joints([replace(joint, drivetrain=gears) for joint in robot.joints])
    q, qd, qdd = golden.random_state(damped, 3, np.random.default_rng(1))
    tau = golden.rnea(damped, q, qd, qdd)
    assert off(Dynamics(damped).forward_dynamics(q, qd, tau, "cfa"), qdd) < 1e-10

    light = massless(1)
    joints = [replace(joint, drivetrain=Drivetrain(armature=0.5)) for joint in light.joints]
    rotors = light.with_joints(joints)
    tau = golden.rnea(rotors, q, qd, qdd)
    assert off(Dynamics(rotors).forward_dynamics(q, qd, tau, "scanned_abia"), qdd) < 1e-9
    turned = robot.with_joints([*robot.joints[:2], joints[2]])
    with pytest.raises(RobotError, match="cfa: joint joint3 of link link3 has a rotor"):
        Dynamics(turned).forward_dynamics(q, qd, tau, "cfa")
