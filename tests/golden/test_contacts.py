"""Forward dynamics while frames are held, against Pinocchio's system of the same equations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.robot.model import Array
from tests.support.comparison import random_question
from tests.support.pinocchio_models import peer_from_urdf
from tests.support.random_robots import ALL_KINDS, SINGLE
from tests.support.traced import links_of, some_robot

TOLERANCE = 1e-9
WORLD = pin.LOCAL_WORLD_ALIGNED
WALKER = str(Path(__file__).parents[1] / "robots" / "walker.urdf")
STEP = 1e-6
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


@pytest.mark.parametrize(("axes", "damping"), [(6, 0.05), (3, 0.2)])
@pytest.mark.parametrize("seed", range(2))
def test_gradients_are_what_differences_say(seed: int, axes: int, damping: float) -> None:
    """Any joints, frames on links that are fixed, forces on links."""
    kinds = ALL_KINDS if seed else SINGLE
    robot = some_robot(seed + 4, kinds=kinds, fixed=0.3, floating_base=True, mimic=0.3 * seed)
    links = links_of(robot)
    links = [links[-1], links[len(links) // 2]]
    q, qd, _, tau, f_ext = random_question(robot, 2, seed)
    found = golden.constraint_derivatives(robot, q, qd, tau, links, axes, damping, f_ext)

    def at(dq: Array, dv: Array, dtau: Array) -> golden.Constrained:
        moved = golden.integrate(robot, q, np.broadcast_to(dq, qd.shape))
        return golden.constraint_dynamics(
            robot, moved, qd + dv, tau + dtau, links, axes, damping, f_ext
        )

    none, steps = np.zeros(robot.nv), STEP * np.eye(robot.nv)
    for k, name in enumerate(("dq", "dqd", "dtau")):
        sides = [
            [at(*(s * e if n == k else none for n in range(3))) for s in (1, -1)] for e in steps
        ]
        for array, field in (("dqdd_c", "qdd"), ("dlambda_c", "forces")):
            expected = np.stack(
                [(getattr(a, field) - getattr(b, field)) / (2 * STEP) for a, b in sides],
                axis=-1,
            )
            values = getattr(found, f"{array}_{name}")
            scale = max(np.abs(expected).max(), 1.0)
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize(
    ("name", "base", "links", "axes"),
    [
        ("hyq", "floating", FEET[1:], 3),
        ("iiwa14", "fixed", ("link_7",), 6),
        (WALKER, "floating", ("left",), 3),
    ],
)
def test_gradients_against_pinocchio(
    name: str, base: str, links: tuple[str, ...], axes: int
) -> None:
    """Frames that are held do not move: of a frame's turn and slide at once Pinocchio takes the
    spatial acceleration, and we that of the point, which differ by ω × v."""
    design, robot = load(name, base=base)
    peer = peer_from_urdf(Path(design.robot), robot)
    model, data = peer.model, peer.model.createData()
    kind = pin.ContactType.CONTACT_3D if axes == 3 else pin.ContactType.CONTACT_6D
    frames = [model.frames[model.getFrameId(link, pin.FrameType.BODY)] for link in links]
    contacts, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for own in frames:
        contact = pin.RigidConstraintModel(kind, model, own.parentJoint, own.placement, WORLD)
        contacts.append(contact)
        datas.append(contact.createData())
    pin.initConstraintDynamics(model, data, contacts, datas)
    rng = np.random.default_rng(1)
    q, qd, _ = golden.random_state(robot, 3, rng, 1.0)
    J = golden.frame_jacobians(robot, q, links)[:, :, :axes].reshape(len(q), -1, robot.nv)
    qd -= np.einsum("nij,nj->ni", np.linalg.pinv(J) @ J, qd)
    tau = rng.normal(0.0, 30.0, qd.shape)
    found = golden.constraint_derivatives(robot, q, qd, tau, links, axes)
    settings = pin.ProximalSettings(1e-12, 0.0, 1)
    order, rows = peer.order, axes * len(links)
    for n in range(len(q)):
        state = peer.position(q[n]), peer.velocity(qd[n]), peer.velocity(tau[n])
        pin.constraintDynamics(model, data, *state, contacts, datas, settings)
        theirs = pin.computeConstraintDynamicsDerivatives(model, data, contacts, datas)
        for ours, array in zip(found[:3], theirs[:3], strict=True):
            near(ours[n], array[np.ix_(order, order)])
        for ours, array in zip(found[3:], theirs[3:], strict=True):
            near(ours[n][:, :axes].reshape(rows, -1), array[:, order])


def near(ours: np.ndarray, theirs: np.ndarray) -> None:
    atol = TOLERANCE * max(np.abs(theirs).max(), 1.0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol)
