"""The calls of gradients of contacts: compiled, golden, and of differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdgen.api import states
from rbdgen_host.driver import Dynamics

CHOICES: dict[str, Any] = {
    "functions": ("dcfd",),
    "accelerator": False,
    "frames": ("lower_rod",),
    "contact_damping": 0.1,
}


def test_calls() -> None:
    golden, cpp = (Dynamics("pendulum", kind, **CHOICES) for kind in ("golden", "cpp"))
    given = states("pendulum", 20, **{key: CHOICES[key] for key in CHOICES if key != "accelerator"})
    arrays = [given[name] for name in ("q", "qd", "tau")]
    slopes = cpp.computeConstraintDynamicsDerivatives(*arrays)
    everything = cpp.dcfd(*arrays)
    assert [own.shape for own in slopes] == [(20, 2, 2)] * 3 + [(20, 1, 6, 2)] * 3
    for ours, other, exact in zip(slopes, everything[2:], golden.dcfd(*arrays)[2:], strict=True):
        np.testing.assert_array_equal(ours, other)
        np.testing.assert_allclose(ours, exact, rtol=0, atol=1e-10 * np.abs(exact).max())
