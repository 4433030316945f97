"""Functions as CasADi's externals: values, Jacobians, and an optimal control problem in IPOPT."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.evaluation import checked
from rbdgen.api.recorded_states import states
from rbdgen.api.reference import golden_model
from rbdgen.design.loading import load

casadi = pytest.importorskip("casadi")
pinocchio = pytest.importorskip("pinocchio")
ROBOTS = Path(__file__).parents[2] / "robots"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


def external(robot: str, functions: tuple[str, ...], place: Path) -> Any:
    """The function of a folder, compiled: the C by gcc, in C99, the rest for this processor. The C
    is C++, too, as one command compiles all."""
    made = api.generate(robot, place / "made", to="cpp", functions=functions).folder
    (source,) = made.glob("*_casadi.c")
    name = source.stem
    command = ["gcc", "-std=c99", *WARNINGS, "-fPIC", "-c", source, "-o", place / "casadi.o"]
    subprocess.run(command, check=True)
    subprocess.run(["g++", *WARNINGS, "-fsyntax-only", source], check=True)
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


def newton_euler(model: Any, q: Any, qd: Any, qdd: Any) -> Any:
    """τ of a chain of joints about z, in CasADi's symbols, from Pinocchio's placements."""
    turned = [casadi.SX(own) for own in np.zeros((2, 3))]
    w, dw = turned
    a, z = casadi.SX(-model.gravity.linear), casadi.SX([0.0, 0.0, 1.0])
    cross, kept = casadi.cross, []
    for k in range(model.nv):
        assert model.joints[k + 1].shortname() == "JointModelRZ"
        at, inertia = model.jointPlacements[k + 1], model.inertias[k + 1]
        c, s = casadi.cos(q[k]), casadi.sin(q[k])
        R = casadi.SX(at.rotation) @ casadi.vertcat(
            casadi.horzcat(c, -s, 0), casadi.horzcat(s, c, 0), casadi.horzcat(0, 0, 1)
        )
        p = casadi.SX(at.translation)
        a = R.T @ (a + cross(dw, p) + cross(w, cross(w, p)))
        before = R.T @ w
        dw = R.T @ dw + z * qdd[k] + cross(before, z * qd[k])
        w = before + z * qd[k]
        center, about = casadi.SX(inertia.lever), casadi.SX(inertia.inertia)
        f = inertia.mass * (a + cross(dw, center) + cross(w, cross(w, center)))
        n = about @ dw + cross(w, about @ w) + cross(center, f)
        kept.append((R, p, f, n))
    tau, f, n = [], casadi.SX(3, 1), casadi.SX(3, 1)
    for k in reversed(range(model.nv)):
        R, p, own_f, own_n = kept[k]
        f, n = own_f + f, own_n + n
        tau.append(n[2])
        f = R @ f
        n = R @ n + cross(p, f)
    return casadi.vertcat(*tau[::-1])


def symbolic(model: Any) -> Any:
    """FD as a function of CasADi's own: M q̈ = τ − bias, M and bias from Newton and Euler."""
    q, qd, tau, qdd = (casadi.SX.sym(name, model.nv) for name in ("q", "qd", "tau", "qdd"))
    needed = newton_euler(model, q, qd, qdd)
    M = casadi.jacobian(needed, qdd)
    bias = casadi.substitute(needed, qdd, casadi.SX.zeros(model.nv))
    found = casadi.solve(M, tau - bias)
    return casadi.Function("fd", [q, qd, tau], [found], ["q", "qd", "tau"], ["qdd"])


@pytest.mark.slow
def test_an_arm_reaches_in_as_many_iterations(tmp_path: Path) -> None:
    """The same solution as over dynamics in CasADi's own symbols, within one iteration of it."""
    model = pinocchio.buildModelFromUrdf(str(ROBOTS / "iiwa14.urdf"))
    own, ours = symbolic(model), external("iiwa14", ("dfd", "minv"), tmp_path)
    rng = np.random.default_rng(1)
    q, qd, tau = rng.uniform(-1, 1, (3, model.nv))
    right = pinocchio.aba(model, model.createData(), q, qd, tau)
    for fd in (own, ours):
        np.testing.assert_allclose(np.array(fd(q, qd, tau))[:, 0], right, rtol=1e-9, atol=1e-9)
    still = np.zeros(model.nv)
    hold = pinocchio.rnea(model, model.createData(), still, still, still)
    from rbdgen_benchmarks.bench.casadi_problems import reach  # which imports CasADi

    theirs, mine = (reach(fd, model.nv, hold)() for fd in (own, ours))
    assert theirs[0] > 5 and abs(theirs[0] - mine[0]) <= 1
    assert mine[1] == pytest.approx(theirs[1], rel=1e-9)
    np.testing.assert_allclose(mine[2], theirs[2], rtol=1e-6, atol=1e-6)
