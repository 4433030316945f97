"""Functions as CasADi's externals: values and Jacobians."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.evaluation import checked
from rbdgen.api.reference import golden_model
from rbdgen.api.sampling import states
from rbdgen.design.loading import load

casadi = pytest.importorskip("casadi")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


def external(robot: str, functions: tuple[str, ...], place: Path) -> Any:
    """The function of a folder, compiled: the C by gcc, in C99, the rest for this processor."""
    made = api.generate(robot, place / "made", to="cpp", functions=functions).folder
    (source,) = made.glob("*_casadi.c")
    name = source.stem
    command = ["gcc", "-std=c99", *WARNINGS, "-fPIC", "-c", source, "-o", place / "casadi.o"]
    subprocess.run(command, check=True)
    only = [f"-D{name.removesuffix('_casadi').upper()}_{what}" for what in ("NATIVE", "NO_FLOAT")]
    rest = [*only, "-march=native", *made.glob("*.cpp"), place / "casadi.o"]
    rest = [own for own in rest if not str(own).endswith("example.cpp")]
    library = place / "lib.so"
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", *rest, "-o", library], check=True)
    return casadi.external(name, str(library))


@pytest.mark.parametrize(
    ("functions", "values", "gradients"),
    [
        (("dfd", "minv"), ("qdd",), [("dqdd_dq", "dqdd_dqd", "Minv")]),
        (("m", "did"), ("tau",), [("dtau_dq", "dtau_dqd", "M")]),
        (("step",), ("q_next", "qd_next"), []),
    ],
)
def test_values_and_jacobians(
    functions: tuple[str, ...], values: Any, gradients: Any, tmp_path: Path
) -> None:
    """Beside the golden model; where an input is not given it is zero."""
    made = external("pendulum", functions, tmp_path)
    design, robot = load("pendulum", functions=functions)
    arrays = states("pendulum", 5, functions=functions)
    takes = ("q", "qd", "qdd" if "did" in functions else "tau")
    expected = golden_model(design, robot, checked(design, robot, arrays))
    jacobian, names = made.jacobian(), [made.name_out(k) for k in range(made.n_out())]
    assert [made.name_in(k) for k in range(3)] == list(takes)
    assert names == list(values)
    for k in range(5):
        state = [arrays[name][k] for name in takes]
        found = [np.array(own)[:, 0] for own in made.call(state)]
        blocks = [np.array(own) for own in jacobian.call([*state, *found])]
        if not gradients:
            A, B = expected["A"][k], expected["B"][k]
            wanted = [A[:2, :2], A[:2, 2:], B[:2], A[2:, :2], A[2:, 2:], B[2:]]
        else:
            wanted = [expected[name][k] for name in gradients[0]]
        for own, right in zip(found, (expected[name][k] for name in names), strict=True):
            np.testing.assert_allclose(own, right, rtol=1e-10, atol=1e-10)
        for own, right in zip(blocks, wanted, strict=True):
            np.testing.assert_allclose(own, right, rtol=1e-9, atol=1e-9)
    given = made(**{takes[0]: arrays[takes[0]][0]})[names[0]]
    zeros = np.zeros(2)
    np.testing.assert_array_equal(given, made.call([arrays["q"][0], zeros, zeros])[0])
    assert jacobian.name_out(1) == f"jac_{names[0]}_{takes[1]}"


def test_a_base_that_floats_has_none(tmp_path: Path) -> None:
    """Its q is no vector of nv."""
    choices: dict[str, Any] = {"functions": ("dfd", "minv"), "base": "floating"}
    robot = str(Path(__file__).parents[1] / "robots" / "swinger.urdf")
    made = api.generate(robot, tmp_path / "made", to="cpp", **choices).folder
    assert not list(made.glob("*casadi*"))
