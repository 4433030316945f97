"""The formulations through the back ends of floating point, compiled, beside the golden model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.robot.model import Array, Robot
from rbdgen_host.parallel.chains import random_chain
from rbdgen_host.parallel.graphs import traced
from rbdgen_host.parallel.programs import interface_of, program
from tests.support.cuda_host import Host
from tests.support.library import Library

STATES = 20
METHODS = [("id", "axes"), ("fd", "hybrid_abia")]
LONGER = [("m", "composite"), ("fd", "scanned_abia"), ("fd", "cfa")]


def given_and_found(robot: Robot, function: str) -> tuple[list[Array], Array]:
    """Arrays in the order of the program's, and what it is to give."""
    state = golden.random_state(robot, STATES, np.random.default_rng(1))
    tau = golden.rnea(robot, *state)
    if function == "m":
        return [state.q], golden.crba(robot, state.q)
    return ([*state], tau) if function == "id" else ([state.q, tau, state.qd], state.qdd)


def close(found: Array, expected: Array, dtype: type) -> bool:
    within = 1e-10 if dtype is np.float64 else 1e-2
    return bool(np.abs(found - expected).max() <= within * np.abs(expected).max())


@pytest.mark.parametrize(
    ("function", "method"), [*METHODS, *(pytest.param(*m, marks=pytest.mark.slow) for m in LONGER)]
)
def test_cpp(function: str, method: str, tmp_path: Path) -> None:
    robot = random_chain(2)
    graph = traced(robot, function, method)
    interface = interface_of(robot, graph)
    made = Library(graph, tmp_path, interface)
    given, expected = given_and_found(robot, function)
    assert [a.size for a in interface.takes] == [x.shape[1] for x in given]
    for dtype in (np.float64, np.float32):
        code, found = made.rows(*(x.astype(dtype) for x in given))
        assert code == 0
        assert close(found, expected, dtype)


@pytest.mark.parametrize(
    ("function", "method"), [*METHODS, *(pytest.param(*m, marks=pytest.mark.slow) for m in LONGER)]
)
@pytest.mark.parametrize("name", ["iiwa14", "hyq"])
def test_cuda_on_the_cpu(name: str, function: str, method: str, tmp_path: Path) -> None:
    """The kernels' text, compiled for the CPU."""
    robot = load(name)[1]
    graph = traced(robot, function, method)
    host = Host(graph, interface_of(robot, graph), tmp_path)
    given, expected = given_and_found(robot, function)
    code, (found,) = host.rows(given)
    assert code == 0
    assert close(found, expected, np.float64)


def test_files_are_named_and_say_what_they_are() -> None:
    robot = random_chain(2)
    for language, file in (("cpp", "scans.cpp"), ("cuda", "scans.cu")):
        files = program(robot, "id", "axes", language, "scans")
        assert file in files
        assert any("id by axes" in text for text in files.values())
