"""The terms of a plan's energy: what changes once a result, and what in each of its cycles."""

from __future__ import annotations

from ..design.energy import BUSY, FAMILY, IDLE, EnergyEstimate, energy_estimate
from ..design.least_squares import Terms
from ..design.target import Target
from .area import estimated
from .features import Features

NAMES = {
    "results": "1: what any result takes",
    "bits of sums": "which change once a result",
    "flip-flops, cycles": "those that the area model estimates, times the cycles from task to task",
    "waiting bits, cycles": "bits of registers in which values wait, times the same",
    "multipliers, cycles": "hardware multipliers, which have new operands in most of these cycles",
    "block RAMs, cycles": "which are clocked in some of them",
    "cycles": "the clock's tree",
}
# What changes, the clock's tree being with the flip-flops; and what is clocked without a task.
TERMS = {
    BUSY: tuple(NAMES)[:-1],
    IDLE: ("cycles", "flip-flops, cycles", "block RAMs, cycles"),
}


def terms(features: Features, interval: float) -> dict[str, float]:
    """The value of each of ``NAMES``, of an ECP5."""
    return {
        "results": 1.0,
        "bits of sums": float(features["sum_bits"]),
        "flip-flops, cycles": estimated(FAMILY, features)["flip_flops"] * interval,
        "waiting bits, cycles": features["waiting_bits"] * interval,
        "multipliers, cycles": features["products"] * interval,
        "block RAMs, cycles": features["tables"] * interval,
        "cycles": float(interval),
    }


def cells_of(features: Features) -> int:
    """LUTs and flip-flops by the area model."""
    cells = estimated(FAMILY, features)
    return cells["luts"] + cells["flip_flops"]


def plan_energy(part: Target, features: Features, interval: int) -> EnergyEstimate | None:
    """The energy of a plan's results; None where no model was fitted."""
    if part.family != FAMILY:
        return None
    own: Terms = terms(features, interval)
    return energy_estimate(part, own, cells_of(features), interval)
