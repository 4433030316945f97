"""A step of integration in words, against the same in floating point; rollouts of whole robots."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rbdgen.api.reference import golden_model
from rbdgen.api.stimulus import inputs_of, within_limits
from rbdgen.dynamics.interface import from_columns
from rbdgen.golden.step import euler_step, rk4_step
from rbdgen.graph.fixed import FixedGraph, Format, evaluate_fixed
from rbdgen.graph.node import Op
from rbdgen.robot.model import RobotError
from rbdgen.tasks.integration import (
    LONGEST,
    STEP,
    STEP_43,
    Coordinate,
    integration,
    turn_flags,
)
from rbdgen.tasks.model import evaluate_task
from tests.support.made import accelerate
from tests.support.marks import slow

SWINGER = str(Path(__file__).parents[1] / "robots" / "swinger.urdf")

Array = NDArray[np.float64]
Q, V, A = Format(30, 27), Format(30, 25), Format(18, 12)
RULES = {"euler": (euler_step, 1), "rk4": (rk4_step, 4)}


def swing(q: Array, v: Array) -> Array:
    return -9.0 * np.sin(q) - 0.1 * v


def in_words(
    fixed: FixedGraph, rule: str, q: Array, v: Array, h: float, steps: int
) -> tuple[Array, Array]:
    n = len(q)
    state = {"q0[0]": Q.quantize(q), "v0[0]": V.quantize(v), "v[0]": V.quantize(v)}
    state |= {"aq[0]": np.zeros(n, np.int64), "av[0]": np.zeros(n, np.int64)}
    sizes = {"h[0]": np.full(n, STEP.quantize(h)), "h[1]": np.full(n, STEP_43.quantize(4 * h / 3))}
    for turn in range(steps * RULES[rule][1]):
        flags = {k: np.full(n, f) for k, f in turn_flags(turn % 4, rule == "euler").items()}
        words = state | flags | sizes | {"qdd[0]": A.quantize(swing(q, v))}
        found = evaluate_fixed(fixed, words)
        assert not found.overflowed
        out = found.outputs
        state = {name: out[name] for name in ("q0[0]", "v0[0]", "aq[0]", "av[0]")}
        state["v[0]"] = out["qd[0]"]
        q, v = Q.real(out["q[0]"]), V.real(out["qd[0]"])
    return q, v


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("turns", [True, False])
def test_steps_are_those_of_the_rule(rule: str, turns: bool) -> None:
    """200 steps of 2 ms, to what 18-bit accelerations allow; round the circle and back."""
    fixed = integration([Coordinate(0, 2, 4, A, turns)], 18)
    h = round(0.002 * 2**22) / 2**22
    q, v = np.array([0.5, -2.0, 3.0, -1.0]), np.array([1.0, 2.0, 6.0 * turns, -1.0])
    found = in_words(fixed, rule, q, v, h, 200)
    step: Callable[..., tuple[Array, Array]] = RULES[rule][0]
    for _ in range(200):
        q, v = step(swing, (q, v), np.float64(h))
    if turns:
        assert (np.abs(q) > np.pi).any()
        assert (np.abs(found[0]) <= np.pi + 1e-7).all()
        q = (q + np.pi) % (2 * np.pi) - np.pi
    np.testing.assert_allclose(found[0], q, atol=2e-4)
    np.testing.assert_allclose(found[1], v, atol=5e-4)


def test_products_with_a_step_have_room_for_the_longest_and_no_more() -> None:
    """Of h or 4h/3, less than 2^-6 s, with q̈ and with v: one bit less would overflow."""
    coordinate = Coordinate(0, 2, 4, A, False)
    fixed = integration([coordinate], 18)
    products = [fixed.formats[own] for own in fixed.graph.nodes if own.op is Op.MUL]
    reach = {V.fraction: 2.0 ** (coordinate.a - 6), Q.fraction: 2.0 ** (coordinate.v - 6)}
    assert {own.fraction for own in products} == reach.keys()
    for own in products:
        assert own.highest + 1 == reach[own.fraction] * 2**own.fraction
    assert 4 * LONGEST / 3 == 2.0**-6


def test_runge_kutta_is_of_fourth_order() -> None:
    start = np.array([1.0]), np.array([0.5])

    def after(n: int) -> Array:
        state = start
        for _ in range(n):
            state = rk4_step(swing, state, np.float64(1.0 / n))
        return np.concatenate(state)

    exact = after(1024)
    coarse, fine = (np.abs(after(n) - exact).max() for n in (16, 32))
    assert 12 < coarse / fine < 20


@pytest.mark.parametrize("robot", ["pendulum", "gantry", slow("iiwa14")])
@pytest.mark.parametrize("rule", RULES)
def test_rollouts_end_where_the_golden_model_does(robot: str, rule: str) -> None:
    made = accelerate(robot, functions=(rule,), ii=4, target="xcup", accelerator=True)
    state = within_limits(made, 300, 1)
    found, flags = evaluate_task(made.accelerator, rule, inputs_of(made, state)[rule])
    formats = made.accelerator.result_formats[rule]
    ends = from_columns({n: formats[n].real(w) for n, w in found.items()}, made.front.robot.nv)
    expected = golden_model(made.design, made.front.robot, state)
    # a state at the limits may accelerate past them, and is flagged then
    held = ~flags
    assert held.mean() > 0.5
    moved = np.abs(expected["q"] - state["q"]).max()
    off = np.abs(np.remainder(ends["q"] - expected["q"] + np.pi, 2 * np.pi) - np.pi)
    assert off[held].max() < 2e-3 * moved
    np.testing.assert_allclose(ends["qd"][held], expected["qd"][held], atol=1e-3)


@pytest.mark.parametrize(
    ("robot", "choices", "says"),
    [
        (SWINGER, {"base": "floating"}, "is floating"),
        ("pendulum", {"base": "floating"}, "singular mass matrix"),
        ("pendulum", {"angles": "sincos"}, "rk4 integrates angles"),
    ],
)
def test_what_cannot_be_integrated_is_one_line(robot: str, choices: dict, says: str) -> None:
    with pytest.raises(RobotError, match=says):
        accelerate(robot, functions=("rk4",), ii=8, target="xcup", accelerator=True, **choices)


def test_rollouts_are_for_accelerators() -> None:
    with pytest.raises(RobotError, match="task of an accelerator"):
        accelerate("pendulum", functions=("rk4",), accelerator=False)
