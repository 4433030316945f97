"""Clock of a design that was not placed, estimated: ns for each of a few terms, as a range.

The terms are those of a plan (``schedule.clock``) or of a mapped netlist (``tools.timing``). What
one of each takes stands in ``clock.json`` beside this module, with the placed designs that it was
fitted to and how far each model is off of designs that its fit has not seen; ``rbdgen bench
clocks`` writes such a table. No coefficient is negative: what has more of a term is never faster.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..system.records import Record
from .least_squares import FitError, Sample, Terms, beyond, coefficients, fitted_errors, value_of
from .target import Target

TABLE = Path(__file__).with_name("clock.json")
FAMILY, SPEED = "ecp5", 8  # what is fitted; periods of other grades are a ratio of this one's
PLAN, NETLIST = "plan", "netlist"  # the models
ROOT = "root of cells"  # the term that says how large a design is


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
    mhz, unseen = (
        1e3 / value_of(own["coefficients"], terms),
        beyond(own["cells"], round(terms[ROOT] ** 2)),
    )
    found = []
    for speed in part.speeds:
        if speed not in grades:
            continue
        ratio = grades[speed]
        about, off = mhz / ratio.about, error.spread * math.hypot(error.most, ratio.off)
        own_span = (round(about * (1 + way), 1) for way in (0, -off, off))
        found.append(ClockEstimate(speed, Span(*own_span), unseen))
    return tuple(found)


def unfitted_speeds(part: Target) -> list[int]:
    """The speed grades of a part whose clock is not known, of a family that was fitted."""
    return [own for own in part.speeds if part.family == FAMILY and own not in grade_ratios()]


def grade_ratios() -> dict[int, GradeRatio]:
    """The speed grades that the table has."""
    found = fitted()["speeds"].items()
    return {int(speed): GradeRatio.from_json(own) for speed, own in found}


def clock_error(model: str) -> FitError:
    """The error of a model's estimates."""
    return FitError.from_json(fitted()["models"][model]["error"])


@cache
def fitted() -> dict[str, Any]:
    """The table that comes with rbdgen."""
    return dict(json.loads(TABLE.read_text("utf-8")))


def fit(samples: Sequence[Sample], names: Sequence[str]) -> dict[str, Any]:
    """A model of the samples' periods [ns], with the errors of its MHz and the cells it has seen.

    Raises ValueError for fewer than three samples.
    """
    error = fitted_errors(samples, names, rates=True)
    cells = [round(own.terms[ROOT] ** 2) for own in samples]
    return {
        "coefficients": coefficients([(own.terms, own.value) for own in samples], names),
        "cells": [min(cells), max(cells)],
        "error": error.to_json(),
    }
