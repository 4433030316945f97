"""M⁻¹ from that of a state nearby: exact where it is near, and said where it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.design.design import Design
from rbdgen.design.loading import load
from rbdgen.dynamics.block_inverse import FARTHEST, LEFT_OUT
from rbdgen.dynamics.interface import from_columns, random_inputs, to_columns
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.verify import verify
from rbdgen.passes.identities import identities
from rbdgen.passes.sums import factor
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import Array, Robot, RobotError
from tests.support.random_robots import ALL_KINDS
from tests.support.traced import TOLERANCE, State, drawn, expected, some_robot

CLOSE = 1e-4  # of M⁻¹: the fourth power is beyond double


def results(robot: Robot, functions: list[str], state: State) -> dict[str, Array]:
    canonical = canonicalize(robot)
    graph = trace(
        canonical,
        functions,
        external_forces=canonical.moving,
        formulation="logarithmic",
        inverse="near",
    )
    anything = random_inputs(canonical, graph.inputs, 4, 0, 0.1)
    graph = verify(factor(identities(verify(graph), anything)))
    assert graph.operations()["recip"] == 0
    return from_columns(evaluate(graph, to_columns(canonical, graph.inputs, state)), robot.nv)


@pytest.mark.parametrize(
    ("functions", "seed", "choices"),
    [
        ("dfd,minv,did", 0, {"kinds": ALL_KINDS, "fixed": 0.2}),
        ("minv", 3, {"kinds": ALL_KINDS, "floating_base": True}),
        ("fd", 0, {"floating_base": True}),
        ("dfd", 4, {"mimic": 0.4}),
        ("fd,minv", 3, {"mimic": 0.4}),
    ],
)
def test_any_joints(functions: str, seed: int, choices: dict[str, Any]) -> None:
    """Exact: the inverse that comes in is off by a ten-thousandth of each axis of M."""
    robot = some_robot(seed, **choices)
    state = drawn(robot, seed)
    true = {name: a for f in functions.split(",") for name, a in expected(robot, f, state).items()}
    off = np.random.default_rng(seed).uniform(-CLOSE, CLOSE, (robot.nv, 1))
    state["Minv"] = (1 + off) * state["Minv"] * (1 + off.T)
    found = results(robot, functions.split(","), state)
    assert not found.pop("far").any()
    assert set(found) <= set(true)
    for name, reference in true.items():
        actual = found.get(name, np.zeros_like(reference))
        scale = max(np.abs(reference).max(), 1e-3)
        assert np.abs(actual - reference).max() <= TOLERANCE * scale, name


@pytest.mark.parametrize("name", ["iiwa14", "hyq", "gantry"])
def test_what_is_promised(name: str) -> None:
    """In the metric of kinetic energy no more is left out than is said, and the flag says where."""
    robot = load(name)[1]
    rng, n = np.random.default_rng(2), 200
    q = golden.random_state(robot, n, rng).q
    M = golden.crba(robot, q)
    X = golden.minv(robot, q + rng.uniform(-1, 1, q.shape) * np.geomspace(1e-3, 0.3, n)[:, None])
    found = results(robot, ["minv"], {"q": q, "Minv": X})
    L = np.linalg.cholesky(M)
    E = np.eye(robot.nv) - L.swapaxes(1, 2) @ X @ L
    size = np.linalg.norm(E, axis=(1, 2))
    assert ((found["far"] == 1) == (size > FARTHEST)).all()
    assert 0 < found["far"].sum() < n
    left = np.eye(robot.nv) - L.swapaxes(1, 2) @ found["Minv"] @ L
    worst = np.linalg.norm(left, 2, axis=(1, 2))
    assert (worst <= 1.001 * size**4 + 1e-9).all()
    assert worst[found["far"] == 0].max() <= LEFT_OUT


def test_refused() -> None:
    near: dict[str, Any] = {"formulation": "logarithmic", "inverse": "near"}
    for choices, said in (
        ({"functions": ("fd",), "formulation": "composite"}, "near is for formulation logarithmic"),
        ({"functions": ("id",)}, "near is for fd, minv, dfd, step, not id"),
        ({"functions": ("dfd", "difd")}, "difd takes M⁻¹ itself"),
        ({"functions": ("dfd",), "factorisation": "blocks"}, "near factorises nothing"),
        ({"functions": ("dfd",), "nearby": 0}, "nearby: a step above 0"),
        ({"functions": ("dfd",), "inverse": "computed", "nearby": 0.1}, "0.1 is for inverse near"),
    ):
        with pytest.raises(RobotError, match=said):
            Design("arm.urdf", **(near | choices))
