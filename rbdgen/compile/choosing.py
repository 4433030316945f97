"""The smallest design that should reach what was wanted, before anything is mapped or placed.

The mirror of `fitting`: there the fastest that fits, here the smallest that is fast enough. Ways
to share hardware are the same. Along each the longest interval that reaches the wishes is looked
for, since longer ones take less. What counts is the slow end of the range in which the clock is
expected, so that nine in ten answers should hold once they are placed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from ..design.clock import ClockEstimate, Span
from ..design.design import Design, choice_of, has_least_latency, is_left_open
from ..design.facts import ChosenFacts
from ..design.nested import PROMISED
from ..design.target import TARGETS, Target
from ..design.wishes import Wishes
from ..robot.model import RobotError
from ..system.quoting import Progress
from ..words.wordlength import PrecisionError
from .fitting import SharingChoice
from .fixed_functions import FixedFunctions
from .front import Front
from .product import Product, ResourceEstimate, clocks_of, need_of
from .stages import as_asked
from .ways import Ways, alone

FAMILY = "ecp5"  # whose clocks are known before place and route
TRIED = 5  # designs of one way to share hardware
SMALLEST = "limbs"  # way: of one interval no other takes less
CHOSEN = ("ii", "fold", "target")  # options that an answer has


@dataclass(frozen=True, eq=False)
class Reaching:
    """A design that was planned, what it takes of its part, and how it stands to the wishes."""

    made: Product
    need: ResourceEstimate
    clock: ClockEstimate
    wishes: Wishes

    @property
    def us(self) -> Span:
        """The µs from a task that comes in any cycle to its result, at most, of the slowest
        function."""
        own = self.made.accelerator
        return self.clock.us(max(own.longest(name) for name in own.functions))

    @property
    def rate(self) -> Span:
        """M tasks/s of the core, of the slowest function."""
        own = self.made.accelerator
        return self.clock.rate(max(own.interval(name) for name in own.functions))

    @cached_property
    def missed(self) -> dict[str, float]:
        """The wishes that it may miss → by which factor."""
        return self.wishes.missed(self.us, self.rate)

    @property
    def reaches(self) -> bool:
        """Whether it fits its part, and should reach what was wanted."""
        return self.need.fits and not self.missed

    @property
    def off(self) -> float:
        """The factor by which it is off, of its part or of what was wanted."""
        full = 1.0 if self.need.fits else max(self.need.filled, 1.01)
        return full * max(self.missed.values(), default=1.0)

    @property
    def options(self) -> dict[str, object]:
        """The choices that make it."""
        return {key: getattr(self.made.design, key) for key in CHOSEN}

    def __str__(self) -> str:
        said = " ".join(f"--{key} {value}" for key, value in self.options.items())
        return (
            f"{said}: {self.us} µs, {self.rate} M tasks/s of the core at speed "
            f"{self.clock.speed}, {self.need}"
        )


@dataclass(frozen=True, eq=False)
class Chosen:
    """The answer to wishes: the ``best`` of the designs that were ``tried``."""

    wishes: Wishes
    best: Reaching
    tried: Sequence[Reaching]

    @property
    def facts(self) -> ChosenFacts:
        """The answer as a record."""
        own = self.best
        return ChosenFacts(
            self.wishes,
            own.reaches,
            own.options,
            own.clock.speed,
            own.us,
            own.rate,
            len(self.tried),
            self.line,
        )

    @property
    def line(self) -> str:
        """The answer in a line; where nothing reaches the wishes, what to give up."""
        if self.best.reaches:
            return (
                f"wanted {self.wishes}: the smallest that should reach that, of {len(self.tried)} "
                f"tried, is {self.best}"
            )
        own = self.best
        give = []
        if not own.need.fits:
            give.append(f"a larger part, for {', '.join(own.need.lacking)}")
        if "latency" in own.missed:
            give.append(f"--latency {own.us.most:.3g}us")
        if "rate" in own.missed:
            give.append(f"--rate {own.rate.least:.3g}MHz")
        faster = clocks_of(own.made)[-1]
        quick = replace(own, clock=faster)
        if own.need.fits and quick.reaches:
            give.append(f"or a part of speed {faster.speed}, which should reach it")
        return (
            f"wanted {self.wishes}: NOTHING of {len(self.tried)} tried should reach that; "
            f"the nearest is {own}; settle for {', '.join(give)}"
        )


def choose(
    front: Front, wishes: Wishes, parts: Sequence[Target], progress: Progress = lambda _: None
) -> Chosen:
    """The smallest design that should reach the wishes, on the first of the parts that has one.

    Raises RobotError for a design that says how it shares hardware, and for parts whose clocks are
    not known before place and route.
    """
    design = front.design
    if not is_left_open(design) or has_least_latency(design):
        raise RobotError(
            "latency, rate: how hardware is shared is chosen for them; leave out --ii, "
            "--multipliers, --fold, --no-fit and --style"
        )
    for part in parts:
        if part.family != FAMILY:
            known = ", ".join(own.name for own in ascending())
            raise RobotError(
                f"target: the clock of {part.name} is not known before it is placed; latency and "
                f"rate can be asked for of {known}"
            )
    try:
        return _chosen(front, wishes, parts, progress)
    except PrecisionError:
        if not choice_of(design, PROMISED):
            raise
        plain = replace(front, design=replace(design, error=None))
        return _chosen(plain, wishes, parts, progress)


def ascending() -> list[Target]:
    """The parts whose clocks are known, the smallest first."""
    return sorted((own for own in TARGETS.values() if own.family == FAMILY), key=lambda t: t.luts)


def _chosen(front: Front, wishes: Wishes, parts: Sequence[Target], progress: Progress) -> Chosen:
    words = FixedFunctions(front, progress)
    every: list[Reaching] = []
    for part in parts:
        tried = list(_tried(replace(front, target=part), words, wishes, progress))
        every += tried
        if there := [own for own in tried if own.reaches]:
            return Chosen(wishes, min(there, key=lambda own: own.need.filled), every)
    return Chosen(wishes, min(every, key=lambda own: own.off), every)


def _tried(
    front: Front, words: FixedFunctions, wishes: Wishes, progress: Progress
) -> Iterator[Reaching]:
    """Designs for one part, among them the longest interval of each way that reaches the wishes."""
    ways, part = Ways(front, words), front.target
    open_design = replace(front.design, target=part.name)

    def at(design: Design, interval: int) -> Reaching:
        design = replace(design, ii=interval)
        made = as_asked(replace(front, design=design), words)
        own = Reaching(made, need_of(made), clocks_of(made)[0], wishes)
        says = "should reach it" if own.reaches else "does not"
        progress(f"{says}: {own}")
        return own

    found = False
    sharing = ways.of_core if words.is_core else ways.of_accelerator
    for way in sharing(open_design, part):
        if (way.least is not None and not way.least().fits) or way.inexact():
            continue
        shared = replace(open_design, fold=way.fold)
        for own in _along(way, partial(at, shared)):
            found = found or own.reaches
            yield own
        if found and way.fold == SMALLEST:
            return
    if not found and ways.beyond(part) is None:
        yield at(alone(open_design), 1)


def _along(way: SharingChoice, at: Callable[[int], Reaching]) -> Iterator[Reaching]:
    """Designs of one way, from the longest interval down to one that reaches the wishes.

    A rate that is missed says, by the clock of the design that misses it, how long the interval may
    be; a latency that is missed halves it. No more than `TRIED` are planned.
    """
    intervals = way.intervals()
    good, bad = -1, len(intervals)  # the longest that is known to reach them, the shortest not to
    k = bad - 1
    for _ in range(TRIED):
        if not good < k < bad:
            return
        own = at(intervals[k])
        yield own
        if own.reaches:
            good = k
            k = (good + bad) // 2
            continue
        if not own.need.fits:  # shorter ones take more
            return
        bad = k
        k = (good + bad) // 2
        if good < 0 and own.missed.keys() == {"rate"} and own.wishes.rate:
            longest = own.clock.mhz.least * 1e6 / own.wishes.rate
            k = min(bisect_right(intervals, longest), bad) - 1
