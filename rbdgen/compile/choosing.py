"""The smallest design that should reach what was wanted, before anything is mapped or placed.

The mirror of `fitting`: there the fastest that fits, here the smallest that is fast enough. Ways
to share hardware are the same. Along each the longest interval that reaches the wishes is looked
for, since longer ones take less. What counts is the slow end of the range in which the clock is
expected.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..design.clock import FAMILY, ClockEstimate, Span
from ..design.design import Design, has_least_latency, is_left_open
from ..design.energy import EnergyEstimate
from ..design.facts import ChosenFacts, SmallerFacts
from ..design.nested import PROMISED
from ..design.target import Target, ascending
from ..design.wishes import Wishes
from ..robot.model import RobotError
from ..system.quoting import Progress
from ..tasks.latency import longest_latency
from .fitting import Candidate, Search, SharingChoice
from .fixed_functions import FixedFunctions
from .flow import compile_front, in_promised_words
from .front import Front
from .product import Product, ResourceEstimate, clocks_of, energy_of, need_of
from .ways import Ways, alone

SMALLEST = "limbs"  # way: of one interval no other takes less
CHOSEN = ("ii", "fold", "target")  # options that an answer has
Size = tuple[float, int]


@dataclass(frozen=True)
class Reach:
    """How a planned design stands to the ``wishes``, with what it takes of its part.

    ``clocks``: at each speed grade, the slowest first, which is the one that counts. ``longest``:
    cycles of the slowest function from when a task comes to its result, at most; ``interval``: its
    cycles from task to task.
    """

    wishes: Wishes
    need: ResourceEstimate
    clocks: Sequence[ClockEstimate]
    longest: int
    interval: int
    energy: EnergyEstimate | None = None

    @property
    def clock(self) -> ClockEstimate:
        """The clock at the slowest speed grade."""
        return self.clocks[0]

    @property
    def size(self) -> Size:
        """The filled share of what there is most too little of, and the LUTs."""
        return self.need.filled, self.need.cells["luts"] if self.need.cells else 0

    @property
    def us(self) -> Span:
        """The µs from a task that comes in any cycle to its result, at most."""
        return self.clock.us(self.longest)

    @property
    def rate(self) -> Span:
        """M tasks/s of the core."""
        return self.clock.rate(self.interval)

    @property
    def watts(self) -> Span | None:
        """Watts at the clock that is expected and the rate that was wanted, or the core's; None
        where they are not known."""
        own = self.energy
        return own.watts(self.clock.mhz.about, self.wishes.rate) if own else None

    @cached_property
    def missed(self) -> dict[str, float]:
        """The wishes that it may miss → by which factor."""
        return self.wishes.missed(self.us, self.rate, self.watts)

    @cached_property
    def surely_missed(self) -> dict[str, float]:
        """The wishes that it misses even at the good end of its ranges → by which factor."""
        return self.wishes.surely_missed(self.us, self.rate, self.watts)

    @property
    def reaches(self) -> bool:
        """Whether it fits its part, and should reach what was wanted."""
        return self.need.fits and not self.missed

    @property
    def doubtful(self) -> str:
        """The way in which the models have seen no such design; empty where they have."""
        return self.clock.beyond or (self.energy.beyond if self.energy else "")

    @property
    def off(self) -> float:
        """The factor by which it is off, of its part or of what was wanted."""
        full = 1.0 if self.need.fits else max(self.need.filled, 1.01)
        return full * max(self.missed.values(), default=1.0)

    def __str__(self) -> str:
        watts = f", {self.watts} W" if self.watts and self.wishes.power else ""
        return (
            f"{self.us} µs at most, {self.rate} M tasks/s of the core at speed "
            f"{self.clock.speed}{watts}, {self.need}"
        )


Try = Candidate[Reach, Product]


def _rank(one: Try) -> tuple[bool, Size]:
    """The order: those that reach the wishes, by size, before the others, by how far they are
    off."""
    reaches = one.cost.reaches
    return not reaches, one.cost.size if reaches else (one.cost.off, 0)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The answer to wishes: the ``best`` of the designs that were ``tried``.

    ``front``: of the best; ``parts``: among which its part was chosen; ``words``: of all designs.
    """

    front: Front
    parts: Sequence[Target]
    words: FixedFunctions
    best: Try
    tried: Sequence[Try]

    @property
    def options(self) -> dict[str, object]:
        """The choices that make the best."""
        return _options(self.front.design)

    @cached_property
    def smaller(self) -> Try | None:
        """The nearest to the wishes of the designs that fit and are smaller than the best."""

        def size(one: Try) -> tuple[int, Size]:
            return one.made.front.target.luts, one.cost.size

        less = [one for one in self.tried if one.cost.need.fits and size(one) < size(self.best)]
        return min(less, key=lambda one: one.cost.off, default=None)

    def product(self, progress: Progress = lambda _: None) -> Product:
        """The best as these options make it, with all notes."""
        return compile_front(self.front, progress, self.words)

    @property
    def facts(self) -> ChosenFacts:
        """The answer as a record."""
        own, less = self.best.cost, self.smaller if self.best.cost.reaches else None
        return ChosenFacts(
            own.wishes,
            own.reaches,
            own.doubtful,
            self.options,
            own.clock.speed,
            own.us,
            own.rate,
            len(self.tried),
            self.line,
            own.watts,
            SmallerFacts(_options(less.design), less.cost.surely_missed) if less else None,
        )

    @property
    def line(self) -> str:
        """The answer in a line; where nothing reaches the wishes, what to give up."""
        own, count = self.best.cost, len(self.tried)
        best = _said(self.best)
        if len(self.parts) > 1:
            best += f", where no target is said (of {', '.join(own.name for own in self.parts)})"
        if own.reaches:
            should = "should reach that"
            if own.doubtful:
                should = f"may reach that (DOUBTFUL: it is a design of {own.doubtful})"
            line = f"wanted {own.wishes}: the smallest that {should}, of {count} tried, is {best}"
            return f"{line}; {_said_of_smaller(self.smaller)}" if self.smaller else line
        give = []
        if not own.need.fits:
            give.append(f"a larger part, for {', '.join(own.need.lacking)}")
        if "latency" in own.missed:
            give.append(f"--latency {three_digits(own.us.most, math.ceil)}us")
        if "rate" in own.missed:
            give.append(f"--rate {three_digits(own.rate.least, math.floor)}MHz")
        if "power" in own.missed and own.watts:
            give.append(f"--power {three_digits(own.watts.most, math.ceil)}W")
        quick = replace(own, clocks=own.clocks[-1:])
        if quick.reaches:
            give.append(f"or a part of speed {quick.clock.speed}, which should reach it")
        return (
            f"wanted {own.wishes}: NOTHING of {count} tried should reach that; the nearest is "
            f"{best}; settle for {', '.join(give)}"
        )


def _options(design: Design) -> dict[str, object]:
    return {key: getattr(design, key) for key in CHOSEN}


def _words(one: Try) -> str:
    return " ".join(f"--{key} {value}" for key, value in _options(one.design).items())


def _said_of_smaller(one: Try) -> str:
    """The options of the nearest smaller design, and how far it is off."""
    if not (missed := one.cost.surely_missed):
        return f"a smaller one, {_words(one)}, is DOUBTFUL: it reaches that at best"
    name = max(missed, key=lambda own: missed[own])
    return f"a smaller one, {_words(one)}, misses the {name} by {100 * (missed[name] - 1):.0f} %"


def _said(one: Try) -> str:
    """A design's options, and what comes of them."""
    off = f" ({one.inexact})" if one.inexact else ""
    return f"{_words(one)}{off}: {one.cost}"


def three_digits(value: float, way: Callable[[float], int]) -> str:
    """A positive number of three digits, rounded by ``way``: to what is surely more, or less."""
    places = 2 - math.floor(math.log10(value))
    return f"{way(value * 10.0**places) / 10.0**places:.{max(places, 0)}f}"


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
            "latency, rate, power: how hardware is shared is chosen for them; leave out --ii, "
            "--multipliers, --fold, --no-fit and --style"
        )
    for part in parts:
        if part.family != FAMILY:
            known = ", ".join(own.name for own in ascending(FAMILY))
            raise RobotError(
                f"target: the clock of {part.name} is not known before it is placed; latency, rate "
                f"and power can be asked for of {known}"
            )
    # what was chosen for it to fit is chosen anew
    kept = tuple(one for one in design.chosen if one.what == PROMISED)
    front = replace(front, design=replace(design, chosen=kept), target=parts[0])
    found, notes = in_promised_words(front, lambda own: _chosen(own, wishes, parts, progress))
    return replace(found, front=replace(found.front, notes=(*found.front.notes, *notes)))


def _chosen(front: Front, wishes: Wishes, parts: Sequence[Target], progress: Progress) -> Chosen:
    words = FixedFunctions(front, progress)
    if wishes.power and not words.is_core:
        raise RobotError(
            "power: of a core, whose functions share one pipeline; the energy of accelerators was "
            "not counted. Leave out --power, or ask for one function without --accelerator"
        )
    every: list[Try] = []
    for part in parts:
        of_part = Search(_tried(replace(front, target=part), words, wishes, progress), _rank)
        every += of_part.tried
        if of_part.best.cost.reaches:
            best = of_part.best
            break
    else:
        best = Search(every, _rank).best
    return Chosen(best.made.front, parts, words, best, every)


def _tried(
    front: Front, words: FixedFunctions, wishes: Wishes, progress: Progress
) -> Iterator[Try]:
    """Designs for one part, among them the longest interval of each way that reaches the wishes;
    one at least."""
    from .joint_choice import asked

    ways, part = Ways(front, words), front.target
    open_design = replace(front.design, target=part.name)

    def at(design: Design, inexact: str = "") -> Try:
        made = asked(replace(front, design=design), words)
        own = made.accelerator
        reach = Reach(
            wishes,
            need_of(made),
            clocks_of(made),
            max(longest_latency(own, name) for name in own.functions),
            max(own.interval(name) for name in own.functions),
            energy_of(made) if wishes.power else None,
        )
        found = Candidate(design, reach, made, inexact=inexact)
        reaching = "may reach it, doubtful" if reach.doubtful else "should reach it"
        says = reaching if reach.reaches else "does not"
        progress(f"{says}: {_said(found)}")
        return found

    def along(way: SharingChoice) -> Iterator[Try]:
        def of_way(interval: int) -> Try:
            # at once: of a task every cycle, which is the default, no limb is time-multiplexed
            return at(replace(open_design, ii=interval, fold=way.fold), way.inexact())

        return longest_of(way.intervals(), of_way)

    fits = reaches = False
    put_off: list[SharingChoice] = []
    sharing = ways.of_core if words.is_core else ways.of_accelerator
    for way in sharing(open_design, part):
        if why := way.put_off:
            progress(f"fold: {way.fold}: {why}")
            put_off.append(way)
            continue
        for one in along(way):
            fits, reaches = fits or one.cost.need.fits, reaches or one.cost.reaches
            yield one
        if reaches and way.fold == SMALLEST:
            return
    if reaches:
        return
    if ways.beyond(part) is None or not fits:
        yield at(alone(open_design))
    if not fits:
        for way in put_off:
            yield from along(way)


def longest_of(intervals: Sequence[int], at: Callable[[int], Try]) -> Iterator[Try]:
    """Designs of one way, from the longest interval down to one that reaches the wishes.

    Intervals are halved, but a wished rate says, by a design's clock, how long the interval may
    be. The shortest is among them where no other reaches the wishes, and so are then all between
    that might, since latencies neither rise nor fall with the interval.
    """
    low, high = -1, len(intervals)  # what reaches them or is too large, and what is too slow
    tried: dict[int, Reach] = {}
    k = high - 1
    while low < k < high:
        yield (one := at(intervals[k]))
        own = tried[k] = one.cost
        if own.reaches or not own.need.fits:  # shorter ones take more
            low = k
        else:
            high = k
        k = (low + high) // 2 if low >= 0 else high // 2
        if not own.wishes.rate:
            continue
        often = bisect_right(intervals, own.clock.mhz.least * 1e6 / own.wishes.rate)
        if own.reaches:  # one more, which has a faster clock
            high = min(high, often + 1)
            k = (low + high) // 2
        elif low < 0 and own.missed.keys() == {"rate"}:
            k = max(min(often, high) - 1, 0)
    if any(own.reaches for own in tried.values()):
        return
    large = max((k for k, own in tried.items() if not own.need.fits), default=-1)
    for k in range(len(intervals) - 1, large, -1):
        if k not in tried and _might(intervals[k], list(tried.values())):
            yield (one := at(intervals[k]))
            if one.cost.reaches:
                return


def _might(interval: int, tried: Sequence[Reach]) -> bool:
    """Whether an interval reaches the wishes with the best clock, and the fewest cycles beside its
    own, of those that were tried."""
    wishes = tried[0].wishes
    least = min(own.longest - own.interval for own in tried)
    mhz = max(own.clock.mhz.least for own in tried)
    used = [own.watts.most for own in tried if own.watts]
    if wishes.power and used and min(used) > wishes.power:
        return False  # of neighbouring intervals none takes much less
    soon = not wishes.latency or interval + least <= wishes.latency * 1e6 * mhz
    return soon and (not wishes.rate or mhz * 1e6 / interval >= wishes.rate)
