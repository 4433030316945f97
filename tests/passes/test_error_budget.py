"""The error that words leave: relative RMS of each effort against the golden model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.bounds import bounds, random_states
from rbdgen.design.nested import MotionLimits
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.graph.fixed import evaluate_fixed
from rbdgen_benchmarks.compare.integer_errors import integer_errors
from tests.support.coordinates import worst_of

STATES = 20_000


def worst_error(robot: str, velocity: float = 10.0, **choices: Any) -> float:
    """The largest √(Σ (τ_k - τ_k golden)² / Σ τ_k golden²); |q̇| ≤ ``velocity``, |q̈| ≤ 10."""
    limits = MotionLimits(velocity=velocity, acceleration=10.0)
    core = compile_front(front_end(robot, limits=limits, **{"width": 18, **choices}))
    front, fixed = core.front, core.fixed
    state = random_states(front.canonical, bounds(front.design, front.canonical), STATES, seed=5)
    words = {
        name: fixed.inputs[name].quantize(values)
        for name, values in to_columns(front.canonical, front.graph.inputs, state).items()
    }
    result = evaluate_fixed(fixed, words)
    assert not result.overflowed
    outputs = fixed.graph.outputs
    tau = from_columns(
        {name: fixed.formats[outputs[name]].real(w) for name, w in result.outputs.items()}
    )["tau"]
    exact = golden.rnea(front.robot, state["q"], state["qd"], state["qdd"])
    return float(np.sqrt(((tau - exact) ** 2).sum(axis=0) / (exact**2).sum(axis=0)).max())


def test_iiwa_at_18_bits() -> None:
    assert worst_error("iiwa14_fast") <= 1.1e-4


def test_iiwa_at_18_bits_and_modest_speed() -> None:
    assert worst_error("iiwa14_fast", velocity=2.0) <= 8e-5


def test_hyq_at_18_bits() -> None:
    assert worst_error("hyq") <= 1e-4


@pytest.mark.slow
def test_each_bit_halves_the_error() -> None:
    widths = [12, 16, 24, 32]
    errors = [worst_error("iiwa14_fast", width=w) for w in widths]
    for (w0, e0), (w1, e1) in zip(
        zip(widths, errors, strict=True), zip(widths[1:], errors[1:], strict=False), strict=False
    ):
        per_bit = math.log2(e0 / e1) / (w1 - w0)
        assert per_bit == pytest.approx(1.0, abs=0.15), (w0, w1, e0, e1)


# Relative RMS of each array's worst coordinate at 18 bits, half as much again as measured.
# `rbdgen bench humanoid` has the others, which take minutes to compile.
HUMANOID = [
    ("id", {"tau": 3.8e-4}),
    ("m", {"M": 7e-5}),
    ("minv", {"Minv": 1.4e-2}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("function", "allowed"), HUMANOID)
def test_humanoid_at_18_bits(function: str, allowed: dict[str, float]) -> None:
    core = compile_front(front_end("humanoid", functions=(function,), width=18, fit=False))
    report = integer_errors(core, 3000)
    found = worst_of(report.coordinates)
    assert found.keys() == allowed.keys()
    assert all(found[name] <= bound for name, bound in allowed.items()), found
    # M⁻¹ has no largest value that a few random states would show
    assert report.overflows <= (3 if function == "minv" else 0)
