"""Values of all nodes at some inputs, and the rounding noise that is in them.

The noise of a node is the standard deviation of its value where each operation before it rounds by
a part U of its result, independently: that of its operands times the slopes by them, and its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph.derivative import DERIVATIVE
from ..graph.evaluate import FLOAT
from ..graph.graph import Graph
from ..graph.node import Node, Op

Array = NDArray[np.float64]

U = 2.0**-53  # a rounding in double, over its result


@dataclass(frozen=True, eq=False)
class Noisy:
    """``value`` and ``noise`` of a node, (n,) each."""

    value: Array
    noise: Array


def with_noise(graph: Graph, inputs: Mapping[str, Array]) -> dict[Node, Noisy]:
    """Every node at ``inputs``, (n,) each. What is computed from infinities is not finite.

    A choice (c < 0 ? a : b) is w(c) a + (1 - w(c)) b, with a function w that no graph has. So two
    nodes that are equal here are equal whichever branches are taken.
    """
    n = max(map(np.size, inputs.values()), default=1)
    found: dict[Node, Noisy] = {}
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            args = [found[a] for a in node.args]
            values = [a.value for a in args]
            slopes: tuple[Any, ...]
            if node.op is Op.INPUT or (node.op is Op.HELD and node.name in inputs):
                value, slopes = inputs[node.name], ()
            elif node.op is Op.SELECT:
                value, slopes = _chosen(*values)
            else:
                value = FLOAT[node.op](node, *values)
                slopes = DERIVATIVE[node.op].slopes(node, value, *values)
            value = np.broadcast_to(np.asarray(value, float), n)
            variance = 0.0 if node.op in (Op.INPUT, Op.HELD) else (U * value) ** 2
            for slope, arg in zip(slopes, args, strict=True):
                variance = variance + (slope * arg.noise) ** 2
            found[node] = Noisy(value, np.broadcast_to(np.sqrt(variance), n))
    return found


def _chosen(c: Array, a: Array, b: Array) -> tuple[Array, tuple[Any, ...]]:
    """A choice that takes a bit of both, and its slopes."""
    w = 0.5 + np.sin(c + 1.0)
    return w * a + (1.0 - w) * b, (np.cos(c + 1.0) * (a - b), w, 1.0 - w)
