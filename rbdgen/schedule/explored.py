"""The results of an exploration: designs and their costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..system.records import Record
from .area import ModelError


@dataclass(frozen=True)
class DesignPoint(Record):
    """A design: its ``choices``, its rate, and sites by quantity as in `counted`.

    ``latency`` [cycles] and ``estimated`` are None of what needs too many multipliers, ``mapped``
    is where Yosys has not counted; ``generate`` is the command that makes it, None for what a
    command line cannot say. ``worst``: its coordinates with the largest errors, at the limits and
    at a tenth of them; None of quick designs, which have no words.
    """

    choices: Mapping[str, Any]
    interval: int
    latency: int | None
    evaluations_per_clock: float
    multipliers: int
    estimated: Mapping[str, int] | None
    mapped: Mapping[str, int] | None
    generate: str | None
    why_not: str | None = None
    worst: str | None = None
    fits: bool = False
    pareto: bool = False

    @property
    def cells(self) -> Mapping[str, int] | None:
        """The cells that Yosys counted, else those of the model."""
        return self.mapped or self.estimated


@dataclass(frozen=True)
class Sites(Record):
    """The sites of a part."""

    multipliers: int
    luts: int


@dataclass(frozen=True)
class QuickError(Record):
    """How far estimates from quick schedules are off those from full ones, relative, over some
    ``designs``: root mean square, and the largest with its sign."""

    designs: int
    rms: float
    worst: float


@dataclass(frozen=True)
class Explored(Record):
    """Designs of a robot's functions for a part; ``model``: by quantity, how far the model is off
    where it was fitted; ``quick``: where schedules are quick ones, how far those are off."""

    robot: str
    functions: tuple[str, ...]
    target: str
    part: str
    limits: Sites
    model: Mapping[str, ModelError]
    points: tuple[DesignPoint, ...]
    quick: Mapping[str, QuickError] | None = None
