"""Names of graph inputs and outputs against arrays: every kind of entry, both ways."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.compile.flow import front_end
from rbdgen.compile.samples import sample_states
from rbdgen.design.bounds import bounds, random_states
from rbdgen.design.design import Design
from rbdgen.design.loading import load
from rbdgen.dynamics.interface import (
    MARGIN,
    clip,
    from_columns,
    input_limits,
    random_inputs,
    to_columns,
    unit_inputs,
)
from rbdgen.robot.model import JointKind
from tests.support.random_robots import ALL_KINDS, random_robot

N = 30
LOWER = [f"Minv[{i},{j}]" for i in range(13) for j in range(i + 1)]


def sampled(**choices: str) -> tuple[Design, dict[str, np.ndarray]]:
    design, robot = load("iiwa14", functions=("fd", "difd"), base="floating", **choices)
    return design, sample_states(design, robot, N, seed=1)


def test_entries_of_every_input() -> None:
    _, robot = load("iiwa14", base="floating")
    state = sampled()[1]
    names = ["q[3]", "q[6]", "q[8]", "qd[0]", "qdd[7]", "tau[7]", "f_ext[2].ny", *LOWER]
    columns = to_columns(robot, names, state)
    assert list(columns) == names
    for name, column in {
        "q[6]": state["q"][:, 6],
        "q[8]": state["q"][:, 8],
        "qdd[7]": state["qdd"][:, 7],
        "tau[7]": state["tau"][:, 7],
        "f_ext[2].ny": state["f_ext"][:, 2, 4],
        "Minv[5,2]": state["Minv"][:, 5, 2],
    }.items():
        np.testing.assert_array_equal(columns[name], column)


def test_a_given_base_has_no_torque_and_no_row() -> None:
    """Names keep the numbering of v; the arrays begin at the joints."""
    _, robot = load("iiwa14", base="floating")
    state = sampled(root="given")[1]
    assert state["tau"].shape == (N, 7)
    assert state["Minv"].shape == (N, 7, 7)
    columns = to_columns(robot, ["tau[6]", "Minv[7,6]", "qdd[0]"], state)
    np.testing.assert_array_equal(columns["tau[6]"], state["tau"][:, 0])
    np.testing.assert_array_equal(columns["Minv[7,6]"], state["Minv"][:, 1, 0])
    np.testing.assert_array_equal(columns["qdd[0]"], state["qdd"][:, 0])
    back = from_columns({n: columns[n] for n in ("tau[6]", "Minv[7,6]")}, robot.nv, 6)
    np.testing.assert_array_equal(back["tau"][:, 0], state["tau"][:, 0])
    np.testing.assert_array_equal(back["Minv"][:, 0, 1], state["Minv"][:, 1, 0])
    assert not back["tau"][:, 1:].any()


def test_back_to_symmetric_arrays_with_zeros() -> None:
    _, robot = load("iiwa14", base="floating")
    state = sampled()[1]
    columns = to_columns(robot, [*LOWER, "tau[1]", "tau[4]"], state)
    arrays = from_columns(columns, robot.nv)
    np.testing.assert_allclose(arrays["Minv"], state["Minv"], rtol=1e-12)
    np.testing.assert_array_equal(arrays["tau"][:, [1, 4]], state["tau"][:, [1, 4]])
    assert arrays["tau"].shape == (N, 13)
    assert not arrays["tau"][:, [0, 2, 3, *range(5, 13)]].any()
    gradient = from_columns({"dtau_dq[0,1]": np.ones(N)}, 3)["dtau_dq"]
    assert gradient.shape == (N, 3, 3)
    assert gradient.sum() == N  # not mirrored


def test_back_without_the_size() -> None:
    arrays = from_columns({"tau[1]": np.ones(N), "M[2,0]": np.ones(N)})
    assert arrays["tau"].shape == (N, 2)
    assert arrays["M"].shape == (N, 3, 3)
    assert (arrays["M"][:, 0, 2] == 1).all()


def test_limits() -> None:
    design, state = sampled()
    _, robot = load("iiwa14", base="floating")
    names = ["q[3]", "q[7]", "qd[0]", "qdd[3]", "tau[0]", *LOWER]
    samples = to_columns(robot, names, state)
    samples["Minv[1,0]"] = np.full(N, 1e-17)  # rounding noise gets no word of its own size
    limits = input_limits(robot, names, bounds(design, robot), samples)
    assert list(limits) == names
    assert limits["q[3]"] == (-1.0, 1.0)
    assert limits["q[7]"] == pytest.approx((-np.pi, np.pi))
    assert all(lower == -upper for lower, upper in limits.values())
    assert limits["tau[0]"][1] == pytest.approx((1 + MARGIN) * np.abs(state["tau"][:, 0]).max())
    assert limits["Minv[4,4]"][1] == pytest.approx((1 + MARGIN) * state["Minv"][:, 4, 4].max())
    assert 1e-9 < limits["Minv[1,0]"][1] < 1e-3


def test_clip_keeps_symmetry() -> None:
    _, robot = load("iiwa14", base="floating")
    state = sampled()[1]
    state["qdd"][:] = 1e3
    clip(robot, {"Minv[2,1]": (-1e-3, 1e-3), "tau[0]": (-2, 2), "qdd[0]": (-1, 1)}, state)
    assert np.abs(state["Minv"][:, [2, 1], [1, 2]]).max() <= 1e-3
    np.testing.assert_allclose(state["Minv"], state["Minv"].swapaxes(1, 2))
    assert np.abs(state["tau"][:, 0]).max() <= 2 < np.abs(state["tau"][:, 1:]).max()
    assert state["qdd"].max() == 1e3  # that has limits of its own


@pytest.mark.parametrize("seed", range(8))
def test_random_states_of_every_kind_of_joint(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 6, kinds=ALL_KINDS, mimic=0.2)
    box = bounds(Design("x"), robot)
    state = random_states(robot, box, 4000, seed, extremes=0.5)
    for i in robot.free:
        q, v = state["q"][:, robot.q_slices[i]], state["qd"][:, robot.v_slices[i]]
        match robot.joints[i].kind:
            case JointKind.FLOATING:
                np.testing.assert_allclose(np.linalg.norm(q[:, 3:], axis=1), 1)
                # uniform on the sphere: mean 0, second moment 1/4
                np.testing.assert_allclose(q[:, 3:].T @ q[:, 3:] / 4000, np.eye(4) / 4, atol=0.03)
                assert np.abs(q[:, :3]).max() <= 1
                assert np.abs(v[:, :3]).max() == 2.0
                assert np.abs(v[:, 3:]).max() == 10.0
            case JointKind.PLANAR:
                np.testing.assert_allclose(np.linalg.norm(q[:, 2:], axis=1), 1)
                assert np.abs(q[:, 2:].mean(axis=0)).max() < 0.05
        assert (np.abs(state["qd"][:2000]) == box.qd).all()
        assert (np.abs(state["qdd"][:, robot.v_slices[i]]) <= box.qdd[robot.v_slices[i]]).all()
    again = random_states(robot, box, 4000, seed, extremes=0.5)
    assert all((again[name] == state[name]).all() for name in state)


@pytest.mark.parametrize(
    ("robot", "choices", "units"),
    [
        ("pendulum", {"base": "floating"}, (("q[3]", "q[4]", "q[5]", "q[6]"),)),
        ("tiago_like", {}, (("q[2]", "q[3]"),)),
        ("pendulum", {"angles": "sincos"}, (("cos[0]", "sin[0]"), ("cos[1]", "sin[1]"))),
        ("gantry", {}, ()),
    ],
)
def test_vectors_of_length_one_are_told(
    robot: str, choices: dict[str, str], units: tuple[tuple[str, ...], ...]
) -> None:
    front = front_end(robot, functions=("id",), **choices)
    assert unit_inputs(front.canonical, front.graph.inputs) == units
    anything = random_inputs(front.canonical, front.graph.inputs, 20, 0)
    for unit in units:
        np.testing.assert_allclose(sum(anything[name] ** 2 for name in unit), 1.0)
