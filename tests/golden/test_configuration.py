"""The configuration space: steps as in Pinocchio, random states within their limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from rbdgen import golden
from rbdgen.golden.states import position_range
from rbdgen.golden.tree import plane_frame
from rbdgen.robot.model import Array, Inertia, Joint, JointKind, Limits, Robot, Transform
from rbdgen.robot.urdf import parse_urdf
from tests.support.pinocchio_models import peer_from_robot, peer_from_urdf
from tests.support.random_robots import ALL_KINDS, random_direction, random_robot


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.3, 2.0])
def test_integrate_steps_as_pinocchio(size: float) -> None:
    rng = np.random.default_rng(0)
    robot = random_robot(rng, 12, ALL_KINDS)
    peer = peer_from_robot(robot)
    q = golden.random_state(robot, 5, rng).q
    v = size * rng.normal(size=(5, robot.nv))
    for a, b, moved in zip(q, v, golden.integrate(robot, q, v), strict=True):
        expected = pin.integrate(peer.model, peer.position(a), peer.velocity(b))
        assert pin.isSameConfiguration(peer.model, peer.position(moved), expected, 1e-12)


TURNS = [0.0, 1e-12, 1e-7, 1e-3, 0.3, 3.0, np.pi - 1e-9, np.pi]


def scaled(robot: Robot, q: Array, factor: float) -> Array:
    """q with quaternions, and with (cos, sin) by the factor's size, so many times as long."""
    q = q.copy()
    for i in robot.free:
        own = q[:, robot.q_slices[i]]
        if robot.joints[i].kind is JointKind.FLOATING:
            own[:, 3:] *= factor
        if robot.joints[i].kind is JointKind.PLANAR:
            own[:, 2:] *= abs(factor)
    return q


@pytest.mark.parametrize("turn", TURNS)
def test_difference_is_pinocchios(turn: float) -> None:
    """Steps whose rotations are of one size, from none to half a turn."""
    rng = np.random.default_rng(0)
    robot = random_robot(rng, 12, ALL_KINDS)
    peer = peer_from_robot(robot)
    q0 = golden.random_state(robot, 5, rng).q
    v = rng.uniform(-1, 1, (5, robot.nv))
    for i in robot.free:
        own = v[:, robot.v_slices[i]]
        if robot.joints[i].kind is JointKind.FLOATING:
            own[:, 3:] *= turn / np.linalg.norm(own[:, 3:], axis=1, keepdims=True)
        if robot.joints[i].kind is JointKind.PLANAR:
            own[:, 2] = turn
    q1 = golden.integrate(robot, q0, v)
    found = golden.difference(robot, q0, q1)
    if turn < np.pi:
        assert np.allclose(found, v, rtol=0, atol=1e-12)
    for a, b, there, own in zip(q0, q1, golden.integrate(robot, q0, found), found, strict=True):
        assert pin.isSameConfiguration(peer.model, peer.position(there), peer.position(b), 1e-12)
        step = pin.difference(peer.model, peer.position(a), peer.position(b))[peer.order]
        # its planar joints lose half of the digits near no turn and near half a turn
        if turn < np.pi:
            assert np.allclose(own, step, rtol=0, atol=1e-12 if turn in (0.3, 3.0) else 1e-5)


def test_quaternions_of_any_length_are_directions() -> None:
    """Antipodes are one orientation, and nothing is as far as itself."""
    rng = np.random.default_rng(3)
    robot = random_robot(rng, 12, ALL_KINDS)
    q0, q1 = (golden.random_state(robot, 5, rng).q for _ in range(2))
    v = golden.difference(robot, q0, q1)
    for factor in (-1.0, 0.5, -3.0):
        other = scaled(robot, q1, factor)
        assert np.allclose(golden.difference(robot, q0, other), v, rtol=0, atol=1e-13)
        assert np.allclose(golden.difference(robot, other, other), 0, rtol=0, atol=1e-15)
        moved = golden.integrate(robot, scaled(robot, q0, factor), v)
        expected = scaled(robot, golden.integrate(robot, q0, v), np.sign(factor))
        assert np.allclose(moved, expected, rtol=0, atol=1e-13)
    with pytest.raises(ValueError, match="q0 has 5 states, and q1 4"):
        golden.difference(robot, q0, q1[:4])


CONTINUOUS = """
<robot name="turret"><link name="base"/><link name="ring"/>
  <joint name="turn" type="continuous">
    <parent link="base"/><child link="ring"/><axis xyz="0 0 1"/>
  </joint>
</robot>
"""


def test_continuous_joints_turn_the_shorter_way(tmp_path: Path) -> None:
    """As Pinocchio's, whose q is their cosine and sine; those with limits do not."""
    (tmp_path / "turret.urdf").write_text(CONTINUOUS)
    robot = parse_urdf(CONTINUOUS)
    peer = peer_from_urdf(tmp_path / "turret.urdf", robot)
    q0, q1 = np.random.default_rng(4).uniform(-20, 20, (2, 50, 1))
    found = golden.difference(robot, q0, q1)
    assert np.abs(found).max() > 3
    for a, b, own in zip(q0, q1, found, strict=True):
        expected = pin.difference(peer.model, peer.position(a), peer.position(b))
        assert np.allclose(own, expected, rtol=0, atol=1e-12)
    (joint,) = robot.joints
    limited = robot.with_joints([replace(joint, limits=Limits(-20, 20))])
    assert np.array_equal(golden.difference(limited, q0, q1), q1 - q0)


def test_neutral_is_pinocchios() -> None:
    robot = random_robot(np.random.default_rng(1), 12, ALL_KINDS)
    peer = peer_from_robot(robot)
    assert np.array_equal(peer.position(golden.neutral(robot)), pin.neutral(peer.model))


@pytest.mark.parametrize(
    ("kind", "lower", "upper", "expected"),
    [
        ("revolute", -0.5, 1.0, (-0.5, 1.0)),
        ("revolute", 4.0, 6.0, (4.0, 6.0)),
        ("revolute", -np.inf, np.inf, (-np.pi, np.pi)),
        ("revolute", -50.0, 50.0, (-np.pi, np.pi)),
        ("revolute", -1.0, 10.0, (-1.0, 2 * np.pi - 1.0)),
        ("prismatic", -np.inf, np.inf, (-1.0, 1.0)),
        ("prismatic", 0.5, np.inf, (0.5, 2.5)),
        ("prismatic", -20.0, 20.0, (-20.0, 20.0)),
    ],
)
def test_range_of_positions(
    kind: str, lower: float, upper: float, expected: tuple[float, float]
) -> None:
    limits = Limits(lower, upper)
    joint = Joint("a", JointKind(kind), -1, Transform(), "b", Inertia(), limits=limits)
    assert position_range(joint) == pytest.approx(expected, abs=1e-15)
    q = golden.random_state(Robot("one", (joint,)), 1000, np.random.default_rng(0)).q
    span = expected[1] - expected[0]
    assert expected[0] <= q.min() < expected[0] + 0.02 * span
    assert expected[1] - 0.02 * span < q.max() <= expected[1]


def test_random_states_are_seeded_and_on_the_manifold() -> None:
    robot = random_robot(np.random.default_rng(2), 12, ALL_KINDS, mimic=0.3)
    q, qd, qdd = golden.random_state(robot, 50, np.random.default_rng(7), 2.0, 5.0)
    again = golden.random_state(robot, 50, np.random.default_rng(7), 2.0, 5.0)
    assert np.array_equal(q, again.q)
    assert 1.9 < np.abs(qd).max() <= 2.0
    assert 4.8 < np.abs(qdd).max() <= 5.0
    assert np.allclose(golden.integrate(robot, q, 0 * qd), q, rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_plane_frame_takes_z_to_the_normal(seed: int) -> None:
    normal = random_direction(np.random.default_rng(seed))
    F = plane_frame(normal)
    assert np.allclose(F @ F.T, np.eye(3), atol=1e-14)
    assert np.isclose(np.linalg.det(F), 1)
    assert np.allclose(F[:, 2], normal, atol=1e-14)
    # the smallest angle that does it
    assert np.isclose((np.trace(F) - 1) / 2, normal[2])


def test_plane_frame_of_z_is_none_and_of_minus_z_half_a_turn() -> None:
    z = np.array([0.0, 0.0, 1.0])
    assert np.array_equal(plane_frame(z), np.eye(3))
    assert np.array_equal(plane_frame(-z), np.diag([1.0, -1.0, -1.0]))
