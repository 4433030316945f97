"""The search over candidates by which every choice of the compiler's is made.

A candidate is a design changed in some fields, with what it costs and what is said of it; a choice
is a list of candidates and their order.

The fastest design that fits its part, where nobody says how often it takes a task.

What a design takes is known from its plan: hardware multipliers exactly, cells by the area model.
Up to a length that differs, a longer interval takes less, so that a few plans find the shortest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from ..design.choices import WIDTHS
from ..design.design import Design, with_choice
from ..design.nested import FITTED, Choice
from ..design.target import TARGETS, Target
from ..schedule.area import fitted
from .product import ResourceEstimate, at_most

Cost = TypeVar("Cost")
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Candidate(Generic[Cost, Made]):
    """A design that may be chosen, and what was made of it to know its ``cost``.

    ``note``: what is said of it beside others. ``inexact``: the coordinate that is off by too much
    for it to be chosen by itself; empty if none is.
    """

    design: Design
    cost: Cost
    made: Made
    note: str = ""
    inexact: str = ""


@dataclass(frozen=True, eq=False)
class Search(Generic[Cost, Made]):
    """Candidates, each made when it is asked for, and their ``order``, the least first.

    Of equal ones the first is the better. After one that is good ``enough`` no more are made.
    """

    candidates: Iterable[Candidate[Cost, Made]]
    order: Callable[[Candidate[Cost, Made]], Any]
    enough: Callable[[Candidate[Cost, Made]], bool] = lambda _: False

    @cached_property
    def tried(self) -> list[Candidate[Cost, Made]]:
        """The candidates that were made, in the order in which they came."""
        tried = []
        for one in self.candidates:
            tried.append(one)
            if self.enough(one):
                break
        return tried

    @property
    def ranked(self) -> list[Candidate[Cost, Made]]:
        """The candidates that were made, the best first."""
        return sorted(self.tried, key=self.order)

    @property
    def best(self) -> Candidate[Cost, Made]:
        """The best of them; there is one at least."""
        return min(self.tried, key=self.order)


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

    @property
    def put_off(self) -> str:
        """The reason why none is planned unless nothing else fits; empty where there is none."""
        if self.least is not None and not (least := self.least()).fits:
            return f"{', '.join(least.lacking)} at any interval"
        inexact = self.inexact()
        return inexact and f"leaves {inexact}"


M = TypeVar("M")
Try = Candidate[ResourceEstimate, M]  # a design that was planned, and what it takes


def _speed(one: Try[M]) -> tuple[bool, float]:
    """The order: those that fit, by their intervals, before the others, by how full the part is."""
    fits = one.cost.fits
    return not fits, one.cost.interval if fits else one.cost.filled


@dataclass(frozen=True, eq=False)
class Fastest(Generic[M]):
    """The search for the fastest design that fits.

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

    def of(self, design: Design, target: Target) -> tuple[Design, M]:
        """The fastest design that fits, else the smallest; it says what was chosen, and why."""
        search = self._search(design, target)
        best, first, beyond = search.best, search.tried[0], self.beyond(target)
        if not best.cost.fits:
            note = self._nothing(design, best, len(search.tried) > 1)
        else:
            note = _why(best, first) if beyond is None else _why_beyond(best, beyond)
        options = {"ii": best.design.ii, "fold": best.design.fold}
        choice = Choice(FITTED, note, options, best.cost.fits)
        return with_choice(design, choice), best.made

    def _search(self, design: Design, target: Target) -> Search[ResourceEstimate, M]:
        return Search(self._tried(design, target), _speed)

    def _tried(self, design: Design, target: Target) -> Iterator[Try[M]]:
        """Designs until one fits that no other can be faster than; first the one alone."""
        best: int | None = None
        beyond = self.beyond(target)
        if beyond is None:
            first = self._at(self.alone(design), target)
            yield first
            if first.cost.fits:
                return
        else:
            self.progress(f"additions alone take {', '.join(beyond.lacking)}: they must be shared")
        put_off: list[SharingChoice] = []
        for way in self.ways(design, target):
            if best is not None and best <= way.soonest:
                continue
            if why := way.put_off:
                self.progress(f"fold: {way.fold}: {why}")
                put_off.append(way)
                continue
            for one in self._along(design, target, way, best):
                yield one
                if one.cost.fits:
                    best = min(best or one.cost.interval, one.cost.interval)
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
            if one.cost.fits:
                break
            small = large
        else:
            return
        while large - small > 1:
            middle = (small + large) // 2
            yield (one := at(middle))
            small, large = (small, middle) if one.cost.fits else (middle, large)

    def _at(self, design: Design, target: Target) -> Try[M]:
        found, made = self.make(design, target)
        fits = "fits" if found.fits else "does not fit"
        self.progress(f"{often(found.interval)} {fits} {found.target.name}: {found}")
        return Candidate(design, found, made)

    def _nothing(self, design: Design, best: Try[M], shared: bool) -> str:
        """A note that nothing fits, and which part or option would."""
        own, cures = best.cost.target, []
        why = "" if shared else "; to share, there are too few multipliers at any interval"
        for part in sorted(TARGETS.values(), key=lambda t: (t.family != own.family, t.luts)):
            if part.luts <= own.luts or part.family not in fitted()["families"]:
                continue
            there = self._search(replace(design, target=part.name), part).best
            if there.cost.fits:
                cures.append(f"--target {part.name} fits, {often(there.cost.interval)}")
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
            f"DOES NOT FIT {own.name}: the smallest design, {often(best.cost.interval)}, takes "
            f"{', '.join(best.cost.lacking)}{at_most(best.cost)}{why}; it is made all the same; "
            f"{'; '.join(cures)}"
        )


def _why(best: Try[M], alone: Try[M]) -> str:
    """The note of what was chosen, and what it would take otherwise."""
    need, other = best.cost, alone.cost
    if best is alone:
        return f"{often(need.interval)} fits {need.target.name}: {need}"
    otherwise = f"{often(other.interval)} takes {other}"
    if other.logic:
        otherwise += f", {other.logic} products made of LUTs for want of multipliers"
    otherwise += at_most(need)
    if other.multipliers <= need.target.multipliers:
        otherwise += "; --no-fit for that all the same"
    return f"{_is_fastest(best)}; {otherwise}"


def _why_beyond(best: Try[M], beyond: ResourceEstimate) -> str:
    """The same where a design that shares nothing was not made, being far too large."""
    return (
        f"{_is_fastest(best)}; additions that share nothing take "
        f"{', '.join(beyond.lacking)} at any interval{at_most(best.cost)}; --no-fit for a task "
        "every cycle all the same"
    )


def _is_fastest(best: Try[M]) -> str:
    """A note's words about the best, its time-multiplexed joints and what these are off by."""
    joints = ""
    if best.design.fold == "joints":
        off = f" ({best.inexact})" if best.inexact else ""
        joints = f", time-multiplexed joints{off},"
    need = best.cost
    return f"{often(need.interval)}{joints} is the fastest that fits {need.target.name}: {need}"


def often(interval: int) -> str:
    """``a task every 5 cycles``."""
    return "a task every cycle" if interval == 1 else f"a task every {interval} cycles"
