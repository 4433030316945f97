"""Every robot of example-robot-data: parsed, traced, and the float graph equals golden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from rbdgen import golden
from rbdgen.api.reference import golden_model
from rbdgen.compile.flow import front_end
from rbdgen.compile.samples import sample_states
from rbdgen.design.arrays import held
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.graph.evaluate import evaluate
from rbdgen.robot.model import Array
from tests.support.example_robots import mimic_files, urdf_files
from tests.support.marks import fast_at
from tests.support.pinocchio_models import peer_from_urdf

FILES = urdf_files()
STATES = 3


CASES = [(path, "independent") for path in FILES]
CASES += [(path, "fold") for path in mimic_files()]


@pytest.mark.parametrize(
    ("path", "mimic"),
    fast_at(range(0, len(CASES), 5), CASES),
    ids=[f"{p.stem}-{m}" for p, m in CASES],
)
def test_float_graph_is_golden(path: Path, mimic: str) -> None:
    front = front_end(str(path), snap=0.0, mimic=mimic)
    robot = front.robot
    q, qd, qdd = golden.random_state(
        robot, STATES, np.random.default_rng(1), velocity=3.0, acceleration=10.0
    )
    columns = to_columns(front.canonical, front.graph.inputs, {"q": q, "qd": qd, "qdd": qdd})
    values = evaluate(front.graph, columns)
    if robot.nv:
        expected = golden.rnea(robot, q, qd, qdd)
        error = np.linalg.norm(from_columns(values, robot.nv)["tau"] - expected, axis=1)
        assert np.all(error <= 1e-10 * np.linalg.norm(expected, axis=1))


@pytest.mark.parametrize(
    "name",
    ["hyq_no_sensors", pytest.param("talos_reduced", marks=pytest.mark.slow), "ur5_robot"],
)
@pytest.mark.parametrize("function", ["did,m", "fd,minv"])
def test_floating_bases(name: str, function: str) -> None:
    """Gradients and mass matrix, forward dynamics and inverse, of the same robots set free."""
    (path,) = (path for path in FILES if path.stem == name)
    functions = tuple(function.split(","))
    front = front_end(str(path), snap=0.0, base="floating", functions=functions)
    state = sample_states(front.design, front.robot, STATES, seed=1)
    columns = to_columns(front.canonical, front.graph.inputs, state)
    found = from_columns(evaluate(front.graph, columns), front.robot.nv)
    expected = golden_model(front.design, front.robot, state)
    for array, values in found.items():
        error = np.linalg.norm(values - expected[array]) / np.linalg.norm(expected[array])
        assert error <= (1e-10 if "did" in functions else 1e-7), (array, error)


@pytest.mark.parametrize(
    ("name", "base", "choices"),
    [
        ("panda", "fixed", {"frames": ("panda_hand",), "reference": "local", "contact": "surface"}),
        ("ur5_robot", "fixed", {"frames": "all", "reference": "world", "contact_damping": 0.01}),
        ("solo12", "floating", {"frames": ("FL_FOOT", "HR_FOOT"), "reference": "local"}),
    ],
)
def test_kinematics_of_a_controller(name: str, base: str, choices: dict[str, Any]) -> None:
    """Frames' motions, Λ and subtrees as Pinocchio has them, of robots that are not shipped."""
    (path,) = (path for path in FILES if path.stem == name)
    functions = ("pose", "twist", "jac", "drift", "subcom", "osim")
    choices |= {"functions": functions, "base": base, "mimic": "independent", "snap": 0.0}
    front = front_end(str(path), fit=False, **choices)
    design, robot = front.design, front.robot
    q, qd, _ = golden.random_state(robot, STATES, np.random.default_rng(2), 2.0)
    columns = to_columns(front.canonical, front.graph.inputs, {"q": q, "qd": qd})
    found = from_columns(evaluate(front.graph, columns), robot.nv, frames=len(design.frames))
    peer = peer_from_urdf(path, robot)
    model, data = peer.model, peer.model.createData()
    of = getattr(pin, design.reference.upper())
    axes, damping = held(design)
    for n in range(STATES):
        x, v = peer.position(q[n]), peer.velocity(qd[n])
        pin.forwardKinematics(model, data, x, v, 0 * v)
        pin.centerOfMass(model, data, x, True)
        upper = np.triu(pin.computeMinverse(model, data, x))
        rows = []
        for f, link in enumerate(design.frames):
            frame = model.getFrameId(link, pin.FrameType.BODY)
            joint = model.frames[frame].parentJoint
            J = pin.computeFrameJacobian(model, data, x, frame, of)
            rows.append(pin.computeFrameJacobian(model, data, x, frame, pin.LOCAL_WORLD_ALIGNED))
            pin.updateFramePlacement(model, data, frame)
            near(found["p"][n, f], data.oMf[frame].translation)
            near(found["R"][n, f], data.oMf[frame].rotation)
            near(found["J"][n, f], J[:, peer.order])
            near(found["twist"][n, f], pin.getFrameVelocity(model, data, frame, of).vector)
            near(found["drift"][n, f], pin.getFrameAcceleration(model, data, frame, of).vector)
            near(found["subcom"][n, f], data.oMi[joint].act(data.com[joint]))
        J = np.vstack([own[:axes] for own in rows])
        inverse = J @ (upper + np.triu(upper, 1).T) @ J.T + damping * np.eye(len(J))
        places = [6 * f + a for f in range(len(rows)) for a in range(axes)]
        near(found["Lambda"][n][np.ix_(places, places)], np.linalg.inv(inverse))


def near(ours: Array, theirs: Array) -> None:
    size = max(np.abs(theirs).max(), 1.0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * size)


def test_the_robots_are_many() -> None:
    print(f"{len(FILES)} robots, {len(CASES) - len(FILES)} of them with mimic joints as well")
    assert len(FILES) > 60
    assert len(CASES) > len(FILES) + 4
