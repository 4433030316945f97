"""Which of several designs no other one beats."""

from __future__ import annotations

from collections.abc import Sequence


def front(costs: Sequence[Sequence[float]]) -> list[bool]:
    """Whether each row of costs is on the front: no other is as low everywhere and lower somewhere.

    Of rows that are equal, all are on the front or none.
    """
    return [not any(beats(other, own) for other in costs) for own in costs]


def beats(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether ``one`` is nowhere higher than ``other``, and lower somewhere."""
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
