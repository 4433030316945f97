"""The fewest cycles from start to done within a budget of multipliers, at the fastest clock.

At the least initiation interval that the budget allows, every unit is busy in nearly every phase,
and jobs wait for one. A longer interval leaves the same units idle more often. So intervals are
tried from the least up, in growing steps, until nothing waits or nothing is gained.
"""

from __future__ import annotations

import math

from ..design.target import Target
from ..graph.fixed import FixedGraph
from .fold import Fold
from .modulo import fold
from .units import Jobs, UnitKind

STEPS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0)  # times the least interval


def quickest(
    fixed: FixedGraph, target: Target, jobs: Jobs, budget: int, interval: int | None = None
) -> Fold:
    """The fold of the smallest latency, and of those the one of the smallest interval.

    ``budget``: hardware multipliers. ``interval``: the only one to try, if given.

    Raises:
        ValueError: one unit of each kind is more than the budget; says how many that takes.
    """
    least = jobs.least_interval(budget)
    if least == 1:  # every job on a unit of its own: nothing waits
        return fold(fixed, target, interval or 1, jobs, jobs.units(1))
    bound = fold(fixed, target, 1, jobs, selected=True).latency
    intervals = [interval] if interval else sorted({math.ceil(least * step) for step in STEPS})
    most, best = _within(jobs, budget, least), None
    # first as the throughput style does it, so as never to be slower than that
    first = intervals[0], jobs.units(intervals[0])
    for tried, units in (first, *((k, most) for k in intervals)):
        found = fold(fixed, target, tried, jobs, units, selected=True)
        if best is None or found.latency < best.latency:
            best = found
        if best.latency <= bound:
            break
    assert best is not None
    return best


def _within(jobs: Jobs, budget: int, least: int) -> dict[UnitKind, int]:
    """Units of each kind: those that the least interval takes, and what else fits."""
    units = jobs.units(least)
    for kind in sorted(units, key=lambda k: -len(jobs.of[k]) / units[k]):
        left = (budget - jobs.hardware(units)) // max(jobs.each[kind], 1)
        units[kind] = min(units[kind] + left, len(jobs.of[kind]))
    return units
