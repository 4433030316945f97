"""`set_payload` in every kind of `Dynamics`: what a robot with that payload does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from rbdgen import golden
from rbdgen.api import fit, states
from rbdgen.api.design_file import design_text
from rbdgen.api.folder import InputError
from rbdgen.design.bounds import bounds
from rbdgen.design.loading import load
from rbdgen.design.payload import DRAWN, PayloadLimits, random_payloads
from rbdgen.robot.model import Robot, RobotError
from rbdgen.robot.variations import carrying, checked_body, inertia_of, payload_of
from rbdgen.system.templates import data_folder
from rbdgen_host.driver import Dynamics

FUNCTIONS = ("id", "m", "did")
BODY = 2.0, (0.05, -0.03, 0.1), np.diag([0.01, 0.02, 0.015])
SAID = (
    "^set_payload: the design's functions take none; name the link that carries it: "
    'payload="LINK", --payload LINK$'
)
PAYLOAD = payload_of(checked_body(*BODY))
KINDS: dict[str, tuple[str, dict[str, Any], float]] = {  # and the error, of the largest entry or 1
    "golden": ("golden", {}, 1e-13),
    "C++": ("cpp", {}, 1e-12),
    "loops": ("cpp", {"code": "loops"}, 1e-12),
    "CUDA's text": ("cuda-on-cpu", {}, 1e-12),
    "integer": ("integer", {"ii": 16}, 0.02),
    "plain": ("integer", {"accelerator": False, "width": 18}, 0.02),
}


def state(seed: int, n: int = 8) -> Any:
    return np.random.default_rng(seed).uniform(-0.5, 0.5, (3, n, 5))


def robot_with(payload: Any) -> Robot:
    return carrying(load("gantry")[1], "tool", payload)


SLOW = ("C++", "loops", "CUDA's text")


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=pytest.mark.slow) if k in SLOW else k for k in KINDS]
)
def test_set_and_cleared(kind: str) -> None:
    backend, choices, within = KINDS[kind]
    robot = Dynamics("gantry", backend, functions=FUNCTIONS, payload="tool", **choices)
    q, v, a = state(1)

    def near(found: Any, expected: Any) -> bool:
        return bool(np.abs(found - expected).max() < within * max(1.0, np.abs(expected).max()))

    before = robot.rnea(q, v, a)
    for payload in (np.zeros(10), PAYLOAD, np.zeros(10)):
        robot.set_payload(*(BODY if payload.any() else ()))
        loaded = robot_with(payload)
        tau, M = golden.rnea(loaded, q, v, a), golden.crba(loaded, q)
        slopes = golden.rnea_derivatives(loaded, q, v, a)
        assert near(robot.rnea(q, v, a), tau)
        assert near(robot.rnea(q[3], v[3], a[3]), tau[3])
        assert near(robot.crba(q), M)
        by_q, by_v, by_a = robot.computeRNEADerivatives(q, v, a)
        assert near(by_q, slopes.dtau_dq)
        assert near(by_v, slopes.dtau_dqd)
        assert near(by_a, M)
        assert near(robot.everything(q, v, a)["tau"], tau)
    np.testing.assert_array_equal(robot.rnea(q, v, a), before)
    assert np.abs(before - golden.rnea(robot_with(PAYLOAD), q, v, a)).max() > 10


def test_of_each_state() -> None:
    """Payloads of single states; what is queued keeps the one that there was."""
    q, v, a = state(2, 4)
    several = np.array([k * PAYLOAD for k in (0.0, 0.5, 1.0, 2.0)])
    for backend in ("golden", "integer"):
        robot = Dynamics(
            "gantry", backend, functions=("id",), payload="tool", accelerator=False, width=18
        )
        own = robot.submit("rnea", q, v, a, payload=several)
        robot.set_payload(*BODY)
        then = robot.submit("rnea", q, v, a)
        robot.set_payload()
        each, all_of_one = own.result(), then.result()
        assert isinstance(each, np.ndarray)
        assert isinstance(all_of_one, np.ndarray)
        for k, payload in enumerate(several):
            for found, of in ((each[k], payload), (all_of_one[k], PAYLOAD)):
                expected = golden.rnea(robot_with(of), *(x[k : k + 1] for x in (q, v, a)))[0]
                assert np.abs(found - expected).max() < 1e-3 * np.abs(expected).max()


def test_on_another_base() -> None:
    """The link's frame is the file's, whatever holds the base."""
    choices: dict[str, Any] = {"base": "floating", "functions": ("id",), "payload": "lf_shin"}
    file = Dynamics("hyq", "golden", accelerator=False, **choices)
    other = Dynamics("hyq", "golden", accelerator=False, base_link="rh_thigh", **choices)
    rng = np.random.default_rng(3)
    q, v, a = rng.uniform(-1, 1, (5, file.nq)), *rng.uniform(-1, 1, (2, 5, file.nv))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    without = file.rnea(q, v, a)
    for robot in (file, other):
        robot.set_payload(*BODY)
    expected = file.rnea(q, v, a)
    assert np.abs(expected - without).max() > 1
    np.testing.assert_allclose(other.rnea(q, v, a), expected, atol=1e-10 * np.abs(expected).max())


def test_where_there_is_none(tmp_path: Path) -> None:
    """A recording says so, and arrays for JAX refuse such a design."""
    choices: dict[str, Any] = {"payload": "lower_rod"}
    drawn = states("pendulum", 200, functions=("id",), **choices)
    recorded = {name: drawn[name] for name in ("q", "qd", "qdd", "payload")}
    report = fit("pendulum", recorded, functions=("id",), **choices)
    assert any("Recorded payloads are not read" in note for note in report.notes)
    jax = pytest.importorskip("jax", reason="rbdgen_host.parallel needs JAX")
    jax.config.update("jax_enable_x64", True)
    from rbdgen_host.parallel import Dynamics as Parallel

    (tmp_path / "arm.urdf").write_bytes((data_folder("robots") / "pendulum.urdf").read_bytes())
    (tmp_path / "arm.yaml").write_text("robot: arm.urdf\npayload: lower_rod\n")
    with pytest.raises(RobotError, match="payload: not supported here; leave it out"):
        Parallel(tmp_path / "arm.yaml")


def test_a_design_file_says_the_link_and_its_limits(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_bytes((data_folder("robots") / "pendulum.urdf").read_bytes())
    text = "robot: arm.urdf\npayload: lower_rod\nlimits: {payload_mass: 2, payload_reach: 0.5}\n"
    (tmp_path / "arm.yaml").write_text(text)
    design, robot = load(tmp_path / "arm.yaml")
    assert bounds(design, robot).payload == PayloadLimits(2.0, 0.5, 0.1)
    notes: list[str] = []
    again, _ = load(tmp_path / "arm.yaml", notes=notes, functions=("id", "m"))
    assert 'payload: on "lower_rod" up to 2 kg, its centre of mass within 0.5 m' in notes[-1]
    assert yaml.safe_load(design_text(again))["payload"] == "lower_rod"
    (tmp_path / "arm.yaml").write_text("robot: arm.urdf\npayload: lower_rot\n")
    with pytest.raises(RobotError, match=r"arm.yaml:2:.*did you mean .*lower_rod"):
        load(tmp_path / "arm.yaml")


def test_payloads_at_random_are_bodies_within_the_words() -> None:
    limits = PayloadLimits(3.0, 0.3, 0.05)
    payloads = random_payloads(limits, 2000, np.random.default_rng(6))
    lower, upper = np.array(limits.words()).T
    assert ((payloads >= lower - 1e-12) & (payloads <= upper + 1e-12)).all()
    assert len(np.unique(payloads, axis=0)) == DRAWN
    heaviest = payloads[:, 0] == limits.mass
    assert 0.4 < heaviest.mean() < 0.6
    for own in np.unique(payloads, axis=0):
        body = inertia_of(own)
        if body.mass:
            c = body.h / body.mass
            about = body.J - body.mass * (c @ c * np.eye(3) - np.outer(c, c))
            checked_body(body.mass, c, about)  # which refuses what no body has
            assert np.abs(c).max() <= limits.reach * (1 + 1e-12)


def test_refused() -> None:
    plain = Dynamics("gantry", "golden", functions=("id",), accelerator=False)
    with pytest.raises(InputError, match=SAID):
        plain.set_payload(1.0)
    with pytest.raises(InputError, match="payload: the design carries none"):
        plain.submit("rnea", *state(4), payload=PAYLOAD)
    robot = Dynamics("gantry", "integer", functions=("id",), accelerator=False, payload="tool")
    with pytest.raises(InputError, match="set_payload: numbers that are finite, and a mass"):
        robot.set_payload(-1.0)
    robot.set_payload(30.0)
    with pytest.raises(InputError, match=r"payload\[0\] of state 0 is 30, outside .*limits"):
        robot.rnea(*state(5))
