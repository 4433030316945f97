"""An accelerator and states for tests of its drivers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rbdgen.compile.samples import sample_states
from rbdgen.design.functions import ON_ACCELERATORS
from rbdgen.design.loading import load
from rbdgen.golden import minv, rnea

NAME = "gantry"
CHOICES: dict[str, Any] = {"functions": ON_ACCELERATORS, "ii": 2, "target": "xcup"}


def states(robot: str, n: int, seed: int, **choices: Any) -> dict[str, np.ndarray]:
    """q (n, nq), v, a, tau (n, nv), Minv (n, nv, nv) within the design's limits."""
    design, loaded = load(robot, **choices)
    state = sample_states(design, loaded, n, seed)
    q, v, a = state["q"], state["qd"], state["qdd"]
    return {"q": q, "v": v, "a": a, "tau": rnea(loaded, q, v, a), "Minv": minv(loaded, q)}


ALL = CHOICES["functions"]
METHODS = {
    "rnea": "qva",
    "aba": ("q", "v", "tau"),
    "crba": "q",
    "computeMinverse": "q",
    "computeGeneralizedGravity": "q",
    "nonLinearEffects": "qv",
    "computeRNEADerivatives": "qva",
    "computeABADerivatives": ("q", "v", "tau"),
    "computeABADerivativesFromMinverse": ("q", "v", "a", "Minv"),
}


def several(found: Any) -> tuple[np.ndarray, ...]:
    return found if isinstance(found, tuple) else (found,)


def call(driver: Any, method: str, state: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    return several(getattr(driver, method)(*(state[name] for name in METHODS[method])))


SINGULAR = Path(__file__).parents[1] / "robots" / "two_points.urdf"
FLOATING: dict[str, Any] = {"base": "floating", "functions": ("fd",), "external_forces": ("all",)}


def close(found: Any, expected: Any, error: float = 1e-10) -> None:
    for ours, golden in zip(several(found), several(expected), strict=True):
        assert ours.shape == golden.shape
        assert np.abs(ours - golden).max() <= error * np.abs(golden).max()
