"""The lengths that integer algorithms say their words have, held against what is computed; and a
digest of that."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.graph.algorithm import Algorithm, Do, Variable
from rbdgen.graph.integers import execute


def check_widths(algorithm: Algorithm, **inputs: Any) -> None:
    """Every result of every step fits its word."""
    place = {x: (k, step) for k, step in enumerate(algorithm.steps) for x in step.results}
    seen: set[Variable] = set()

    saturated = {step.args[0]: step.value for step in algorithm.steps if step.do is Do.SATURATE}

    def look(x: Variable, values: Any) -> None:
        lowest = -(1 << (x.width - 1)) if x.signed else 0
        highest = lowest + (1 << x.width) - 1
        k, step = place[x]
        found = int(np.min(values)), int(np.max(values))
        assert lowest <= found[0] and found[1] <= highest, (k, step.do, x.width, x.signed, found)
        assert saturated.get(x, lowest) <= found[0]  # what no hardware looks for
        seen.add(x)

    execute(algorithm, look, **inputs)
    assert seen == set(place)


def operands(algorithm: Algorithm) -> list[tuple[int, int]]:
    """The lengths of the words that each product multiplies, as signed ones."""
    return [
        (step.args[0].width + (not step.args[0].signed), step.args[1].width)
        for step in algorithm.steps
        if step.do is Do.MUL
    ]


def spread(bits: int, count: int) -> NDArray[np.int64]:
    """Words of ``bits`` bits without a sign, evenly spread, the same with every NumPy."""
    golden_ratio = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        spread = np.arange(count, dtype=np.uint64) * golden_ratio
    return (spread >> np.uint64(64 - bits)).astype(np.int64)


def digest(*columns: NDArray[np.int64]) -> str:
    """Of every bit."""
    words = np.stack([np.asarray(column).astype("<i8") for column in columns])
    return hashlib.sha256(words.tobytes()).hexdigest()[:8]
