"""Limits from recorded states: what they are, what is refused, what is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api, golden
from rbdgen.api.limits_from_log import DIGITS
from rbdgen.api.recorded_states import LEAST
from rbdgen.cli.main import main
from rbdgen.design.loading import load
from rbdgen.robot.limb_unification import rounded_up
from tests.support.standing import hopper, trotting


def recorded(robot: str, n: int = 200) -> dict[str, np.ndarray]:
    """A slow motion of all joints within the robot's limits, with its accelerations."""
    _, model = load(robot)
    t = np.linspace(0, 2, n)
    rng = np.random.default_rng(1)
    size, turn = rng.uniform(0.2, 0.4, (2, model.nv))
    middle = np.array(
        [
            (own.lower + own.upper) / 2 if np.isfinite(own.lower) else 0.0
            for own in (model.joints[i].limits for i in model.free)
        ]
    )
    wave = np.outer(t, 3 * turn)
    return {
        "q": middle + size * np.sin(wave),
        "qd": size * 3 * turn * np.cos(wave),
        "qdd": -size * (3 * turn) ** 2 * np.sin(wave),
    }


def test_limits_are_the_margin_beyond_the_largest(tmp_path: Path) -> None:
    states = recorded("gantry")
    place = tmp_path / "design.yaml"
    found = api.fit("gantry", states, 0.5, place)
    design, robot = load(str(place))
    for k, name in enumerate(robot.joint_names):
        own = design.joint_limits[name]
        for array, key in (("qd", "velocity"), ("qdd", "acceleration")):
            most = np.abs(states[array][:, k]).max()
            most_now = getattr(own, key)
            assert 1.5 * most <= most_now <= 1.5 * most * 1.01
            assert found.joints[name][key][0] == most
            assert found.joints[name][key][2] == most_now
    # of a slide, the way too; of an angle, the whole turn
    low, high = states["q"][:, 0].min(), states["q"][:, 0].max()
    assert design.joint_limits["bridge"].position == pytest.approx(
        (low - 0.5 * (high - low), high + 0.5 * (high - low))
    )
    assert design.joint_limits["wrist_swing"].position is None
    assert found.notes == ["tau was not recorded: it is what qdd takes of the robot."]


def test_words_lose_bits_and_errors(tmp_path: Path) -> None:
    """What is printed is what the file's design has, evaluated by itself."""
    states = recorded("gantry")
    place = tmp_path / "design.yaml"
    found = api.fit("gantry", states, output=place)
    assert found.bits["qd"][1] < found.bits["qd"][0]
    assert found.bits["all that is computed"][1] < found.bits["all that is computed"][0]
    exact = golden.rnea(load("gantry")[1], states["q"], states["qd"], states["qdd"])
    words = api.evaluate(str(place), states, "fixed")
    off = np.sqrt(np.mean((words["tau"] - exact) ** 2, axis=0) / np.mean(exact**2, axis=0))
    assert list(found.errors) == [f"tau[{k}]" for k in range(len(off))]
    assert [now for _, now in found.errors.values()] == pytest.approx(off)
    befores = [before for before, _ in found.errors.values() if before is not None]
    assert max(off) < max(befores) / 2
    assert f"tau[{np.argmax(off)}] {max(off):.1e}\n" in found.as_text()
    assert not words["overflow"].any()


def test_efforts_stand_for_accelerations_and_bound_forward_dynamics() -> None:
    states = recorded("gantry")
    _, robot = load("gantry")
    tau = golden.rnea(robot, states["q"], states["qd"], states["qdd"])
    given = {"q": states["q"], "qd": states["qd"], "tau": tau}
    found = api.fit("gantry", given, functions=("fd",))
    for k, name in enumerate(robot.joint_names):
        most, _, now = found.joints[name]["effort"]
        assert most == np.abs(tau[:, k]).max()
        assert now is not None
        assert now >= 1.25 * most
        assert found.joints[name]["acceleration"][0] == pytest.approx(
            np.abs(states["qdd"][:, k]).max()
        )


def test_a_joint_that_did_not_move_keeps_its_limits() -> None:
    states = recorded("gantry")
    for array in states.values():
        array[:, 4] = 0.0
    found = api.fit("gantry", states)
    assert found.joints["wrist_swing"] == {}
    assert "wrist_swing: did not move, and keep their limits." in found.notes


def changed(**arrays: Any) -> dict[str, Any]:
    return recorded("gantry") | arrays


def wrong(array: str, state: int, joint: int, value: float) -> dict[str, Any]:
    states = recorded("gantry")
    states[array][state, joint] = value
    return states


REFUSED = [
    (wrong("qd", 7, 2, np.nan), r"qd\[2\] of state 7 is nan"),
    (wrong("qdd", 0, 0, np.inf), r"qdd\[0\] of state 0 is inf"),
    (wrong("qd", 7, 0, 5.0), "qd of bridge in state 7 is 5, and the robot's file has -2 to 2"),
    (wrong("q", 3, 2, 9.0), "q of mast in state 3 is 9, and the robot's file has 0 to 1.2"),
    (changed(qd=np.zeros((200, 4))), r"qd: shape \(200, 4\), not \(N, 5\) numbers"),
    (changed(qd=np.zeros((9, 5))), "not as many of each array: q 200, qd 9, qdd 200"),
    (changed(velocity=np.zeros((200, 5))), "velocity: no array of states"),
    ({"q": np.zeros((200, 5))}, "need q and some of qd, qdd, tau"),
    (recorded("gantry", LEAST - 1), "99 are too few to set limits by; at least 100"),
    (changed(joint_names=np.array(["a"])), "joint_names: a, and the robot's are bridge"),
]


@pytest.mark.parametrize(("states", "said"), REFUSED)
def test_what_is_refused(states: dict[str, Any], said: str, tmp_path: Path) -> None:
    place = tmp_path / "design.yaml"
    with pytest.raises(api.InputError, match=said) as caught:
        api.fit("gantry", states, output=place)
    assert "\n" not in str(caught.value)
    assert not place.exists()


@pytest.mark.parametrize("none", ["0", "-1", "1000"])
def test_velocities_that_say_none_refuse_no_recording(none: str, tmp_path: Path) -> None:
    file, place = tmp_path / "double.urdf", tmp_path / "design.yaml"
    own = Path(load("pendulum")[0].robot).read_text()
    file.write_text(re.sub(r'velocity="[^"]*"', f'velocity="{none}"', own))
    states = recorded("pendulum")
    api.fit(str(file), states, 0.5, place)
    most = 1.5 * np.abs(states["qd"]).max(axis=0)
    found = [load(place)[0].joint_limits[name].velocity for name in ("shoulder", "elbow")]
    assert found == pytest.approx(most.tolist(), rel=0.01)


def test_margins_are_shares() -> None:
    for margin in (-0.1, np.nan, np.inf):
        with pytest.raises(api.InputError, match="margin"):
            api.fit("gantry", recorded("gantry"), margin)


def test_rounding_up() -> None:
    for value in (0.0012345, 1.0, 9.999, 123456.0, 2.3):
        assert value <= rounded_up(value, DIGITS) <= value * 1.01


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("log.npz", **recorded("gantry"))
    assert main(["fit", "gantry", "log.npz", "-o", "fitted.yaml", "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "200 states; limits are 25 % beyond the largest of them" in said
    assert "wrist_swing" in said
    first = Path("fitted.yaml").read_text()
    assert main(["fit", "gantry", "log.npz", "-o", "fitted.yaml", "--quiet"]) == 0
    assert Path("fitted.yaml").read_text() == first
    assert main(["info", "fitted.yaml", "--quiet"]) == 0


@pytest.mark.slow
def test_what_holds_frames_is_recorded(tmp_path: Path) -> None:
    """Forces of a hopper that stands and hops are limits, and neither flagged nor far off then."""
    choices: dict[str, Any] = {
        "functions": ("cfd",),
        "frames": ("only_foot",),
        "contact_damping": 0.01,
    }
    path, place = hopper(tmp_path), tmp_path / "design.yaml"
    _, robot = load(path, **choices)
    states = trotting(robot, choices["frames"], 200, 60.0, 0.01, 3)
    states = {name: states[name] for name in ("q", "qd", "tau")}
    exact = golden.constraint_dynamics(robot, *states.values(), choices["frames"], 3, 0.01)
    found = api.fit(path, states, 0.25, place, **choices)
    most, before, now = found.joints["held frames"]["contact_force"]
    assert most == pytest.approx(np.abs(exact.forces).max())
    assert before == pytest.approx(1.5 * 6.8 * 9.81)
    assert most is not None and now == rounded_up(1.25 * most, DIGITS)
    assert load(str(place))[0].limits.contact_force == now
    assert found.joints["only_knee"]["acceleration"][0] == np.abs(exact.qdd[:, 2]).max()
    fitted = api.evaluate(str(place), states, "fixed")
    assert not fitted["overflow"].any()
    error = np.abs(fitted["lambda_c"] - exact.forces).max()
    assert error < 5e-3 * np.abs(exact.forces).max()
    (note,) = (note for note in found.notes if "qdd" in note)
    assert note.endswith("what tau makes of the robot, its frames held.")
