"""What the driver refuses, and what it warns of."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api import InputError, OutputError
from rbdgen.api.folder import sealed
from rbdgen_host.driver import BACKENDS, Dynamics, OverflowWarning
from tests.support.driver_designs import ALL, NAME, call, states


def extreme(n: int) -> dict[str, np.ndarray]:
    """At the ends of the words of velocity and acceleration, where sums overflow, but the first."""
    state = states(NAME, n, 9)
    rng = np.random.default_rng(9)
    for name, ends in (("v", [3.9, 3.9, 3.9, 15.9, 15.9]), ("a", [7.9, 7.9, 7.9, 31.9, 31.9])):
        state[name][1:] = rng.choice([-1, 1], (n - 1, 5)) * np.array(ends)
    return state


@pytest.fixture(scope="module")
def narrow() -> Dynamics:
    return Dynamics(NAME, "integer", functions=("id", "m"), on_overflow="ignore", width=12)


def test_overflow_is_said(narrow: Dynamics, monkeypatch: pytest.MonkeyPatch) -> None:
    state = extreme(40)
    ticket = narrow.submit("rnea", state["q"], state["v"], state["a"])
    wrong = ticket.overflow
    assert wrong.any()
    assert not wrong[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ticket.result()
    said = rf"rnea: {wrong.sum()} of 40 states overflowed, the first is {np.argmax(wrong)}"
    monkeypatch.setattr(narrow, "on_overflow", "raise")
    with pytest.raises(OverflowError, match=said):
        ticket.result()
    monkeypatch.setattr(narrow, "on_overflow", "warn")
    with pytest.warns(OverflowWarning, match=said):
        ticket.result()


def test_saturated_inputs_count_as_overflow() -> None:
    state = states(NAME, 3, 10)
    state["a"][1, 2] = 1e4
    choices = {"functions": ("id",), "width": 12}
    driver = Dynamics(NAME, "integer", outside="saturate", on_overflow="ignore", **choices)
    assert driver.submit("rnea", state["q"], state["v"], state["a"]).overflow.tolist() == [
        False,
        True,
        False,
    ]


def test_a_quaternion_has_norm_one() -> None:
    driver = Dynamics("hyq", "golden", base="floating")
    q, v = np.zeros(19), np.zeros(18)
    with pytest.raises(InputError, match=r"q of state 0: the quaternion .* has norm 0; expected 1"):
        driver.rnea(q, v, v)
    q[6] = 1 + 1e-4  # as sums and products leave it
    exact = q.copy()
    exact[6] = 1.0
    np.testing.assert_array_equal(driver.rnea(q, v, v), driver.rnea(exact, v, v))


def change(name: str, value: Any, at: Any = ...) -> dict[str, Any]:
    state: dict[str, Any] = states(NAME, 8, 11)
    state[name] = np.array(state[name])
    state[name][at] = value
    return state


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (
            states(NAME, 8, 11) | {"v": np.zeros((8, 4))},
            r"rnea: v is float64 \(8, 4\); expected numbers \(5,\) or \(N, 5\)",
        ),
        (
            states(NAME, 8, 11) | {"a": np.zeros((7, 5))},
            r"rnea: a is \(7, 5\); q is \(8, 5\), which is another number of states",
        ),
        (
            states(NAME, 8, 11) | {"a": np.zeros(5)},
            r"rnea: a is \(5,\); q is \(8, 5\), which is another number of states",
        ),
        (states(NAME, 8, 11) | {"q": [["x"] * 5]}, r"rnea: q is <U1 \(1, 5\); expected numbers"),
        (change("v", np.nan, (6, 3)), r"rnea: v\[3\] of state 6 is nan"),
        (change("q", np.inf, (0, 1)), r"rnea: q\[1\] of state 0 is inf"),
    ],
)
@pytest.mark.parametrize("kind", ["golden", "integer"])
def test_wrong_arrays(
    kind: str, state: dict[str, Any], message: str, request: pytest.FixtureRequest
) -> None:
    driver: Dynamics = request.getfixturevalue(kind)
    with pytest.raises(InputError, match=message):
        call(driver, "rnea", state)
    assert driver.collect() == []


@pytest.mark.parametrize(
    ("method", "state", "message"),
    [
        (
            "rnea",
            change("a", -1e4, (7, 2)),
            r"a\[2\] of state 7 is -10000, outside ±\d+, the range",
        ),
        ("aba", change("tau", 1e9, (3, 0)), r"tau\[0\] of state 3 is 1e\+09, .* widen them"),
        (
            "computeABADerivativesFromMinverse",
            change("Minv", 1e9, (3, 1, 1)),
            r"Minv\[1,1\] of state 3 is 1e\+09, outside",
        ),
        (
            "computeABADerivativesFromMinverse",
            change("Minv", 1.0, (3, 1, 2)),
            "Minv of state 3 is not symmetric",
        ),
    ],
)
def test_outside_the_words(
    integer: Dynamics, method: str, state: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        call(integer, method, state)
    assert integer.collect() == []


@pytest.mark.parametrize("angle", [6.08, -3.9, 50.0, 1e12])
def test_angles_wrap(integer: Dynamics, angle: float) -> None:
    """Of joints that turn, the wrist here; sines are all that they come in by."""
    state = change("q", angle, (2, 3))
    near = change("q", np.arctan2(np.sin(angle), np.cos(angle)), (2, 3))
    assert integer._backend.coder is not None
    inputs = integer._backend.coder.tasks.functions["id"].inputs
    assert "q[3]" in {own.name for own in inputs}
    ticket = integer.submit("rnea", state["q"], state["v"], state["a"])
    found = ticket.result()
    assert not ticket.overflow.any()
    np.testing.assert_allclose(found, call(integer, "rnea", near)[0], rtol=0, atol=1e-3)
    golden = Dynamics(NAME, "golden", functions=("id",))
    np.testing.assert_allclose(found, call(golden, "rnea", state)[0], rtol=0, atol=0.05)


def test_force_where_there_is_no_input(integer: Dynamics) -> None:
    state = {name: array[0] for name, array in states(NAME, 1, 12).items()}
    forces = np.zeros((5, 6))
    integer.rnea(state["q"], state["v"], state["a"], forces)
    forces[2, 1] = 1.0
    with pytest.raises(InputError, match=r'f_ext acts on ".*", which has no force input'):
        integer.rnea(state["q"], state["v"], state["a"], forces)


def test_functions_that_the_accelerator_lacks() -> None:
    driver = Dynamics(NAME, "golden", functions=("id", "m"))
    state = states(NAME, 1, 13)
    with pytest.raises(InputError, match="aba needs the function fd; the design has id, m"):
        call(driver, "aba", state)
    slopes = Dynamics(NAME, "golden", functions=("did",))
    needs = r'rnea needs the function id; the design has did, and submit\("did"\) gives tau, too'
    with pytest.raises(InputError, match=needs):
        call(slopes, "rnea", state)
    with pytest.raises(InputError, match=r"crba needs the function m; the design has did$"):
        call(slopes, "crba", state)
    with pytest.raises(InputError, match="no call 'bias'; one of rnea, aba"):
        driver.submit("bias")
    with pytest.raises(InputError, match="rnea takes q, v, a: 3 arrays, not 1"):
        driver.submit("rnea", state["q"])


def test_choices_that_there_are_not() -> None:
    for key, known in (
        ("backend", ", ".join(BACKENDS)),
        ("on_overflow", "warn, raise, ignore"),
        ("outside", "raise, saturate"),
    ):
        with pytest.raises(InputError, match=f"{key}: 'so' is unknown; one of {known}"):
            Dynamics(NAME, **{key: "so"})


def test_a_folder_has_made_its_choices(folder: Path) -> None:
    driver = Dynamics(folder)
    assert driver.functions == ALL
    assert (driver.nq, driver.nv, len(driver.joint_names)) == (5, 5, 5)
    with pytest.raises(InputError, match="has been generated; ii: cannot be chosen"):
        Dynamics(folder, ii=3)


def test_a_folder_without_a_design(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(sealed({"name": "other"}))
    with pytest.raises(OutputError, match="no digests of the design's files"):
        Dynamics(tmp_path)
