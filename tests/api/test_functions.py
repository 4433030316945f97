"""The golden side of every function: shapes, identities between them, root modes, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.compile.samples import sample_states
from rbdgen.design.loading import load
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import RobotError
from tests.support.coordinates import worst_of

N = 20
Arrays = dict[str, np.ndarray]


def drawn(robot: str, **choices: Any) -> Arrays:
    """States with every input of every function."""
    design, read = load(robot, **choices)
    everything = load(robot, **{**choices, "functions": ("id", "fd", "difd")})[0]
    assert everything.limits == design.limits
    return sample_states(everything, read, N, seed=3)


def golden(robot: str, states: Arrays, function: str, **choices: Any) -> Arrays:
    results = api.evaluate(robot, states, functions=tuple(function.split(",")), **choices)
    del results["joint_names"]
    return results


@pytest.mark.parametrize(
    ("function", "names"),
    [
        ("id", "tau"),
        ("m", "M"),
        ("minv", "Minv"),
        ("fd", "qdd"),
        ("did", "tau dtau_dq dtau_dqd M"),
        ("dfd", "qdd dqdd_dq dqdd_dqd Minv"),
        ("difd", "dqdd_dq dqdd_dqd"),
        ("g,nle", "g nle"),
        ("did,m,minv", "tau dtau_dq dtau_dqd M Minv"),
    ],
)
@pytest.mark.parametrize(
    ("choices", "size"),
    [
        ({}, 7),
        ({"base": "floating"}, 13),
        ({"base": "floating", "root": "given"}, 7),
        ({"base": "floating", "root": "ignored"}, 7),
    ],
)
def test_every_function(function: str, names: str, choices: dict[str, str], size: int) -> None:
    results = golden("iiwa14", drawn("iiwa14", **choices), function, **choices)
    vectors = ("tau", "qdd", "g", "nle")
    assert {name: array.shape for name, array in results.items()} == {
        name: (N, size) if name in vectors else (N, size, size) for name in names.split()
    }


ROOTS = [{}, {"base": "floating"}, {"base": "floating", "root": "given"}]


@pytest.mark.parametrize("choices", ROOTS)
def test_functions_agree(choices: dict[str, str]) -> None:
    """FD(ID) = identity, M·M⁻¹ = 1, ΔFD = −M⁻¹ ΔID = ΔiFD."""
    states = drawn("hyq", **choices)
    found = golden("hyq", states, "did,minv,fd", **choices)
    n = found["qdd"].shape[1]
    np.testing.assert_allclose(found["tau"], states["tau"], atol=1e-9)
    np.testing.assert_allclose(found["qdd"], states["qdd"][:, -n:], atol=1e-7)
    np.testing.assert_allclose(found["M"] @ found["Minv"], np.tile(np.eye(n), (N, 1, 1)), atol=1e-9)
    np.testing.assert_allclose(found["Minv"], states["Minv"], rtol=1e-12, atol=1e-12)
    forward, given = (golden("hyq", states, f, **choices) for f in ("dfd", "difd"))
    for name in ("dqdd_dq", "dqdd_dqd"):
        size = np.abs(forward[name]).max()
        np.testing.assert_allclose(given[name], forward[name], atol=1e-9 * size)


def test_given_motion_is_part_of_the_free_one() -> None:
    """The base accelerates as it would anyhow: its joints move as if it were free."""
    free, given = ({"base": "floating"}, {"base": "floating", "root": "given"})
    states = drawn("hyq", **free)
    torques = np.zeros((N, 18))
    torques[:, 6:] = states["tau"][:, 6:]
    states["tau"] = torques
    falling = golden("hyq", states, "fd", **free)["qdd"]
    states["qdd"] = np.hstack([falling[:, :6], np.full((N, 12), 7.0)])  # 7: not read
    states["tau"] = torques[:, 6:]
    np.testing.assert_allclose(
        golden("hyq", states, "fd", **given)["qdd"], falling[:, 6:], rtol=1e-8, atol=1e-8
    )


def test_given_gradients_against_finite_differences() -> None:
    choices = {"base": "floating", "root": "given"}
    states = drawn("iiwa14", **choices)
    slopes = golden("iiwa14", states, "dfd", **choices)
    step, scale = 1e-6, max(np.abs(slopes[f"dqdd_d{f}"]).max() for f in ("q", "qd"))
    for field, shift in (("q", 7), ("qd", 6)):
        for k in range(7):
            ends = []
            for sign in (1, -1):
                moved = {name: array.copy() for name, array in states.items()}
                moved[field][:, shift + k] += sign * step
                ends.append(golden("iiwa14", moved, "fd", **choices)["qdd"])
            difference = (ends[0] - ends[1]) / (2 * step)
            exact = slopes[f"dqdd_d{field}"][:, :, k]
            np.testing.assert_allclose(difference, exact, atol=1e-7 * scale)


def test_ignored_base_is_a_fixed_one() -> None:
    states = drawn("hyq")
    still = golden("hyq", states, "did", base="floating", root="ignored")
    for name, array in golden("hyq", states, "did").items():
        np.testing.assert_array_equal(still[name], array)


def test_quaternions_are_normalised() -> None:
    states = drawn("iiwa14", base="floating")
    exact = golden("iiwa14", states, "id", base="floating")["tau"]
    states["q"][:, 3:7] *= 1.0005
    near = golden("iiwa14", states, "id", base="floating")["tau"]
    np.testing.assert_allclose(near, exact, rtol=1e-9, atol=1e-9)


def spoilt(**changes: Any) -> Arrays:
    states = drawn("iiwa14", base="floating")
    for name, (index, value) in changes.items():
        states[name][index] = value
    return states


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (
            spoilt(q=((4, slice(3, 7)), 0.6)),
            r"q of state 4: the quaternion \(x, y, z, w\) of joint \"root_joint\", entries 3 to 6, "
            "has norm 1.2; expected 1",
        ),
        (spoilt(Minv=((2, 0, 1), 99.0)), "Minv of state 2 is not symmetric"),
        (spoilt(Minv=((2, 0, 0), np.inf)), "Minv of state 2 is not finite"),
        (
            spoilt() | {"Minv": np.zeros((N, 13))},
            r"Minv is float64 \(20, 13\); expected numbers \(N, 13, 13\)",
        ),
    ],
)
def test_refused(states: Arrays, message: str) -> None:
    with pytest.raises(api.InputError, match=message):
        golden("iiwa14", states, "difd", base="floating")


def test_given_base_takes_torques_of_the_joints_only() -> None:
    states = drawn("iiwa14", base="floating")
    with pytest.raises(api.InputError, match=r"tau is float64 \(20, 13\); expected .*\(N, 7\)"):
        golden("iiwa14", states, "fd", base="floating", root="given")
    del states["qdd"]
    states["tau"] = states["tau"][:, 6:]
    with pytest.raises(api.InputError, match="--function fd needs qdd"):
        golden("iiwa14", states, "fd", base="floating", root="given")


def test_root_is_for_a_floating_base() -> None:
    with pytest.raises(RobotError, match="root: given is for a floating base"):
        api.evaluate("iiwa14", {}, root="given")


def test_sampled_forward_dynamics_stays_within_the_limits() -> None:
    """τ is what a drawn q̈ takes, external force included, on the canonical robot as well."""
    design, robot = load(
        "hyq", base="floating", functions=("fd",), external_forces=("lf_shin", "trunk")
    )
    canonical = canonicalize(robot, design.snap)
    states = sample_states(design, canonical, N, seed=5, extremes=0.5)
    pushed = {
        canonical.joints[i].body
        for k, i in enumerate(canonical.moving)
        if states["f_ext"][:, k].any()
    }
    assert pushed == {"lf_shin", "trunk"}
    found = golden("hyq", states, "fd", base="floating", external_forces=("lf_shin", "trunk"))[
        "qdd"
    ]
    np.testing.assert_allclose(found, states["qdd"], atol=1e-7)
    assert "Minv" not in states


@pytest.mark.parametrize("model", ["float", "fixed"])
def test_two_functions_in_one_graph(model: str) -> None:
    """τ and M of one design: M whole and symmetric though its lower triangle is computed."""
    states = drawn("hyq")
    choices = {"functions": ("id", "m"), "width": 18}
    exact = api.evaluate("hyq", states, **choices)
    found = api.evaluate("hyq", states, model, **choices)
    tolerance = 1e-12 if model == "float" else 3e-4
    for name in ("tau", "M"):
        assert found[name].shape == exact[name].shape
        error = np.sqrt(((found[name] - exact[name]) ** 2).sum() / (exact[name] ** 2).sum())
        assert error < tolerance
    if model == "fixed":  # legs are apart: their common entries of M are zero, not computed
        names = found["overflow_names"].tolist()
        assert {"tau[0]", "tau[11]", "M[0,0]", "M[2,1]", "M[11,9]"} <= set(names)
        assert not {"M[0,1]", "M[3,0]"} & set(names)
        assert found["overflow"].shape == (N, len(names))


@pytest.mark.rtl
@pytest.mark.slow
def test_simulation_reports_each_array(tmp_path: Path) -> None:
    place = api.generate("pendulum", tmp_path / "both", functions=("m", "id"))
    report = api.simulate(place, 100)
    errors = worst_of(report.facts.coordinates)
    assert report["bit_exact"] and set(errors) == {"M", "tau"}
    assert all(0 < error < 1e-3 for error in errors.values())
    assert f"{errors['M']:.1e}" in report.as_text()
    manifest = api.read_manifest(place)
    assert manifest["name"] == "pendulum_m_id" and manifest["functions"] == ["m", "id"]
    assert set(manifest["formats"]["output"]) == {"M[0,0]", "M[1,0]", "M[1,1]", "tau[0]", "tau[1]"}
    rng = np.random.default_rng(4)
    states = {name: rng.uniform(-1, 1, (N, 2)) for name in ("q", "qd", "qdd")}
    fixed, rtl = (api.evaluate(str(place / "design.yaml"), states, m) for m in ("fixed", "rtl"))
    for name in ("tau", "M", "overflow"):
        np.testing.assert_array_equal(rtl[name], fixed[name])
