"""Clock of a design that was not placed, estimated: ns for each of a few terms, as a range.

The terms are those of a plan (``schedule.clock``) or of a mapped netlist (``tools.timing``). What
one of each takes stands in ``clock.json`` beside this module, with the placed designs that it was
fitted to and how far each model is off of designs that its fit has not seen; ``rbdgen bench
clocks`` writes such a table. No coefficient is negative: what has more of a term is never faster.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..system.records import Record
from .target import Target

TABLE = Path(__file__).with_name("clock.json")
FAMILY, SPEED = "ecp5", 8  # what is fitted; periods of other grades are a ratio of this one's
PLAN, NETLIST = "plan", "netlist"  # the models
ROOT = "root of cells"  # the term that says how large a design is
SHARE = 0.9  # of designs, in the range that is printed
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
    one robot; ``worst`` of the former. The range that is printed is ``spread`` times the larger
    RMS to either side; ``inside``: the share of designs in the range that the others make."""

    designs: int
    fit: float
    design: float
    robot: float | None
    worst: float
    spread: float
    inside: float

    @property
    def most(self) -> float:
        """The larger RMS of designs that the fit has not seen."""
        return max(self.design, self.robot or 0.0)


@dataclass(frozen=True)
class GradeRatio(Record):
    """The periods at a speed grade, in those of `SPEED`: ``about``, and the relative error ``off``
    (RMS) that is expected of a further design's, after so many ``designs`` placed at both."""

    about: float
    off: float
    designs: int

    @classmethod
    def of(cls, ratios: Sequence[float]) -> Self:
        """The ratio of two designs or more: their mean, and their deviation about it."""
        count, about = len(ratios), float(np.mean(ratios))
        off = float(np.std(ratios, ddof=1)) / about * (1 + 1 / count) ** 0.5
        return cls(round(about, 3), round(off, 4), count)


@dataclass(frozen=True)
class Span(Record):
    """A number that is estimated: ``about``, and the range in which nine in ten are expected."""

    about: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"~{self.about:.3g} ({self.least:.3g} to {self.most:.3g})"


@dataclass(frozen=True)
class ClockEstimate(Record):
    """MHz at a speed grade of the part, before the design is placed; ``beyond``: in which way the
    model has seen no such design, empty where it has."""

    speed: int
    mhz: Span
    beyond: str = ""

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
    own, error, grades = fitted()["models"][model], clock_error(model), grade_ratios()
    mhz, beyond = 1e3 / period(own["coefficients"], terms), _beyond(own["cells"], terms)
    found = []
    for speed in part.speeds:
        if speed not in grades:
            continue
        ratio = grades[speed]
        about, off = mhz / ratio.about, error.spread * math.hypot(error.most, ratio.off)
        own_span = (round(about * (1 + way), 1) for way in (0, -off, off))
        found.append(ClockEstimate(speed, Span(*own_span), beyond))
    return tuple(found)


def _beyond(extent: Sequence[int], terms: Terms) -> str:
    """The words about a design that is smaller or larger than all that a model was fitted to."""
    cells, (least, most) = round(terms[ROOT] ** 2), extent
    if least <= cells <= most:
        return ""
    return f"{cells} cells, where the model was fitted to {least} to {most}"


def unfitted_speeds(part: Target) -> list[int]:
    """The speed grades of a part whose clock is not known, of a family that was fitted."""
    return [own for own in part.speeds if part.family == FAMILY and own not in grade_ratios()]


def grade_ratios() -> dict[int, GradeRatio]:
    """The speed grades that the table has."""
    found = fitted()["speeds"].items()
    return {int(speed): GradeRatio.from_json(own) for speed, own in found}


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
    of what each design is estimated by a fit to the others.

    Raises ValueError for fewer than three samples: an error of one other is none.
    """
    if len(samples) < 3:
        raise ValueError(f"{len(samples)} designs: at least 3, for an error of what is left out")
    every = _off(samples, names, lambda own, other: True)
    design = _off(samples, names, lambda own, other: own is not other)
    kinds = [design]
    if len({own.robot for own in samples}) > 1:
        kinds.append(_off(samples, names, lambda own, other: own.robot != other.robot))
    # the printed range is about the estimate, and the placed clock is in it; of each design, the
    # range is that which the errors of the others make
    others = [np.delete(np.array(kinds), k, axis=1) for k in range(len(samples))]
    ranges = np.array([_spread(len(samples) - 1) * max(map(_rms, own)) for own in others])
    error = ClockError(
        designs=len(samples),
        fit=_rms(every),
        design=_rms(design),
        robot=_rms(kinds[1]) if kinds[1:] else None,
        worst=round(float(np.abs(design).max()), 4),
        spread=_spread(len(samples)),
        inside=round(float((np.abs(1 / (1 + design) - 1) <= ranges).mean()), 4),
    )
    cells = [round(own.terms[ROOT] ** 2) for own in samples]
    return {
        "coefficients": _coefficients(samples, names),
        "cells": [min(cells), max(cells)],
        "error": error.to_json(),
    }


def _spread(samples: int) -> float:
    """How often the RMS of so many errors is `SHARE` of further ones at most, by Student's t."""
    from scipy.stats import t  # late: half a second

    return round(float(t.ppf((1 + SHARE) / 2, samples)), 3)


def _off(
    samples: Sequence[Sample], names: Sequence[str], sees: Callable[[Sample, Sample], bool]
) -> NDArray:
    """The relative error of each sample's MHz, by a fit to those that it ``sees``."""
    found = []
    for own in samples:
        model = _coefficients([other for other in samples if sees(own, other)], names)
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
