"""Energy of a design's results before it is mapped, estimated: nJ for each of a few terms.

The terms are those of a plan (``schedule.energy``). What one of each takes stands in
``energy.json`` beside this module, with the designs that it was fitted to: their netlists were
simulated and their toggles counted, by ``rbdgen energy``. What a toggle takes is assumed there,
with a low and a high value each, so this range is wider than that of the fit; ``rbdgen bench
energies`` writes such a table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..system.records import Record
from .clock import Span
from .least_squares import FitError, Sample, Terms, beyond, coefficients, fitted_errors, value_of
from .target import Target

TABLE = Path(__file__).with_name("energy.json")
FAMILY = "ecp5"  # of whose cells energies are published
BUSY, IDLE = "busy", "idle"  # the models: of a result, and of as many cycles without a task


@dataclass(frozen=True)
class EnergyEstimate(Record):
    """nJ of a result, and ``idle`` ones in the ``interval`` cycles of a task that does not come;
    ``beyond``: in which way the model has seen no such design, empty where it has."""

    nj: Span
    idle: Span
    interval: int
    beyond: str = ""

    def watts(self, mhz: float, rate: float | None = None) -> Span:
        """Watts at a clock, with ``rate`` tasks a second, or all that there can be, without what
        the part takes in standby."""
        most = mhz * 1e6 / self.interval
        rate = most if rate is None else min(rate, most)
        resting = most - rate
        ends = zip(vars(self.nj).values(), vars(self.idle).values(), strict=True)
        return Span(*(1e-9 * (nj * rate + idle * resting) for nj, idle in ends))

    def __str__(self) -> str:
        return f"{self.nj} nJ a result"


def energy_estimate(part: Target, terms: Terms, cells: int, interval: int) -> EnergyEstimate | None:
    """The energy of a plan with these terms and so many LUTs and flip-flops; None of a family that
    was not fitted."""
    if part.family != FAMILY:
        return None
    table = fitted()
    nj = _span(table["models"][BUSY], terms)
    idle = _span(table["models"][IDLE], terms)
    return EnergyEstimate(nj, idle, interval, beyond(table["cells"], cells))


def energy_error(model: str = BUSY) -> FitError:
    """The error of a model's central values."""
    return FitError.from_json(fitted()["models"][model]["error"])


def _span(model: Mapping[str, Any], terms: Terms) -> Span:
    """The central value, with its range."""
    about = value_of(model["coefficients"], terms)
    return Span(about, *(about * each for each in extent(model)))


def extent(model: Mapping[str, Any]) -> tuple[float, float]:
    """The range by the central value: that of a toggle's energy, times the fit's error."""
    error = FitError.from_json(model["error"])
    off = error.spread * error.most
    low, high = model["range"]
    return low * max(1 - off, 0.0), high * (1 + off)


@cache
def fitted() -> dict[str, Any]:
    """The table that comes with rbdgen."""
    return dict(json.loads(TABLE.read_text("utf-8")))


def fit(
    samples: Sequence[Sample], ranges: Sequence[tuple[float, float]], names: Sequence[str]
) -> dict[str, Any]:
    """A model of the samples' nJ; ``ranges``: low and high by central value of each, whose outer
    ones are taken. Raises ValueError for fewer than three samples."""
    return {
        "coefficients": coefficients([(own.terms, own.value) for own in samples], names),
        "range": [round(min(low for low, _ in ranges), 3), round(max(h for _, h in ranges), 3)],
        "error": fitted_errors(samples, names, rates=False).to_json(),
    }
