"""ΔID in two parts: what the second gives of the first's results is what the whole gives."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.compile.flow import front_end
from rbdgen.design.loading import load
from rbdgen.dynamics.interface import from_columns, random_inputs
from rbdgen.graph.evaluate import Array, evaluate
from rbdgen.graph.verify import verify
from rbdgen.robot.model import RobotError
from rbdgen_benchmarks.bench.split import motion, product, slopes

N, SEED = 20, 8


@pytest.mark.parametrize("robot", ["iiwa14", "gantry", "hyq"])
def test_the_parts_make_the_gradient_of_forward_dynamics(robot: str) -> None:
    front = front_end(robot)
    canonical = front.canonical
    first, second = verify(motion(canonical)), verify(slopes(canonical))
    last = verify(product(canonical, list(second.outputs)))
    state = random_inputs(canonical, first.inputs, N, SEED)
    found = evaluate(first, state)
    slope = evaluate(second, {**state, **found})
    nv = canonical.nv
    q, qd, qdd = (
        np.stack([state[f"{name}[{k}]"] for k in range(nv)], axis=1) for name in ("q", "qd", "qdd")
    )
    by_q, by_v, M = golden.rnea_derivatives(front.robot, q, qd, qdd)
    arrays = from_columns(slope, nv)
    for own, wanted in ((arrays["dtau_dq"], by_q), (arrays["dtau_dqd"], by_v)):
        assert np.abs(own - wanted).max() < 1e-10 * np.abs(wanted).max()
    Minv: Array = np.linalg.inv(M).astype(np.float64)
    lower: dict[str, Array] = {
        f"Minv[{i},{j}]": Minv[:, i, j] for i in range(nv) for j in range(i + 1)
    }
    end = from_columns(evaluate(last, {**lower, **slope}), nv)
    for own, wanted in ((end["dqdd_dq"], by_q), (end["dqdd_dqd"], by_v)):
        wanted = -Minv @ wanted
        assert np.abs(own - wanted).max() < 1e-9 * np.abs(wanted).max()


def test_words_are_the_papers() -> None:
    """238 in and out for seven joints, less those that are zero in every state."""
    graph = slopes(front_end("iiwa14").canonical)
    assert len(graph.inputs) + len(graph.outputs) == 238 - 28
    assert not any(name.startswith("qdd") for name in graph.inputs)


def test_joints_of_several_axes_are_refused() -> None:
    with pytest.raises(RobotError, match="has not one axis of its own"):
        slopes(front_end("hyq", base="floating").canonical)


def test_joints_with_more_than_bodies_are_refused() -> None:
    robot = load("iiwa14", joints={"joint_7": {"damping": 1.0}})[1]
    with pytest.raises(RobotError, match='joint "joint_7" has a rotor, damping or friction'):
        motion(robot)
