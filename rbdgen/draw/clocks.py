"""Lines about a clock and an energy that are expected of a design that was not mapped."""

from __future__ import annotations

from collections.abc import Sequence

from ..design.clock import (
    PLAN,
    SPEED,
    ClockEstimate,
    clock_error,
    grade_ratios,
    unfitted_speeds,
)
from ..design.energy import EnergyEstimate, energy_error
from ..design.target import find_target


def clock_lines(clocks: Sequence[ClockEstimate], target: str) -> list[str]:
    """A line with the clock that is expected, if there is a model; and one if it has seen no such
    design."""
    if not clocks:
        return []
    lines = [
        f"not placed yet, the clock is {', '.join(map(str, clocks))}, {of_model(target)}; "
        "synthesize --place-and-route tells"
    ]
    beyond = clocks[0].beyond
    return [*lines, f"DOUBTFUL is this clock: of {beyond}"] if beyond else lines


def of_model(target: str) -> str:
    """The words about the model behind a clock that is expected, and how far it is off."""
    error, part = clock_error(PLAN), find_target(target)
    ratios = [
        f"; at speed {speed} by a ratio of {own.designs} designs"
        for speed in part.speeds
        if speed != SPEED and (own := grade_ratios().get(speed))
    ]
    unknown = [f"; not known at speed {speed}" for speed in unfitted_speeds(part)]
    return (
        f"by a model fitted to {error.designs} placed designs of speed {SPEED}, {error.most:.0%} "
        f"off (RMS) of robots that it has not seen{''.join([*ratios, *unknown])}"
    )


def energy_lines(energy: EnergyEstimate | None, clocks: Sequence[ClockEstimate]) -> list[str]:
    """A line with the energy of a result, and watts at the clock of the slowest speed grade."""
    if energy is None:
        return []
    watts = f", {energy.watts(clocks[0].mhz.about)} W at full rate" if clocks else ""
    doubt = f"; DOUBTFUL: of {energy.beyond}" if energy.beyond else ""
    return [f"a result takes {energy.nj} nJ{watts}, {of_energies()}{doubt}"]


def of_energies() -> str:
    """The words about the model behind an energy, and how far it is off."""
    error = energy_error()
    return (
        f"estimated: toggles by a model fitted to {error.designs} mapped designs, {error.most:.0%} "
        "off (RMS); a toggle's energy is assumed, and no board was measured; rbdgen energy tells "
        "more"
    )
