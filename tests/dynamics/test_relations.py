"""What the functions say of each other, of the traced graphs alone: inverses and gradients."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rbdgen import api, golden
from rbdgen.api.evaluation import as_arrays
from rbdgen.compile.flow import Front, front_end
from rbdgen.compile.samples import sample_states
from rbdgen.dynamics.interface import to_columns
from rbdgen.graph.evaluate import evaluate
from tests.support.comparison import Question, norm, random_question
from tests.support.example_robots import urdf_files
from tests.support.marks import slow
from tests.support.pinocchio_models import peer_from_urdf

Arrays = dict[str, np.ndarray]
N = 6
STEP = 1e-5
QUADRUPED = str(Path(__file__).parents[1] / "robots" / "quadruped.urdf")
ROBOTS = {
    "iiwa14": ("iiwa14", "fixed"),
    "gantry": ("gantry", "fixed"),
    "quadruped": (QUADRUPED, "floating"),
}
every_robot = pytest.mark.parametrize("name", list(ROBOTS))


@cache
def traced(name: str, functions: str) -> Front:
    robot, base = ROBOTS[name]
    return front_end(robot, base=base, functions=tuple(functions.split(",")))


def values(front: Front, state: Arrays) -> Arrays:
    columns = to_columns(front.canonical, front.graph.inputs, state)
    return as_arrays(front, evaluate(front.graph, columns), len(state["q"]))


def drawn(name: str, n: int = N) -> Arrays:
    """States with all that any function needs."""
    front = traced(name, "fd,difd")
    return sample_states(front.design, front.robot, n, seed=2)


def assert_close(actual: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    assert np.all(norm(actual - expected) <= tolerance * norm(expected))


@every_robot
def test_mass_matrix_and_its_inverse(name: str) -> None:
    state = drawn(name)
    M, Minv = (values(traced(name, f), state)[a] for f, a in (("m", "M"), ("minv", "Minv")))
    one = np.broadcast_to(np.eye(M.shape[1]), M.shape)
    assert_close(M @ Minv, one, 1e-10)
    assert np.linalg.eigvalsh(M).min() > 0
    for matrix in (M, Minv):
        np.testing.assert_array_equal(matrix, matrix.swapaxes(1, 2))


@every_robot
def test_forward_dynamics_undoes_inverse_dynamics(name: str) -> None:
    state = drawn(name)
    tau = values(traced(name, "id"), state)["tau"]
    found = values(traced(name, "fd"), state | {"tau": tau})["qdd"]
    assert_close(found, state["qdd"], 1e-9)


@every_robot
def test_gradients_of_forward_dynamics_are_those_of_inverse_dynamics(name: str) -> None:
    """ΔFD = ΔiFD = −M⁻¹ ΔID"""
    state = drawn(name)
    inverse = values(traced(name, "did"), state)
    forward, given = (values(traced(name, f), state) for f in ("dfd", "difd"))
    for x in ("dq", "dqd"):
        expected = -np.linalg.solve(values(traced(name, "m"), state)["M"], inverse[f"dtau_{x}"])
        assert_close(forward[f"dqdd_{x}"], expected, 1e-9)
        assert_close(given[f"dqdd_{x}"], expected, 1e-9)


@every_robot
@pytest.mark.parametrize(("function", "of", "result"), [("did", "id", "tau"), ("dfd", "fd", "qdd")])
def test_gradients_are_what_differences_say(name: str, function: str, of: str, result: str) -> None:
    """Central differences of the traced function itself, along the tangent space."""
    state = drawn(name)
    robot = traced(name, of).robot
    gradients = values(traced(name, function), state)

    def at(moved: Arrays) -> np.ndarray:
        return values(traced(name, of), state | moved)[result]

    def along_q(step: np.ndarray) -> np.ndarray:
        v = np.broadcast_to(step, state["qd"].shape)
        return at({"q": golden.integrate(robot, state["q"], v)})

    def along_qd(step: np.ndarray) -> np.ndarray:
        return at({"qd": state["qd"] + step})

    ways: dict[str, Callable[[np.ndarray], np.ndarray]] = {"dq": along_q, "dqd": along_qd}
    for x, along in ways.items():
        steps = STEP * np.eye(robot.nv)
        expected = np.stack([(along(e) - along(-e)) / (2 * STEP) for e in steps], axis=-1)
        assert_close(gradients[f"d{result}_{x}"], expected, 1e-6)


@pytest.mark.parametrize("name", ["bolt", "solo12", "z1"])
def test_floating_robots_are_pinocchios(name: str) -> None:
    """Every function that Pinocchio has, of the traced graph of a robot set free."""
    (path,) = (path for path in urdf_files() if path.stem == name)
    as_there = {"snap": 0.0, "mimic": "independent", "friction": False}
    robots = [
        front_end(str(path), base="floating", functions=functions, **as_there)
        for functions in (("did", "m"), ("fd", "minv"))
    ]
    robot = robots[0].robot
    drawn = random_question(robot, 3, seed=4)
    question = Question(*drawn[:4], np.zeros_like(drawn.f_ext))
    state = dict(question._asdict())
    peer = peer_from_urdf(path, robot)
    slopes = peer.rnea_derivatives(question)
    expected = {
        "tau": peer.rnea(question),
        "dtau_dq": slopes[0],
        "dtau_dqd": slopes[1],
        "M": peer.crba(question),
        "qdd": peer.aba(question),
        "Minv": peer.minv(question),
    }
    actual = {k: v for front in robots for k, v in values(front, state).items()}
    for key, reference in expected.items():
        assert_close(actual[key], reference, 1e-8 if key in ("qdd", "Minv") else 1e-10)


INTEGER = {  # name: (largest entry of M M⁻¹ − 1, RMS of FD(ID) − q̈ against q̈), at 18 bits
    "iiwa14": (4e-3, 1e-2),
    "quadruped": (1.2e-3, 2.6e-3),
}


@pytest.mark.parametrize("name", [slow("iiwa14"), "quadruped"])
def test_integer_model_within_its_rounding(name: str) -> None:
    """M M⁻¹ = 1 and FD(ID) = identity, each function on its own integer hardware."""
    robot, base = ROBOTS[name]
    state = drawn(name, 2000)

    def fixed(functions: str, given: Arrays) -> Arrays:
        chosen = tuple(functions.split(","))
        return api.evaluate(robot, given, "fixed", base=base, functions=chosen, width=18)

    found = fixed("m,minv", state)
    product = found["M"] @ found["Minv"]
    tau = fixed("id", state)
    forward = fixed("fd", state | {"tau": tau["tau"]})
    for results in (found, tau, forward):
        assert not results["overflow"].any()
    off = np.abs(product - np.eye(product.shape[1])).max()
    error = np.sqrt(((forward["qdd"] - state["qdd"]) ** 2).sum() / (state["qdd"] ** 2).sum())
    assert off < INTEGER[name][0]
    assert error < INTEGER[name][1]
