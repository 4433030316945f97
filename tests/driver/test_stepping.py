"""The call of a step: words, C++ and the golden model, of the driver's shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api import states
from rbdgen.design.loading import load
from rbdgen.golden import integrate
from rbdgen_host.driver import Dynamics

WALKER = str(Path(__file__).parents[1] / "robots" / "walker.urdf")
H = 0.01
CHOICES: dict[str, Any] = {"functions": ("step",), "step": H, "width": 18, "accelerator": False}


@pytest.mark.parametrize("rule", ["euler", "rk4"])
def test_words_are_nearly_golden(rule: str) -> None:
    given = states("pendulum", 100, functions=("fd",))
    arrays = [given[name] for name in ("q", "qd", "tau")]
    choices = CHOICES | {"integrator": rule}
    golden, integer = (Dynamics("pendulum", kind, **choices) for kind in ("golden", "integer"))
    expected, found = golden.step(*arrays), integer.step(*arrays)
    assert [array.shape for array in found] == [(100, 2), (100, 2), (100, 4, 4), (100, 4, 2)]
    for ours, theirs in zip(found, expected, strict=True):
        assert np.sqrt(((ours - theirs) ** 2).mean()) < 1e-3 * np.sqrt((theirs**2).mean())
    one = integer.step(*(array[7] for array in arrays))
    for alone, array in zip(one, found, strict=True):
        np.testing.assert_array_equal(alone, array[7])


@pytest.mark.parametrize(
    ("path", "base"),
    [("pendulum", "fixed"), pytest.param(WALKER, "floating", marks=pytest.mark.slow)],
)
def test_compiled_steps_are_golden_steps(path: str, base: str) -> None:
    """Four in a row, each from where the one before led, of a base that turns and moves."""
    choices = {**CHOICES, "base": base}
    _, robot = load(path, base=base)
    given = states(path, 50, functions=("fd",), base=base)
    q, v, tau = (given[name] for name in ("q", "qd", "tau"))
    compiled, golden = (Dynamics(path, kind, **choices) for kind in ("cpp", "golden"))
    for _ in range(4):
        found, expected = compiled.step(q, v, tau), golden.step(q, v, tau)
        for ours, theirs in zip(found, expected, strict=True):
            scale = max(np.abs(theirs).max(), 1.0)
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * scale)
        np.testing.assert_allclose(found[0], integrate(robot, q, H * found[1]), atol=1e-12)
        q, v = found[:2]
