"""The arrays that a graph's outputs are entries of: ``M[1,0]`` is one of M."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .word import kind_of, parse

SYMMETRIC = ("M", "Minv")  # a graph has their lower triangle only
SURE = 3.0  # standard deviations of a mean square, between what was measured and what holds


def array_of(names: Iterable[str]) -> dict[str, str]:
    """Output → its array."""
    return {name: kind_of(name) for name in names}


def times(name: str) -> int:
    """How many entries of its array an output is."""
    word = parse(name)
    if word.kind not in SYMMETRIC:
        return 1
    row, column = word.indices
    return 1 if row == column else 2


def relative_rms(
    squares: NDArray[np.float64], size: NDArray[np.float64], deviations: float = 0.0
) -> float:
    """√(Σ squares / Σ size) of states, (N,) each: an array's squared errors, and its own squares.

    With ``deviations`` of the mean square's own uncertainty added: of states that were measured
    it is a sample, and rare ones may have most of the error.
    """
    total = float(size.sum())
    if not total:
        return 0.0
    far = deviations * float(squares.std()) * math.sqrt(len(squares))
    return math.sqrt(max(float(squares.sum()) + far, 0.0) / total)
