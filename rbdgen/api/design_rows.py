"""A design in a comparison: its figures, and how many times better it is than another's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..system.records import Record


@dataclass(frozen=True)
class Line(Record):
    """A design: cycles of latency, cycles from task to task (least, most), MHz, DSP.

    None where nobody says; ``clock_of``: where the clock comes from.
    """

    LAST: ClassVar[tuple[str, ...]] = (
        *("evaluations_per_clock", "evaluations_per_clock_and_dsp"),
        *("latency_us", "evaluations_per_us"),
    )

    name: str
    latency: int
    interval: tuple[float, float] | None
    clock: float | None
    clock_of: str
    dsp: int | None

    @property
    def evaluations_per_clock(self) -> float | None:
        """The best rate: one evaluation in the shortest interval."""
        return 1 / self.interval[0] if self.interval else None

    @property
    def evaluations_per_clock_and_dsp(self) -> float | None:
        """The best rate for each DSP."""
        rate = self.evaluations_per_clock
        return rate / self.dsp if rate and self.dsp else None

    @property
    def latency_us(self) -> float | None:
        """The latency in µs."""
        return self.latency / self.clock if self.clock else None

    @property
    def evaluations_per_us(self) -> float | None:
        """The best rate in million evaluations a second."""
        rate = self.evaluations_per_clock
        return rate * self.clock if rate and self.clock else None


@dataclass(frozen=True)
class Theirs(Line):
    """A peer's design, and where it is described."""

    LAST = (*Line.LAST, "source", "note")

    source: str
    note: str


@dataclass(frozen=True)
class Ratios(Record):
    """How many times better than a peer: evaluations a clock, the same for each DSP, cycles."""

    evaluations_per_clock: float | None
    evaluations_per_clock_and_dsp: float | None
    latency: float | None


@dataclass(frozen=True)
class Ours(Line):
    """A design of ours, and how many times better it is than each peer, by name."""

    LAST = (*Line.LAST, "relative")

    relative: Mapping[str, Ratios]
