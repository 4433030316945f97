"""Whole turns of a controller's angles: of joints without limits they change nothing, and a joint
with limits goes back the way it came."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.design.bounds import bounds
from rbdgen.design.design import Design, canonical_of
from rbdgen.design.gains import gains_of
from rbdgen.design.loading import load
from rbdgen.dynamics.interface import turning_inputs
from rbdgen.robot.angles import endless
from rbdgen.robot.model import JointKind, Limits
from tests.robot.test_wrapping import follower

PENDULUM = Path("robots/pendulum.urdf")
# Model → the largest difference [N·m] that its numbers leave, of efforts up to 20.
MODELS = {"golden": 1e-9, "float": 1e-9, "cpp": 1e-9, "cuda-on-cpu": 1e-9, "fixed": 0.05, "c": 0.05}
QUICK = ["golden", "float", "fixed"]
WAYS = [("impedance", own) for own in MODELS] + [("computed_torque", own) for own in QUICK]


def states(turns: float = 0, n: int = 40) -> dict[str, np.ndarray]:
    """States near a reference that lies across ±π for some, the reference so many turns on."""
    rng = np.random.default_rng(7)
    q = rng.uniform(-np.pi, np.pi, (n, 2))
    found = {"q": q, "q_ref": np.remainder(q + rng.uniform(-0.1, 0.1, (n, 2)) + np.pi, 2 * np.pi)}
    found["q_ref"] += 2 * np.pi * turns - np.pi
    return found | {name: rng.uniform(-1, 1, (n, 2)) for name in ("qd", "qd_ref", "qdd_ref")}


@pytest.mark.parametrize(("law", "model"), WAYS)
def test_turns_of_joints_without_limits_change_nothing(law: str, model: str) -> None:
    choices: dict[str, Any] = {"functions": law, "fit": False}
    right = api.evaluate("pendulum", states(), **choices)["tau_c"]
    assert np.abs(right).max() > 5
    ways = [states(turns) for turns in (0, -2, 2, 40)]
    ways.append(states() | {"q": states()["q"] - 4 * np.pi})
    together = {name: np.concatenate([own[name] for own in ways]) for name in ways[0]}
    found = api.evaluate("pendulum", together, model, **choices)["tau_c"]
    assert np.abs(found - np.tile(right, (len(ways), 1))).max() < MODELS[model]


def test_c_in_float_has_the_same_turns() -> None:
    choices: dict[str, Any] = {"functions": "impedance", "real": "float"}
    right = api.evaluate("pendulum", states(), functions="impedance")["tau_c"]
    found = api.evaluate("pendulum", states(2), "c", **choices)["tau_c"]
    assert np.abs(found - right).max() < 1e-3


@pytest.mark.parametrize("model", QUICK[:2])
def test_four_pi_less_a_little_is_a_little_less(model: str) -> None:
    """Of kp 100: -1 N·m beside what holds the arm where it is."""
    still = np.zeros((1, 2))
    state = dict.fromkeys(("q", "qd", "qd_ref", "qdd_ref"), still)
    choices: dict[str, Any] = {"functions": "impedance", "kp": 100.0}
    for sign in (1, -1):
        state["q_ref"] = np.array([[sign * (4 * np.pi - 0.01), 0.0]])
        tau = api.evaluate("pendulum", state, model, **choices)["tau_c"]
        np.testing.assert_allclose(tau, [[-sign, 0.0]], atol=1e-9)


def limited(folder: Path, lower: float, upper: float) -> str:
    """The pendulum, whose shoulder has limits."""
    text = PENDULUM.read_text()
    before = '<joint name="shoulder" type="continuous">'
    assert before in text
    text = text.replace(before, before.replace("continuous", "revolute"))
    text = text.replace("<limit ", f'<limit lower="{lower}" upper="{upper}" ', 1)
    file = folder / "limited.urdf"
    file.write_text(text)
    return str(file)


@pytest.mark.parametrize("model", QUICK)
def test_a_joint_with_limits_goes_back_the_way_it_came(tmp_path: Path, model: str) -> None:
    """From 1.9 π to -1.9 π that is by -3.8 π, though 0.2 π were the shorter way."""
    robot = limited(tmp_path, -2 * np.pi, 2 * np.pi)
    choices: dict[str, Any] = {"functions": "impedance", "kp": 1, "kd": 1, "fit": False}
    still = np.zeros((1, 2))
    state = dict.fromkeys(("qd", "qd_ref", "qdd_ref"), still)
    state["q"] = np.array([[1.9 * np.pi, 0.0]])
    there, here = (
        api.evaluate(robot, state | {"q_ref": own}, model, **choices)["tau_c"]
        for own in (-state["q"], state["q"])
    )
    assert there[0, 0] - here[0, 0] == pytest.approx(-3.8 * np.pi, abs=0.02)


def test_what_words_cannot_hold_is_refused(tmp_path: Path) -> None:
    robot = limited(tmp_path, -2 * np.pi, 2 * np.pi)
    state = states(1) | {"q_ref": np.full((40, 2), 20.0)}
    with pytest.raises(api.InputError, match=r"q_ref\[0\]"):
        api.evaluate(robot, state, "fixed", functions="impedance", fit=False)


def test_limits_within_a_turn_are_limits_too(tmp_path: Path) -> None:
    """Beyond them no angle is taken whole turns back, and words have room for ±π as ever."""
    design, read = load(limited(tmp_path, -2.5, 2.5), functions="impedance")
    canonical = canonical_of(design)(read)
    gains = gains_of(design, canonical)
    assert gains is not None and gains.around == {1}
    assert turning_inputs(design, canonical) == {"q[1]": 1, "q_ref[1]": 1}
    box = bounds(design, canonical)
    assert box.q_upper.tolist() == [np.pi, np.pi]


def test_a_joint_that_another_follows_at_half_its_rate_takes_the_plain_difference() -> None:
    """After a turn of it the other one is elsewhere."""
    free = [
        replace(own, limits=Limits()) if own.kind is JointKind.REVOLUTE else own
        for own in follower(0.5).joints
    ]
    robot = replace(follower(0.5), joints=tuple(free))
    assert endless(robot) == frozenset()
    gains = gains_of(Design("", functions=("impedance",)), robot)
    assert gains is not None and gains.around == frozenset()
    assert endless(replace(robot, joints=tuple(free[:-1]))) == {1}
