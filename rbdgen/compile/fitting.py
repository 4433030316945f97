"""The fastest design that fits its part, where nobody says how often it takes a task.

What a design takes is known from its plan: hardware multipliers exactly, cells by the area model.
Up to a length that differs, a longer interval takes less, so that a few plans find the shortest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ..design.choices import WIDTHS
from ..design.design import Design, with_choice
from ..design.nested import FITTED, Choice
from ..design.target import TARGETS, Target
from ..schedule.area import NoModel, estimated, fitted
from ..schedule.units import Binding

FILLED = 0.8  # of LUTs and flip-flops: what is fuller is seldom placed and routed
CELLS = {"luts": "LUTs", "flip_flops": "flip-flops", "block_rams": "block RAMs"}


@dataclass(frozen=True)
class ResourceEstimate:
    """The resources that a design takes of a part.

    ``logic``: products and units that found no hardware multiplier and are made of LUTs.
    ``cells``: by the area model; None where there is none of the family.
    """

    target: Target
    interval: int
    multipliers: int
    logic: int
    cells: Mapping[str, int] | None

    @property
    def lacking(self) -> list[str]:
        """The resources that the part has too little of: ``about 90000 of 83640 LUTs``."""
        found = []
        if self.multipliers > self.target.multipliers:
            found.append(f"{self.multipliers} of {self.target.multipliers} multipliers")
        for key, name in CELLS.items():
            if self.cells is not None and self.cells[key] > room(self.target, key):
                found.append(f"about {self.cells[key]} of {getattr(self.target, key)} {name}")
        return found

    @property
    def fits(self) -> bool:
        """Whether the part has enough of everything."""
        return not self.lacking

    @property
    def filled(self) -> float:
        """The share of what there is most too little of."""
        shares = [self.multipliers / self.target.multipliers]
        if self.cells is not None:
            shares += [self.cells[key] / room(self.target, key) for key in CELLS]
        return max(shares)

    def __str__(self) -> str:
        text = f"{self.multipliers} of {self.target.multipliers} multipliers"
        if self.cells is None:
            return f"{text}; how many LUTs is not known"
        return f"{text} and about {self.cells['luts']} of {self.target.luts} LUTs"


def room(target: Target, cells: str) -> float:
    """How many of a part's cells a design may take."""
    there: int = getattr(target, cells)
    return there if cells == "block_rams" else FILLED * there


def need(
    target: Target,
    interval: int,
    multipliers: int,
    features: Mapping[str, int],
    bindings: Sequence[Binding],
) -> ResourceEstimate:
    """The resources of one plan or several that take a task every ``interval`` cycles."""
    styles = [s for b in bindings for k in (b.style, b.sincos, b.recip) for s in k.values()]
    try:
        cells = estimated(target.family, features)
    except NoModel:
        cells = None
    return ResourceEstimate(target, interval, multipliers, styles.count("logic"), cells)


def too_large(need: ResourceEstimate) -> str:
    """A note that a design that was asked for is larger than its part; empty if it is not."""
    if need.fits:
        return ""
    return (
        f"DOES NOT FIT {need.target.name}, by the area model: {', '.join(need.lacking)}"
        f"{_at_most(need)}; without --ii, --multipliers and --fold the fastest that fits is made, "
        "if one does"
    )


def _at_most(need: ResourceEstimate) -> str:
    if need.cells is None:
        return ""
    return f" (LUTs and flip-flops are filled to {100 * FILLED:.0f} % at most)"


@dataclass(frozen=True)
class SharingChoice:
    """A way to share hardware: what ``fold`` is then, and the ``intervals`` that there are.

    Longer ones take less. They are looked for only where something faster than ``soonest`` does
    not fit. ``least``: what all of them take besides what is shared; if that does not fit, none is
    planned unless nothing else fits either. ``inexact``: the coordinate that is off by too much,
    where one is; then none is planned unless nothing else fits, and the note says so.
    """

    fold: str
    soonest: int
    intervals: Callable[[], Sequence[int]]
    least: Callable[[], ResourceEstimate] | None = None
    inexact: Callable[[], str] = lambda: ""


M = TypeVar("M")


@dataclass(frozen=True, eq=False)
class Try(Generic[M]):
    """A design that was planned, and what it takes; ``inexact``: as of its `SharingChoice`."""

    design: Design
    need: ResourceEstimate
    made: M
    inexact: str = ""


@dataclass(frozen=True, eq=False)
class Search(Generic[M]):
    """The search for the fastest design.

    ``alone``: a design as it is where nothing need be shared. ``ways``: to share, those that give
    better designs first. ``make``: the plan of a design for a part, and what it takes of it.
    ``beyond``: what every design takes in which operations share nothing, where that is known to
    be far more than the part has; such a design is made only if nothing else fits.
    """

    alone: Callable[[Design], Design]
    ways: Callable[[Design, Target], Sequence[SharingChoice]]
    make: Callable[[Design, Target], tuple[ResourceEstimate, M]]
    progress: Callable[[str], None]
    beyond: Callable[[Target], ResourceEstimate | None] = lambda target: None

    def fastest(self, design: Design, target: Target) -> tuple[Design, M]:
        """The fastest design that fits, else the smallest; it says what was chosen, and why."""
        tried = list(self._tried(design, target))
        found = _fastest(tried)
        best = found or min(tried, key=lambda t: t.need.filled)
        beyond = self.beyond(target)
        if found is None:
            note = self._nothing(design, best, len(tried) > 1)
        else:
            note = _why(best, tried[0]) if beyond is None else _why_beyond(best, beyond)
        options = {"ii": best.design.ii, "fold": best.design.fold}
        return with_choice(design, Choice(FITTED, note, options, found is not None)), best.made

    def _tried(self, design: Design, target: Target) -> Iterator[Try[M]]:
        """Designs until one fits that no other can be faster than; first the one alone."""
        best: int | None = None
        beyond = self.beyond(target)
        if beyond is None:
            first = self._at(self.alone(design), target)
            yield first
            if first.need.fits:
                return
        else:
            self.progress(f"additions alone take {', '.join(beyond.lacking)}: they must be shared")
        put_off: list[SharingChoice] = []
        for way in self.ways(design, target):
            if best is not None and best <= way.soonest:
                continue
            if way.least is not None and not (least := way.least()).fits:
                self.progress(f"fold: {way.fold}: {', '.join(least.lacking)} at any interval")
                put_off.append(way)
                continue
            if inexact := way.inexact():
                self.progress(f"fold: {way.fold}: leaves {inexact}")
                put_off.append(way)
                continue
            for one in self._along(design, target, way, best):
                yield one
                if one.need.fits:
                    best = min(best or one.need.interval, one.need.interval)
        if best is None:
            if beyond is not None:
                yield self._at(self.alone(design), target)
            for way in put_off:
                yield from self._along(design, target, way, None)

    def _along(
        self, design: Design, target: Target, way: SharingChoice, before: int | None
    ) -> Iterator[Try[M]]:
        """Designs of one way, among them the shortest interval below ``before`` that fits.

        Intervals are doubled until one fits, and those between are halved.
        """
        intervals = [k for k in way.intervals() if before is None or k < before]
        if not intervals:
            return

        def at(k: int) -> Try[M]:
            one = self._at(replace(design, ii=intervals[k], fold=way.fold), target)
            return replace(one, inexact=way.inexact())

        doubled = [0]
        while doubled[-1] < len(intervals) - 1:
            twice = bisect_left(intervals, 2 * intervals[doubled[-1]])
            doubled.append(min(twice, len(intervals) - 1))
        small = -1  # what does not fit
        for large in doubled:
            yield (one := at(large))
            if one.need.fits:
                break
            small = large
        else:
            return
        while large - small > 1:
            middle = (small + large) // 2
            yield (one := at(middle))
            small, large = (small, middle) if one.need.fits else (middle, large)

    def _at(self, design: Design, target: Target) -> Try[M]:
        found, made = self.make(design, target)
        fits = "fits" if found.fits else "does not fit"
        self.progress(f"{often(found.interval)} {fits} {found.target.name}: {found}")
        return Try(design, found, made)

    def _nothing(self, design: Design, best: Try[M], shared: bool) -> str:
        """A note that nothing fits, and which part or option would."""
        own, cures = best.need.target, []
        why = "" if shared else "; to share, there are too few multipliers at any interval"
        for part in sorted(TARGETS.values(), key=lambda t: (t.family != own.family, t.luts)):
            if part.luts <= own.luts or part.family not in fitted()["families"]:
                continue
            if found := _fastest(list(self._tried(replace(design, target=part.name), part))):
                cures.append(f"--target {part.name} fits, {often(found.need.interval)}")
                break
        if len(design.functions) > 1:
            cures.append("fewer functions (--function) take less")
        if design.error is None and design.width > WIDTHS[0]:
            cures.append("shorter words (--width) take less")
        if design.error is not None:
            turns = (
                ", which let joints and columns are time-multiplexed" if design.accelerator else ""
            )
            cures.append(f"a larger --error takes less, and so may words of 18 bits{turns}")
        return (
            f"DOES NOT FIT {own.name}: the smallest design, {often(best.need.interval)}, takes "
            f"{', '.join(best.need.lacking)}{_at_most(best.need)}{why}; it is made all the same; "
            f"{'; '.join(cures)}"
        )


def _fastest(tried: Sequence[Try[M]]) -> Try[M] | None:
    """The try of the shortest interval that fits; the first of two of one interval."""
    able = [one for one in tried if one.need.fits]
    return min(able, key=lambda one: one.need.interval, default=None)


def _why(best: Try[M], alone: Try[M]) -> str:
    """The note of what was chosen, and what it would take otherwise."""
    part = best.need.target
    if best is alone:
        return f"{often(best.need.interval)} fits {part.name}: {best.need}"
    otherwise = f"{often(alone.need.interval)} takes {alone.need}"
    if alone.need.logic:
        otherwise += f", {alone.need.logic} products made of LUTs for want of multipliers"
    otherwise += _at_most(best.need)
    if alone.need.multipliers <= part.multipliers:
        otherwise += "; --no-fit for that all the same"
    return (
        f"{often(best.need.interval)}{_in_turn(best)} is the fastest that fits {part.name}: "
        f"{best.need}; {otherwise}"
    )


def _why_beyond(best: Try[M], beyond: ResourceEstimate) -> str:
    """The same where a design that shares nothing was not made, being far too large."""
    return (
        f"{often(best.need.interval)}{_in_turn(best)} is the fastest that fits "
        f"{best.need.target.name}: {best.need}; additions that share nothing take "
        f"{', '.join(beyond.lacking)} at any interval{_at_most(best.need)}; --no-fit for a task "
        "every cycle all the same"
    )


def _in_turn(best: Try[M]) -> str:
    """A note's words about time-multiplexed joints, and the coordinate that is off by too much."""
    if best.design.fold != "joints":
        return ""
    return (
        f", time-multiplexed joints ({best.inexact}),"
        if best.inexact
        else ", time-multiplexed joints,"
    )


def often(interval: int) -> str:
    """``a task every 5 cycles``."""
    return "a task every cycle" if interval == 1 else f"a task every {interval} cycles"
