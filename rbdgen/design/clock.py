"""Clock of a design that was not placed, estimated: ns for each of a few terms, as a range.

The terms are those of a plan (``schedule.clock``) or of a mapped netlist (``tools.timing``). What
one of each takes stands in ``clock.json`` beside this module, with the placed designs that it was
fitted to and how far each model is off of designs that its fit has not seen; ``rbdgen bench
clocks`` writes such a table. No coefficient is negative: what has more of a term is never faster.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..system.records import Record
from .target import Target

TABLE = Path(__file__).with_name("clock.json")
FAMILY, SPEED = "ecp5", 8  # what is fitted; periods of other grades are a ratio of this one's
SPREAD = 1.65  # times the RMS error: nine in ten of a normal distribution
PLAN, NETLIST = "plan", "netlist"  # the models
Terms = Mapping[str, float]
Model = Mapping[str, float]  # term → ns


class Sample(NamedTuple):
    """A placed design: whose robot, its terms, and MHz, the median of its seeds."""

    robot: str
    terms: Terms
    mhz: float


@dataclass(frozen=True)
class ClockError(Record):
    """Relative errors of the MHz: ``fit``, RMS where they were fitted; ``design``, of designs that
    the fit has not seen; ``robot``, of those of whose robot it has seen none, None where there is
    one robot; ``worst`` of the former, and which share of them is ``inside`` the range that is
    printed."""

    designs: int
    fit: float
    design: float
    robot: float | None
    worst: float
    inside: float

    @property
    def most(self) -> float:
        """The larger RMS of designs that the fit has not seen."""
        return max(self.design, self.robot or 0.0)


@dataclass(frozen=True)
class Span(Record):
    """A number that is estimated: ``about``, and a range that nine in ten designs are in."""

    about: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"~{self.about:.3g} ({self.least:.3g} to {self.most:.3g})"


@dataclass(frozen=True)
class ClockEstimate(Record):
    """MHz at a speed grade of the part, before the design is placed."""

    speed: int
    mhz: Span

    def __str__(self) -> str:
        own = self.mhz
        return f"~{own.about:.0f} MHz at speed {self.speed} ({own.least:.0f} to {own.most:.0f})"

    def us(self, cycles: float) -> Span:
        """The µs of so many cycles."""
        own = self.mhz
        return Span(cycles / own.about, cycles / own.most, cycles / own.least)

    def rate(self, interval: float) -> Span:
        """M tasks/s of the core, one every ``interval`` cycles."""
        own = self.mhz
        return Span(own.about / interval, own.least / interval, own.most / interval)


def clock_estimates(part: Target, model: str, terms: Terms) -> tuple[ClockEstimate, ...]:
    """The clock at each speed grade of a part; none of a family that was not fitted."""
    if part.family != FAMILY:
        return ()
    table = fitted()
    own, error = table["models"][model], clock_error(model)
    mhz, off = 1e3 / period(own["coefficients"], terms), SPREAD * error.most
    found = []
    for speed in part.speeds:
        if str(speed) not in table["speeds"]:
            continue
        about = mhz / table["speeds"][str(speed)]
        own_span = (round(about * (1 + way), 1) for way in (0, -off, off))
        found.append(ClockEstimate(speed, Span(*own_span)))
    return tuple(found)


def clock_error(model: str) -> ClockError:
    """The error of a model's estimates."""
    return ClockError.from_json(fitted()["models"][model]["error"])


@cache
def fitted() -> dict[str, Any]:
    """The table that comes with rbdgen."""
    return dict(json.loads(TABLE.read_text("utf-8")))


def period(coefficients: Model, terms: Terms) -> float:
    """The ns of a clock."""
    return sum(each * terms[name] for name, each in coefficients.items())


def fit(samples: Sequence[Sample], names: Sequence[str]) -> dict[str, Any]:
    """Coefficients of the terms by non-negative least squares of relative errors, and the errors
    of what each design is estimated by a fit to the others."""

    every = _off(samples, names, lambda own, other: True)
    design = _off(samples, names, lambda own, other: own is not other)
    several = len({own.robot for own in samples}) > 1
    robot = _rms(_off(samples, names, lambda own, other: own.robot != other.robot))
    error = ClockError(
        designs=len(samples),
        fit=_rms(every),
        design=_rms(design),
        robot=robot if several else None,
        worst=round(float(np.abs(design).max()), 4),
        inside=0.0,
    )
    # the printed range is about the estimate, and the placed clock is in it
    inside = np.abs(1 / (1 + design) - 1) <= SPREAD * error.most
    error = replace(error, inside=round(float(inside.mean()), 4))
    return {"coefficients": _coefficients(samples, names), "error": error.to_json()}


def _off(
    samples: Sequence[Sample], names: Sequence[str], sees: Callable[[Sample, Sample], bool]
) -> NDArray:
    """The relative error of each sample's MHz, by a fit to those that it ``sees``, or to all."""
    found = []
    for own in samples:
        others = [other for other in samples if sees(own, other)]
        model = _coefficients(others or samples, names)
        found.append(1e3 / period(model, own.terms) / own.mhz - 1)
    return np.array(found)


def _coefficients(samples: Sequence[Sample], names: Sequence[str]) -> dict[str, float]:
    from scipy.optimize import nnls  # late: half a second

    matrix: NDArray = np.array([[s.terms[n] * s.mhz / 1e3 for n in names] for s in samples])
    solution, _ = nnls(matrix, np.ones(len(samples)))
    pairs = zip(names, solution, strict=True)
    return {name: float(f"{x:.4g}") for name, x in pairs if x > 0}


def _rms(errors: Any) -> float:
    return round(float(np.sqrt(np.mean(np.square(errors)))), 4)
