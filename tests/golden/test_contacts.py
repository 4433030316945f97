"""Forward dynamics while frames are held, against Pinocchio's system of the same equations."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from rbdgen import golden
from rbdgen.design.loading import load

TOLERANCE = 1e-9
WORLD = pin.LOCAL_WORLD_ALIGNED
FEET = ("lf_foot", "rf_foot", "lh_foot", "rh_foot")


@pytest.mark.parametrize(
    ("name", "base", "links", "axes", "damping"),
    [
        ("hyq", "floating", FEET, 3, 0.0),
        ("hyq", "floating", FEET[1:3], 3, 1e-2),
        ("iiwa14", "fixed", ("link_7",), 3, 0.0),
        ("iiwa14", "fixed", ("link_4", "link_7"), 6, 1e-3),
    ],
)
def test_against_pinocchio(
    name: str, base: str, links: tuple[str, ...], axes: int, damping: float
) -> None:
    design, robot = load(name, base=base)
    free = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    model = pin.buildModelFromUrdf(design.robot, *free)
    data = model.createData()
    frames = [model.getFrameId(link, pin.FrameType.BODY) for link in links]
    rng = np.random.default_rng(1)
    q, qd, _ = golden.random_state(robot, 5, rng, 3.0)
    tau = rng.normal(0.0, 30.0, qd.shape)
    found = golden.constraint_dynamics(robot, q, qd, tau, links, axes, damping)
    inertia = golden.operational_inertia(robot, q, links, axes, damping)
    rows = [6 * f + a for f in range(len(links)) for a in range(axes)]
    assert np.count_nonzero(inertia) <= len(q) * len(rows) ** 2
    for n in range(len(q)):
        pin.forwardKinematics(model, data, q[n], qd[n], 0 * qd[n])
        pin.computeJointJacobians(model, data, q[n])
        pin.updateFramePlacements(model, data)
        J = np.vstack([pin.getFrameJacobian(model, data, f, WORLD)[:axes] for f in frames])
        accelerations = [pin.getFrameClassicalAcceleration(model, data, f, WORLD) for f in frames]
        drift = np.hstack([own.vector[:axes] for own in accelerations])
        qdd = pin.forwardDynamics(model, data, q[n], qd[n], tau[n], J, drift, damping)
        near(found.qdd[n], qdd)
        near(found.forces[n, :, :axes].ravel(), data.lambda_c)
        assert not found.forces[n, :, axes:].any()
        upper = np.triu(pin.computeMinverse(model, data, q[n]))
        Minv = upper + np.triu(upper, 1).T
        inverse = J @ Minv @ J.T + damping * np.eye(len(J))
        near(inertia[n][np.ix_(rows, rows)], np.linalg.inv(inverse))


def near(ours: np.ndarray, theirs: np.ndarray) -> None:
    atol = TOLERANCE * max(np.abs(theirs).max(), 1.0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol)
