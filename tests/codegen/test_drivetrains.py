"""Rotors, damping and friction in programs: as the golden model, and words as the integer model."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen import api
from tests.support.geared import JOINTS

CHOICES = {"joints": JOINTS, "functions": ("did", "m")}


@pytest.mark.parametrize(
    ("model", "code"),
    [("float", "inlined"), ("cpp", "inlined"), ("cuda-on-cpu", "inlined"), ("cpp", "loops")],
)
def test_real_numbers(model: str, code: str) -> None:
    choices = CHOICES | {"code": code}
    states = api.states("pendulum", 200, 5, **choices)
    found, golden = (api.evaluate("pendulum", states, m, **choices) for m in (model, "golden"))
    for name in ("tau", "dtau_dq", "dtau_dqd", "M"):
        wanted = golden[name]
        np.testing.assert_allclose(found[name], wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("model", ["c", pytest.param("hls", marks=pytest.mark.slow)])
def test_words(model: str) -> None:
    states = api.states("pendulum", 200, 5, **CHOICES)
    found, integer = (api.evaluate("pendulum", states, m, **CHOICES) for m in (model, "fixed"))
    assert found.keys() == integer.keys()
    for name, wanted in integer.items():
        np.testing.assert_array_equal(found[name], wanted, err_msg=name)
