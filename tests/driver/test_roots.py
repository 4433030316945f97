"""A design of a base that is free has the numbers of one that is given, and of one held still."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rbdgen.driver import Dynamics

SWINGER = str(Path(__file__).parents[1] / "robots" / "swinger.urdf")
FUNCTIONS = ("id", "did", "m", "nle", "g")


def results(dynamics: Dynamics, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
    return [
        dynamics.rnea(q, v, a),
        *dynamics.computeRNEADerivatives(q, v, a)[:2],
        dynamics.crba(q),
        dynamics.nle(q, v),
        dynamics.g(q),
    ]


def test_joints_rows_of_a_free_base() -> None:
    """Of `id`, `did`, `m`, `nle` and `g`; held still, the base's q is neutral, its motion zero."""
    free, given, still = (
        Dynamics(SWINGER, "golden", functions=FUNCTIONS, base="floating", root=root)
        for root in ("free", "given", "ignored")
    )
    rng = np.random.default_rng(1)
    q, (v, a) = rng.normal(size=9), rng.normal(size=(2, 8))
    q[3:7] /= np.linalg.norm(q[3:7])
    rest = (
        np.concatenate([[0, 0, 0, 0, 0, 0, 1], q[7:]]),
        *(np.r_[np.zeros(6), x[6:]] for x in (v, a)),
    )
    pairs = [
        (results(free, q, v, a), results(given, q, v, a)),
        (results(free, *rest), results(still, q[7:], v[6:], a[6:])),
    ]
    for whole, joints in pairs:
        for of_all, own in zip(whole, joints, strict=True):
            rows = of_all[6:, 6:] if of_all.ndim == 2 else of_all[6:]
            np.testing.assert_allclose(rows, own, rtol=1e-12, atol=1e-12)
            assert np.abs(own).max() > 1e-3
