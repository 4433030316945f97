"""Named frames, centre of mass, energies and centroidal momentum against Pinocchio."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.robot.canonical import stages
from rbdgen.robot.frames import REFERENCES as FRAMES_OF_REFERENCE
from rbdgen.robot.frames import frame_of
from rbdgen.robot.model import Array, Robot, RobotError
from tests.support.pinocchio_models import peer_from_robot
from tests.support.random_robots import ALL_KINDS, random_robot

TOLERANCE = 1e-10
REFERENCES = {own: getattr(pin, own.replace("-", "_").upper()) for own in FRAMES_OF_REFERENCE}
# A wrist of one joint that carries a flange, which carries a tool: neither moves by itself.
FLANGE = """<robot name="wrist"><link name="base"/><link name="hand"><inertial>
<origin xyz="0.1 0 0.05"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0" iyz="0"/></inertial></link>
<link name="flange"><inertial><mass value="0.5"/>
<inertia ixx="0.01" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tool0"/><link name="stand"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="hand"/><axis xyz="0.6 0 0.8"/>
<origin xyz="0 0.2 0.1" rpy="0.3 0 0"/><limit lower="-2" upper="2" effort="9" velocity="3"/></joint>
<joint name="on" type="fixed"><parent link="hand"/><child link="flange"/>
<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/></joint>
<joint name="at" type="fixed"><parent link="flange"/><child link="tool0"/>
<origin xyz="0 0 0.2" rpy="0 0.7 0"/></joint>
<joint name="foot" type="fixed"><parent link="base"/><child link="stand"/></joint></robot>"""


def near(ours: Array, theirs: Array) -> None:
    size = max(np.abs(theirs).max(), 1.0)
    theirs = theirs.reshape(ours.shape)  # one column comes as a vector
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE * size)


def check_frames(
    robot: Robot, state: golden.State, model: pin.Model, frames: dict[str, int]
) -> None:
    """Frames of the model by the names of our links, in all frames of reference."""
    links, data = list(frames), model.createData()
    q, qd, _ = state
    p, R = golden.frame_poses(robot, q, links)
    ours = {
        own: (
            golden.frame_jacobians(robot, q, links, own),
            golden.frame_velocities(robot, q, qd, links, own),
            golden.frame_drifts(robot, q, qd, links, own),
        )
        for own in REFERENCES
    }
    for n in range(len(q)):
        pin.forwardKinematics(model, data, q[n], qd[n], 0 * qd[n])
        pin.computeJointJacobians(model, data, q[n])
        pin.updateFramePlacements(model, data)
        for f, frame in enumerate(frames.values()):
            near(p[n, f], data.oMf[frame].translation)
            near(R[n, f], data.oMf[frame].rotation)
            for own, theirs in REFERENCES.items():
                J, twist, drift = (array[n, f] for array in ours[own])
                near(J, pin.getFrameJacobian(model, data, frame, theirs))
                near(twist, pin.getFrameVelocity(model, data, frame, theirs).vector)
                aligned = theirs == pin.LOCAL_WORLD_ALIGNED  # else J̇ q̇ is a spatial acceleration
                of = pin.getFrameClassicalAcceleration if aligned else pin.getFrameAcceleration
                near(drift, of(model, data, frame, theirs).vector)


def check_subtrees(
    robot: Robot, state: golden.State, model: pin.Model, frames: dict[str, int]
) -> None:
    """What each frame's joint carries."""
    centers, data = golden.subtree_centers(robot, state.q, list(frames)), model.createData()
    for n, q in enumerate(state.q):
        pin.centerOfMass(model, data, q, True)
        pin.forwardKinematics(model, data, q)
        for f, frame in enumerate(frames.values()):
            joint = model.frames[frame].parentJoint
            near(centers[n, f], data.oMi[joint].act(data.com[joint]))


def check_masses(robot: Robot, state: golden.State, model: pin.Model) -> None:
    q, qd, _ = state
    ours = (
        golden.center_of_mass(robot, q),
        golden.center_of_mass_jacobian(robot, q),
        golden.centroidal_map(robot, q),
        golden.centroidal_momentum(robot, q, qd),
        *golden.energies(robot, q, qd),
    )
    for n in range(len(q)):
        data = model.createData()
        pin.ccrba(model, data, q[n], qd[n])
        theirs = (
            pin.centerOfMass(model, data, q[n]).copy(),
            pin.jacobianCenterOfMass(model, data, q[n]),
            data.Ag,
            data.hg.vector,
            np.array(pin.computeKineticEnergy(model, data, q[n], qd[n])),
            np.array(pin.computePotentialEnergy(model, data, q[n])),
        )
        for a, b in zip(ours, theirs, strict=True):
            near(a[n], b)


@pytest.mark.parametrize(("name", "base"), [("iiwa14", "fixed"), ("hyq", "floating")])
def test_robots(name: str, base: str) -> None:
    """As read, and after each rewrite that leaves bodies their inertias."""
    design, robot = load(name, base=base)
    free = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    model = pin.buildModelFromUrdf(design.robot, *free)
    state = golden.random_state(robot, 3, np.random.default_rng(1), 3.0)
    for own in (robot, *(rewritten for _, rewritten in stages(robot, bodies=True))):
        bodies = [joint.body for joint in robot.joints if joint.kind.nv]
        frames = {body: model.getFrameId(body, pin.FrameType.BODY) for body in bodies}
        check_frames(own, state, model, frames)
        check_subtrees(own, state, model, frames)
        check_masses(own, state, model)


def test_drift_is_the_derivative_of_the_jacobian() -> None:
    """J̇ q̇ by finite differences along q̇, in all frames of reference."""
    robot, h = random_robot(np.random.default_rng(3), 6, ALL_KINDS), 1e-6
    q, qd, _ = golden.random_state(robot, 2, np.random.default_rng(3), 1.0)
    links = [robot.joints[i].body for i in robot.moving]
    for reference in REFERENCES:
        after, before = (
            golden.frame_jacobians(robot, golden.integrate(robot, q, s * h * qd), links, reference)
            for s in (1, -1)
        )
        slope = np.einsum("nfij,nj->nfi", (after - before) / (2 * h), qd)
        drift = golden.frame_drifts(robot, q, qd, links, reference)
        np.testing.assert_allclose(drift, slope, rtol=0, atol=1e-7 * np.abs(drift).max())


def test_links_that_are_fixed(tmp_path: Path) -> None:
    """A flange and a tool on it, whichever rewrite has merged them."""
    place = tmp_path / "wrist.urdf"
    place.write_text(FLANGE)
    _, robot = load(str(place))
    model = pin.buildModelFromUrdf(str(place))
    state = golden.random_state(robot, 3, np.random.default_rng(2), 3.0)
    frames = {
        link: model.getFrameId(link, pin.FrameType.BODY) for link in ("hand", "flange", "tool0")
    }
    merged = [rewritten for _, rewritten in stages(robot, bodies=True)]
    assert {frame.link: frame.body for frame in merged[-1].merged} == {
        "flange": "hand",
        "tool0": "hand",
        "stand": "base",
    }
    for own in (robot, *merged):
        check_frames(own, state, model, frames)
        check_subtrees(own, state, model, frames)
        check_masses(own, state, model)
    for own in (robot, merged[-1]):
        with pytest.raises(RobotError, match='frames: "stand" is on the base; no joint moves it'):
            frame_of(own, "stand")
        with pytest.raises(RobotError, match='frames: no link "tool"; did you mean "tool0"'):
            frame_of(own, "tool")


@pytest.mark.parametrize("seed", range(6))
def test_any_joints(seed: int) -> None:
    robot = random_robot(np.random.default_rng(seed), 7, ALL_KINDS)
    peer = peer_from_robot(robot)
    state = golden.random_state(robot, 2, np.random.default_rng(seed), 3.0)
    assert peer.order == list(range(robot.nv))
    frames = {
        robot.joints[i].body: peer.model.addFrame(
            pin.Frame(f"of {i}", peer.ids[i], peer.links[i], pin.FrameType.OP_FRAME)
        )
        for i in robot.moving
    }
    check_frames(robot, state, peer.model, frames)
    check_subtrees(robot, state, peer.model, frames)
    check_masses(robot, state, peer.model)
