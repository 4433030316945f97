"""The terms of a plan's clock: what it contains that may limit it, before anything is mapped.

A large design has long wires: the period grows with the root of its cells, as the side of the
square that they fill does. Beyond that it is a few structures that the slowest paths of placed
designs go through.
"""

from __future__ import annotations

from ..design.clock import FAMILY, PLAN, ROOT, ClockEstimate, clock_estimates
from ..design.least_squares import Terms
from ..design.target import Target
from .area import estimated
from .features import Features

NAMES = {
    "path": "a register, a carry chain, and the wires about it",
    ROOT: "the root of the LUTs and flip-flops that the area model estimates",
    "operands chosen": "1 where operations share multipliers",
    "reciprocals": "1 where pivots are inverted",
}


def terms(family: str, features: Features) -> Terms:
    """The value of each of ``NAMES``. Raises NoModel for a family without an area model."""
    cells = estimated(family, features)
    return {
        "path": 1.0,
        ROOT: (cells["luts"] + cells["flip_flops"]) ** 0.5,
        "operands chosen": float(features["multiplexed_bits"] > 0),
        "reciprocals": float(features["reciprocal_bits"] > 0),
    }


def plan_clocks(part: Target, features: Features) -> tuple[ClockEstimate, ...]:
    """The clock of a plan at each speed grade of its part; none where no model was fitted."""
    if part.family != FAMILY:
        return ()
    return clock_estimates(part, PLAN, terms(part.family, features))


def slowest_clock(part: Target, features: Features) -> ClockEstimate | None:
    """The same at the part's slowest grade; None where no model was fitted."""
    return next(iter(plan_clocks(part, features)), None)
