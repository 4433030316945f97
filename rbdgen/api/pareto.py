"""Which of several designs no other one beats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def front(costs: Sequence[Sequence[float]]) -> list[bool]:
    """Whether each row of costs is on the front: no other is as low everywhere and lower somewhere.

    Of rows that are equal, all are on the front or none.
    """
    if not costs:
        return []
    rows, which = np.unique(np.array(costs, float), axis=0, return_inverse=True)
    # Of rows that differ, one that is nowhere higher is lower somewhere, and sorts before.
    best = [not (rows[:k] <= own).all(axis=1).any() for k, own in enumerate(rows)]
    return [best[k] for k in which.ravel()]


def beats(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether ``one`` is nowhere higher than ``other``, and lower somewhere."""
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
