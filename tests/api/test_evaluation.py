"""A batch of states through every model: they agree as they promise, and say what they refuse."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.codegen.hls_program import NoHeaders
from rbdgen.design.choices import MODELS
from rbdgen.design.loading import load
from rbdgen.system.templates import data_folder

ROBOT = "gantry"
N = 50


def states(n: int = N) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    facts = {"q": 0.3, "qd": 0.5, "qdd": 2.0}
    return {name: rng.uniform(-size, size, (n, 5)) for name, size in facts.items()}


def test_golden_is_float_and_nearly_fixed() -> None:
    golden, floating, fixed = (
        api.evaluate(ROBOT, states(), m, width=18) for m in ("golden", "float", "fixed")
    )
    for result in (golden, floating, fixed):
        assert result["tau"].shape == (N, 5)
        assert result["joint_names"].tolist() == api.info(ROBOT)["joint_names"]
    np.testing.assert_allclose(floating["tau"], golden["tau"], rtol=1e-10, atol=1e-9)
    error = np.sqrt(np.mean((fixed["tau"] - golden["tau"]) ** 2, axis=0))
    assert (error < 1e-3 * np.sqrt(np.mean(golden["tau"] ** 2, axis=0))).all()
    assert (fixed["tau"] != golden["tau"]).any()
    assert fixed["overflow"].shape == (N, 5)
    assert not fixed["overflow"].any()


def test_the_graph_of_a_design_with_registers_is_of_the_robot_itself() -> None:
    given = {name: values[:, :2] for name, values in states(5).items()}
    golden, floating, fixed = (
        api.evaluate("pendulum", given, m, parameters="registers", width=18, fit=False)["tau"]
        for m in ("golden", "float", "fixed")
    )
    np.testing.assert_allclose(floating, golden, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(fixed, golden, atol=1e-3 * np.abs(golden).max())


@pytest.mark.parametrize("language", ["c", "hls"])
def test_programs_of_words_are_the_integer_model(language: str) -> None:
    """The text that generate writes, compiled: every result and flag."""
    given = api.states("pendulum", N, functions=("fd", "id"))
    fixed, found = (
        api.evaluate("pendulum", given, m, functions=("fd", "id")) for m in ("fixed", language)
    )
    assert found.keys() == fixed.keys()
    for name, values in fixed.items():
        np.testing.assert_array_equal(found[name], values)


def test_hls_without_its_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(NoHeaders, match=r"^no ap_int\.h; .* pip install da4ml$"):
        api.evaluate(ROBOT, states(), "hls")


@pytest.mark.rtl
@pytest.mark.slow
def test_rtl_is_fixed_in_every_bit() -> None:
    choices = {"width": 12, "external_forces": api.info("pendulum")["body_names"][-1]}
    given = {k: v[:, :2] for k, v in states().items()}
    given["q"][:3] = [[3.9, -3.95], [50.0, 6.08], [4.0, -4.0]]  # beyond a turn, too
    given["f_ext"] = np.zeros((N, 2, 6))
    given["f_ext"][:, -1] = np.random.default_rng(2).uniform(-5, 5, (N, 6))
    fixed, rtl = (api.evaluate("pendulum", given, model, **choices) for model in ("fixed", "rtl"))
    assert set(fixed) == set(rtl) == {"tau", "overflow", "overflow_names", "joint_names"}
    for name in fixed:
        np.testing.assert_array_equal(rtl[name], fixed[name])
    without = api.evaluate("pendulum", {**given, "f_ext": np.zeros((N, 2, 6))}, **choices)
    assert (np.abs(without["tau"] - fixed["tau"]) > 1e-2).any()


def test_golden_has_no_need_of_hardware() -> None:
    """A floating base: one more velocity than the joints, six times; a quaternion in q."""
    rng = np.random.default_rng(3)
    quaternion = rng.normal(size=(N, 4))
    quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    given = {"q": np.hstack([rng.normal(size=(N, 3)), quaternion, rng.normal(size=(N, 2))])}
    given |= {name: rng.normal(size=(N, 8)) for name in ("qd", "qdd")}
    result = api.evaluate("pendulum", given, "golden", base="floating")
    assert result["tau"].shape == (N, 8)


def test_unknown_model() -> None:
    known = ", ".join(MODELS)
    with pytest.raises(api.InputError, match=f"no model 'silver'; one of {known}"):
        api.evaluate(ROBOT, states(), "silver")


def test_no_states_at_all() -> None:
    for model in ("golden", "float", "fixed"):
        assert api.evaluate(ROBOT, states(0), model)["tau"].shape == (0, 5)


@pytest.mark.parametrize("model", ["golden", "float", "fixed"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qd": None}, r"--function id needs qd; the input has q, qdd"),
        ({"q": np.zeros((N, 4))}, r"q is float64 \(50, 4\); expected numbers \(N, 5\)"),
        ({"q": np.zeros(5)}, r"q is float64 \(5,\); expected numbers \(N, 5\)"),
        ({"q": np.array(0.0)}, r"q is float64 \(\); expected numbers \(N, 5\)"),
        ({"q": np.full((N, 5), "x")}, r"q is <U1 \(50, 5\); expected numbers"),
        ({"qd": np.zeros((N - 1, 5))}, "qd has 49 states, q has 50"),
        ({"qdd": np.full((N, 5), np.nan)}, "qdd of state 0 is not finite"),
        ({"f_ext": np.zeros((N, 5, 3))}, r"f_ext is float64 \(50, 5, 3\); expected .*\(N, 5, 6\)"),
    ],
)
def test_wrong_arrays(model: str, change: dict[str, np.ndarray | None], message: str) -> None:
    given = {k: v for k, v in (states() | change).items() if v is not None}
    with pytest.raises(api.InputError, match=message):
        api.evaluate(ROBOT, given, model)


def test_outside_the_words() -> None:
    given = states()
    given["qdd"][7, 2] = -1e4
    with pytest.raises(api.InputError, match=r"qdd\[2\] of state 7 is -10000, outside ±\d+"):
        api.evaluate(ROBOT, given, "fixed")
    api.evaluate(ROBOT, given, "float")


TURNED = 2 * np.pi * np.array([1, -1, 3, 1000])


@pytest.mark.parametrize("choices", [{}, {"angles": "sincos"}, {"fold": "joints", "ii": 8}])
def test_angles_wrap(choices: dict[str, Any]) -> None:
    """Any angle of a joint that turns: 6.08 rad is within the limits of common arms."""
    rng = np.random.default_rng(4)
    given = {name: rng.uniform(-1, 1, (4, 2)) for name in ("q", "qd", "qdd")}
    given["q"][0] = 6.08, 3.9
    moved = {**given, "q": given["q"] + TURNED[:, None]}
    golden, fixed, there = (
        api.evaluate("pendulum", state, model, width=18, **choices)
        for state, model in ((given, "golden"), (given, "fixed"), (moved, "fixed"))
    )
    assert not there["overflow"].any()
    np.testing.assert_allclose(fixed["tau"], golden["tau"], rtol=0, atol=2e-3)
    np.testing.assert_allclose(there["tau"], fixed["tau"], rtol=0, atol=2e-3)
    largest = {**given, "q": np.array([[1e9, -1e15], [1e300, 4.0], [-4.0, np.pi], [0, 2e5]])}
    found, exact = (
        api.evaluate("pendulum", largest, m, width=18, **choices) for m in ("fixed", "golden")
    )
    np.testing.assert_allclose(found["tau"], exact["tau"], rtol=0, atol=2e-3)


def test_slides_do_not_wrap() -> None:
    given = states()
    given["q"][3, 0] = 50.0
    with pytest.raises(api.InputError, match=r"q\[0\] of state 3 is 50, outside ±\d+"):
        api.evaluate(ROBOT, given, "fixed")
    given["q"][3, 0], given["q"][3, 3] = 0.0, 50.0  # a wrist
    api.evaluate(ROBOT, given, "fixed")
    given["q"][3, 3] = np.inf
    with pytest.raises(api.InputError, match="q of state 3 is not finite"):
        api.evaluate(ROBOT, given, "fixed")


def test_an_angle_whose_turns_another_joint_follows_does_not_wrap(tmp_path: Path) -> None:
    """A turn of the first is half a turn of the second, so 4.1 rad is not 4.1 - 2π."""
    source = (data_folder("robots") / "pendulum.urdf").read_text()
    first = load("pendulum")[1].joint_names[0]
    head, mark, tail = source.rpartition("</joint>")
    robot = tmp_path / "geared.urdf"
    robot.write_text(f'{head}<mimic joint="{first}" multiplier="0.5"/>{mark}{tail}')
    given = {name: np.full((1, 1), 0.5) for name in ("qd", "qdd")}
    with pytest.raises(api.InputError, match=r"q\[0\] of state 0 is 4.1, outside ±4"):
        api.evaluate(str(robot), {**given, "q": np.full((1, 1), 4.1)}, "fixed")
    for q in (3.9, 3.9 + 4 * np.pi, 4.1 + 2 * np.pi):  # two turns of it change nothing
        state = {**given, "q": np.full((1, 1), q)}
        golden, fixed = (api.evaluate(str(robot), state, m, width=18) for m in ("golden", "fixed"))
        np.testing.assert_allclose(fixed["tau"], golden["tau"], rtol=0, atol=2e-3)


def test_force_where_there_is_no_input() -> None:
    given = states() | {"f_ext": np.zeros((N, 5, 6))}
    api.evaluate(ROBOT, given, "fixed")
    given["f_ext"][3, 1, 2] = 1.0
    name = api.info(ROBOT)["body_names"][1]
    with pytest.raises(api.InputError, match=f'f_ext acts on "{name}", which has no force input'):
        api.evaluate(ROBOT, given, "fixed")
    api.evaluate(ROBOT, given, "golden")
