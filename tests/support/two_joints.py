"""The inverse mass matrix of two joints, as a graph, and states of it."""

from __future__ import annotations

import numpy as np

from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder


def minv_of_two_joints() -> Graph:
    """M = LᵀDL, M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ, outwards and back."""
    b = Builder()
    m11, m21, m22 = (b.input(name) for name in ("m11", "m21", "m22"))
    with b.region("backward", 2):
        r2 = b.recip(m22)
        h = m21 * r2  # l = M21 / D2
    with b.region("backward", 1):
        r1 = b.recip(m11 - h * m21)  # 1 / D1
    with b.region("forward", 1):
        column = -(h * r1)
    with b.region("forward", 2):
        last = r2 - h * column
    return Graph(("m11", "m21", "m22"), {"11": r1, "21": column, "22": last})


def mass_matrices(n: int, seed: int) -> dict[str, np.ndarray]:
    """Pivots over three decades, and far enough from singular for their words."""
    rng = np.random.default_rng(seed)
    d1, d2 = 10 ** rng.uniform(-2, [[1.5], [1]], (2, n))
    h = rng.uniform(-1, 1, n) * np.minimum(1, np.sqrt(d1 / d2))
    return {"m11": d1 + h * h * d2, "m21": h * d2, "m22": d2}
