"""Rollouts by the driver: every back end, and what none can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api import InputError, generate
from rbdgen.design.loading import load
from rbdgen.design.nested import MotionLimits
from rbdgen.robot.model import RobotError
from rbdgen_host.driver import Dynamics
from tests.support.driver_designs import states

NAME = "pendulum"
RULES = ("rk4", "euler")
CHOICES: dict[str, Any] = {"functions": RULES, "ii": 4, "target": "xcup"}


def starts(n: int, seed: int) -> tuple[np.ndarray, ...]:
    """q anywhere, v and tau well within their limits; h, steps."""
    state, rng = states(NAME, n, seed), np.random.default_rng(seed)
    h, steps = rng.uniform(1e-4, 2e-3, n), rng.integers(1, 40, n)
    return state["q"], 0.4 * state["v"], 0.2 * state["tau"], h, steps


@pytest.fixture(scope="module", params=["golden", "integer"])
def driver(request: pytest.FixtureRequest) -> Dynamics:
    return Dynamics(NAME, request.param, on_overflow="ignore", **CHOICES)


@pytest.mark.parametrize("rule", RULES)
def test_they_end_where_the_rule_does(driver: Dynamics, rule: str) -> None:
    """At multiples of 2^-22 s, and within ±π: both of the joints turn all the way round."""
    q, v, tau, h, steps = starts(200, 1)
    nearest = np.round(h * 2**22) / 2**22
    expected = golden.rollout(load(NAME)[1], rule, (q, v), tau, nearest, steps)
    ticket = driver.submit(rule, q, v, tau, h, steps)
    held = ~ticket.overflow
    assert held.mean() > 0.8
    found_q, found_v = ticket.result()
    assert (np.abs(expected[0]) > np.pi).any()
    assert np.abs(found_q[held]).max() <= np.pi + 1e-7
    off = np.remainder(found_q - expected[0] + np.pi, 2 * np.pi) - np.pi
    tolerance = 1e-12 if driver._backend.coder is None else 1e-4
    assert np.abs(off[held]).max() < tolerance
    np.testing.assert_allclose(found_v[held], expected[1][held], rtol=0, atol=20 * tolerance)


def test_angles_that_they_start_at_wrap(driver: Dynamics) -> None:
    q, v, tau, _, _ = starts(20, 9)
    here, there = (driver.rollout(x, v, tau, 1e-3, 5) for x in (q, q + 4 * np.pi))
    off = np.remainder(there[0] - here[0] + np.pi, 2 * np.pi) - np.pi
    assert np.abs(off).max() < 1e-6
    np.testing.assert_allclose(there[1], here[1], rtol=0, atol=1e-3)


def test_a_joint_that_does_not_go_round_stays_where_it_is() -> None:
    """What comes back is what came in and a little, so no turns may be lost of it."""
    limits = {"shoulder": MotionLimits(position=(-1.0, 1.0))}
    driver = Dynamics(NAME, "integer", joint_limits=limits, on_overflow="ignore", **CHOICES)
    q, v, tau, _, _ = starts(1, 9)
    q[0] = 0.5, 7.0
    driver.rollout(q, v, tau, 1e-3, 1)  # the elbow does
    q[0] = 7.0, 0.5
    with pytest.raises(InputError, match=r"q\[0\] of state 0 is 7, outside ±2"):
        driver.rollout(q, v, tau, 1e-3, 1)


@pytest.mark.parametrize("leading", [(), (6,), (2, 3), (0,)])
def test_leading_shapes(driver: Dynamics, leading: tuple[int, ...]) -> None:
    """One step size and count for all states, or each its own."""
    n = int(np.prod(leading))
    q, v, tau, _, _ = starts(max(n, 1), 2)
    own = [x[:n].reshape((*leading, 2)) for x in (q, v, tau)]
    found = driver.rollout(*own, 1e-3, 3)
    np.testing.assert_array_equal(
        found, driver.rollout(*own, np.full(leading, 1e-3), np.full(leading, 3), "rk4")
    )
    each = driver.rollout(*(x[:n] for x in (q, v, tau)), 1e-3, 3)
    np.testing.assert_array_equal(found, np.reshape(each, (2, *leading, 2)))
    assert found[0].shape == (*leading, 2)


@pytest.mark.parametrize(
    ("h", "steps", "message"),
    [
        (0.0, 1, r"h of state 0 is 0 s; a step lasts from 2\.38e-07 to 0\.0117 s"),
        ([1e-3, -1e-3, 1e-3], 1, r"h of state 1 is -0\.001 s"),
        (1e-7, 1, r"h of state 0 is 1e-07 s"),
        (0.0118, 1, r"h of state 0 is 0\.0118 s"),
        (1e-3, 0, "steps of state 0 is 0; expected a whole number from 1 to 65535"),
        (1e-3, [1, 2, 65536], "steps of state 2 is 65536; expected"),
        (1e-3, 1.5, r"steps of state 0 is 1\.5; expected"),
        ([1e-3, 1e-3], 1, r"rk4: h is \(2,\); q is \(3, 2\), which is another number of states"),
        (np.nan, 1, r"rk4: h\[\] of state 0 is nan"),
        ("short", 1, r"rk4: h is <U5 \(\); expected numbers \(\) or \(N\)"),
    ],
)
def test_steps_that_there_are_not(driver: Dynamics, h: Any, steps: Any, message: str) -> None:
    q, v, tau, _, _ = starts(3, 3)
    with pytest.raises(InputError, match=message):
        driver.rollout(q, v, tau, h, steps)
    assert driver.collect() == []


def test_rules_that_there_are_not(driver: Dynamics) -> None:
    q, v, tau, h, steps = starts(1, 4)
    with pytest.raises(InputError, match="rule: 'rk5' is unknown; did you mean \"rk4\""):
        driver.rollout(q, v, tau, h, steps, "rk5")
    with pytest.raises(InputError, match="euler needs the function euler; the design has id"):
        Dynamics(NAME, "golden", functions=("id",)).rollout(q, v, tau, h, steps, "euler")


def test_robots_that_cannot_roll() -> None:
    """The reference refuses what the hardware cannot do."""
    quadruped = str(Path(__file__).parents[1] / "robots" / "quadruped.urdf")
    with pytest.raises(RobotError, match=r"rollouts are for joints .*; this one is floating"):
        Dynamics(quadruped, "golden", functions=("rk4",), base="floating", ii=8, target="xcup")


@pytest.mark.rtl
@pytest.mark.slow
def test_rtl_is_integer_in_every_bit(tmp_path: Path) -> None:
    """Short rollouts overtake long ones; other tasks go between them."""
    choices = CHOICES | {"functions": ("id", "rk4"), "ii": 8}
    folder = generate(NAME, tmp_path / "made", accelerator=True, **choices)
    drivers = [Dynamics(folder, kind, on_overflow="ignore") for kind in ("rtl", "integer")]
    q, v, tau, h, steps = starts(60, 5)
    steps = steps % 8 + 1
    found = []
    for driver in drivers:
        tickets = [driver.submit("rk4", q, v, tau, h, steps), driver.submit("id", q, v, v)]
        driver.run()
        found.append(tickets)
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours.overflow, theirs.overflow)
        for name, array in theirs.arrays.items():
            np.testing.assert_array_equal(ours.arrays[name], array)
    latency = found[0][0].latency["rk4"]
    assert latency[np.argmin(steps)] < latency[np.argmax(steps)] / 2
