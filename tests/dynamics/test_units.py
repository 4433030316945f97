"""Units of acceleration and force: they save products by constants, and change nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rbdgen.design.loading import load, shipped_robots
from rbdgen.dynamics import functions
from rbdgen.dynamics.trace import trace
from rbdgen.dynamics.units import Units, consistent_units, scaled, units
from rbdgen.graph.evaluate import evaluate
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import Robot


def shipped(name: str) -> Robot:
    design, robot = load(str(shipped_robots()[name]))
    return canonicalize(robot, design.snap)


@pytest.mark.parametrize("value", [0.42, -0.35, 9.81, 1e-4])
def test_a_constant_becomes_a_power_of_two_in_its_own_unit(value: float) -> None:
    (one,) = scaled([value], 1 / value)
    assert one == 1.0
    assert scaled([0.0, 0.5], 3.0) == [0.0, 1.5]


@pytest.mark.parametrize(("name", "saved"), [("iiwa14", 6), ("hyq", 24), ("humanoid", 10)])
def test_units_save_products(name: str, saved: int, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = shipped(name)
    chosen = trace(robot, ["id"])
    monkeypatch.setattr(functions, "units", lambda *_: Units())
    plain = trace(robot, ["id"])
    assert plain.operations()["mulc"] - chosen.operations()["mulc"] >= saved
    assert plain.operations()["mul"] >= chosen.operations()["mul"]
    rng = np.random.default_rng(0)
    inputs = {name: rng.normal(size=4) for name in chosen.inputs}
    expected = evaluate(plain, inputs)
    for output, value in evaluate(chosen, inputs).items():
        assert np.allclose(value, expected[output], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", sorted(shipped_robots()))
def test_units_lie_between_one_and_two_or_are_left_alone(name: str) -> None:
    chosen = units(shipped(name))
    for unit in (chosen.acceleration, chosen.force):
        assert 1.0 <= unit < 2.0
        assert math.isfinite(1 / unit)


@pytest.mark.parametrize("function", ["m", "did"])
def test_on_a_floating_base_those_units_are_taken_that_take_fewer_products(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its three coordinates that slide are in one unit of length, and the links in another."""
    design, robot = load("iiwa14", base="floating")
    robot = canonicalize(robot, design.snap)
    found = consistent_units(robot)
    counts = []
    for choice in (found, *([own] for own in found)):
        monkeypatch.setattr(functions, "consistent_units", lambda _, choice=choice: choice)
        count = trace(robot, [function]).operations()
        counts.append(count["mul"] + count["mulc"])
    chosen, *others = counts
    assert chosen == min(others) < max(others)
