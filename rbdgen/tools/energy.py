"""Energy of a design's tasks: toggles of its netlist, times energies that others measured or model.

Nothing here was measured by us. Energies of parts (``energies.json``) have a low and a high value
each. The lowest total is all of the low ones, the highest all of the high ones: bounds of what is
assumed, no interval of confidence. They are at the plug, with a regulator's losses.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..design.wishes import Wishes
from ..system.records import Record
from .model import Toggles
from .observed_netlist import (
    BLOCK_RAMS,
    CARRIES,
    CLOCKS,
    FLIP_FLOPS,
    LUT_RAMS,
    LUTS,
    OPERANDS,
    PRODUCTS,
    SUMS,
    WRITES,
    ObservedNetlist,
)

CHAIN_WIRE = 0.76  # tiles of wire from register to register of the chain that others measured
BUSY, IDLE = "full rate", "at rest"
GLITCHING = (LUTS, SUMS, LUT_RAMS)
# Tiles of routed wire that a net spans by its driver, of a placed pendulum of 4000 cells. They were
# 1.4 times as long of a placed arm of 10000 cells, and no larger design has been looked at.
TILES = {FLIP_FLOPS: 8.1, LUTS: 1.7, SUMS: 1.7, LUT_RAMS: 1.7, PRODUCTS: 7.4, BLOCK_RAMS: 24.0}
NETS = (*TILES, CARRIES)  # kinds of bits that are nets
SMALL, LONGER, LONGER_BY, SLOPE = 4000, 1.4, 2.0, 0.36
# Watts of a whole board while its FPGA is in reset: an upper bound of the part's own.
BOARDS = {
    "LFE5U-25F": ("OrangeCrab", 0.147),
    "LFE5U-85F": ("ULX3S", 0.202),
}
# Row of the report → the kinds of bits that it counts, and the energy of a change of one.
ROWS = {
    FLIP_FLOPS: ((FLIP_FLOPS,), "flip-flop"),
    LUTS: ((LUTS,), "logic"),
    SUMS: ((SUMS,), "logic"),
    CARRIES: ((CARRIES,), "carry"),
    "multipliers' operands": ((OPERANDS,), "operand"),
    LUT_RAMS: ((LUT_RAMS,), "logic"),
    WRITES: ((WRITES,), "LUT-RAM write"),
    CLOCKS: ((CLOCKS,), "block RAM"),
}


@dataclass(frozen=True)
class Range(Record):
    """A number that is known to lie between two others, or assumed to."""

    low: float
    central: float
    high: float

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.central + other.central, self.high + other.high)

    def __mul__(self, by: float | Range) -> Range:
        other = by if isinstance(by, Range) else Range(by, by, by)
        return Range(self.low * other.low, self.central * other.central, self.high * other.high)

    def __str__(self) -> str:
        return f"{two_digits(self.central)} ({two_digits(self.low)} to {two_digits(self.high)})"


NOTHING = Range(0.0, 0.0, 0.0)


def two_digits(value: float) -> str:
    """A number in two digits, without an exponent."""
    if value == 0:
        return "0"
    places = max(1 - int(np.floor(np.log10(abs(value)))), 0)
    return f"{float(f'{value:.1e}'):.{places}f}"


@dataclass(frozen=True)
class Energy:
    """pJ of an event; ``basis``: how it is known."""

    range: Range
    basis: str
    source: str


@cache
def energies() -> Mapping[str, Energy]:
    """The energies that events are assumed to take, by name."""
    document = json.loads(Path(__file__).with_name("energies.json").read_text("utf-8"))
    return {
        name: Energy(Range(own["low"], own["central"], own["high"]), own["basis"], own["source"])
        for name, own in document.items()
    }


@dataclass(frozen=True)
class Term(Record):
    """A kind of events: how many a result, their ``nj`` a result, and how the energy is known."""

    kind: str
    events: float
    nj: Range
    basis: str


@dataclass(frozen=True)
class RegionEnergy(Record):
    """A module of the design: toggles of its nets a result, and nJ without the clock's tree."""

    region: str
    toggles: float
    nj: Range


@dataclass(frozen=True)
class Power(Record):
    """Watts at a clock in MHz and a number of tasks a second; ``idle`` without tasks.

    ``task_nj``: of a task, with the idle time until the next one."""

    mhz: float
    rate: float
    watts: Range
    idle: Range
    task_nj: Range


@dataclass(frozen=True)
class EnergyReport(Record):
    """The energy of a result, estimated: see this module.

    ``interval``: cycles from task to task; ``cells`` and ``flip_flops`` of the netlist; ``nj``: all
    of the ``terms``; ``measured``: the share of it that is a sum measured on these parts, by
    others. ``idle``: nJ in as many cycles as a result takes, without a task; ``idle_toggles`` and
    ``busy_toggles``: of nets, in a cycle. ``board``: a board with this part, and its watts in
    reset. ``wanted``: the line of the watts that the design was chosen for, empty where it was not,
    and whether they are ``missed``, by the highest estimate.
    """

    LAST: ClassVar[tuple[str, ...]] = ("idle_share",)

    top: str
    target: str
    part: str
    states: int
    seed: int
    interval: float
    cells: int
    flip_flops: int
    terms: tuple[Term, ...]
    regions: tuple[RegionEnergy, ...]
    nj: Range
    measured: float
    idle: Range
    idle_toggles: float
    busy_toggles: float
    board: str | None
    board_watts: float | None
    power: tuple[Power, ...] = ()
    notes: tuple[str, ...] = ()
    wanted: str = ""
    missed: bool = False

    @property
    def idle_share(self) -> float:
        """Energy of a cycle without a task, by that of one at full rate."""
        return round(self.idle.central / self.nj.central, 3) if self.nj.central else 0.0

    def __str__(self) -> str:
        share = self.nj.central or 1.0
        each = "clock" if self.interval == 1 else f"{self.interval:g} clocks"
        lines = [
            f"{self.top} on {self.part} ({self.target}): {self.states} random states, a task every "
            f"{each}; every bit equal",
            f"{self.nj} nJ a result: an estimate, at the plug; no board was measured by us",
            "",
            f"  {'':<24}{'a result':>10}  {'nJ':>24}  {'share':>6}  how the energy is known",
        ]
        for term in self.terms:
            lines.append(
                f"  {term.kind:<24}{_thousands(term.events):>10}  {term.nj!s:>24}  "
                f"{term.nj.central / share:>6.0%}  {term.basis}"
            )
        lines += ["", f"  {'region':<36}{'toggles':>10}  {'nJ':>24}"]
        shown = self.regions[:SHOWN]
        for own in shown:
            lines.append(f"  {own.region:<36}{_thousands(own.toggles):>10}  {own.nj!s:>24}")
        if rest := self.regions[SHOWN:]:
            nj = total(own.nj for own in rest)
            toggles = _thousands(sum(own.toggles for own in rest))
            lines.append(f"  {f'{len(rest)} others':<36}{toggles:>10}  {nj!s:>24}")
        lines += [
            "",
            f"  {self.measured:.0%} of it is a sum measured on these parts, by others: registers "
            "that change, their clock and short wires",
            f"  without tasks: {self.idle} nJ in as many cycles, {self.idle_share:.0%} of busy; "
            f"{self.idle_toggles:.0f} toggles a cycle, {self.busy_toggles:.0f} busy",
        ]
        for at in self.power:
            lines.append(
                f"  at {at.mhz:g} MHz and {_thousands(at.rate)} tasks/s: {at.watts} W, "
                f"{at.task_nj} nJ a task; without tasks {at.idle} W"
            )
        if self.board:
            lines.append(
                f"  standby is not in this: a whole {self.board} in reset takes {self.board_watts} "
                "W, measured by others"
            )
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join([*lines, f"  {self.wanted}"] if self.wanted else lines)


SHOWN = 16  # regions in the text


def _thousands(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def total(ranges: Iterable[Range]) -> Range:
    """The sum of ranges, `NOTHING` of none."""
    return sum(ranges, NOTHING)


def span_factor(cells: int) -> Range:
    """How much longer wires are than those of `TILES`, in a design of so many cells."""
    longer = float(np.clip((cells / SMALL) ** SLOPE, 1.0, LONGER))
    high = 1.0 + (LONGER_BY - 1.0) * (longer - 1.0) / (LONGER - 1.0)
    return Range(1.0, longer, high)


def terms_of(
    netlist: ObservedNetlist, rate: NDArray[np.float64], cycles: float, region: str | None = None
) -> list[Term]:
    """The events of ``cycles`` in which each watched bit changes at a ``rate`` (bits,); of all
    regions, or of one, which has no part in the clock's tree."""
    here = np.ones(len(rate), np.bool_)
    if region is not None:
        here = np.array(netlist.regions) == region
    kinds = np.array(netlist.kinds)
    of: dict[str, float] = {
        kind: float(rate[here & (kinds == kind)].sum()) * cycles for kind in dict.fromkeys(kinds)
    }
    known, glitches = energies(), energies()["glitches"].range
    found = []
    for row, (counted, name) in ROWS.items():
        events = sum(of.get(kind, 0.0) for kind in counted)
        each = known[name].range * (glitches if counted[0] in GLITCHING else 1.0)
        found.append(Term(row, events, each * events * 1e-3, known[name].basis))
    tiles = NOTHING
    for kind, span in TILES.items():
        tiles += (glitches if kind in GLITCHING else Range(1, 1, 1)) * (of.get(kind, 0.0) * span)
    tiles *= span_factor(netlist.cells)
    wire = known["wire"]
    found.append(Term("tiles of wire", tiles.central, tiles * wire.range * 1e-3, wire.basis))
    flip_flops = netlist.flip_flops.get(region, 0) if region else sum(netlist.flip_flops.values())
    clock, spine = known["clock"], known["spine"]
    ticks = flip_flops * cycles
    found.append(Term("flip-flops clocked", ticks, clock.range * ticks * 1e-3, clock.basis))
    if region is None:
        found.append(Term("clock tree", cycles, spine.range * cycles * 1e-3, spine.basis))
    return found


def estimate(
    netlist: ObservedNetlist, toggles: Toggles, interval: float
) -> tuple[list[Term], list[RegionEnergy], Range, Range]:
    """Terms of a result, its regions (the largest first), nJ of a result, and of as many cycles
    without a task."""
    busy, idle = toggles.rate(BUSY), toggles.rate(IDLE)
    terms = terms_of(netlist, busy, interval)
    kinds, where = np.array(netlist.kinds), np.array(netlist.regions)
    nets = np.isin(kinds, NETS)
    regions = [
        RegionEnergy(
            region,
            float(busy[nets & (where == region)].sum() * interval),
            total(term.nj for term in terms_of(netlist, busy, interval, region)),
        )
        for region in sorted({*netlist.regions, *netlist.flip_flops})
    ]
    regions.sort(key=lambda own: -own.nj.central)
    resting = total(term.nj for term in terms_of(netlist, idle, interval))
    return terms, regions, total(term.nj for term in terms), resting


def measured_sum() -> Range:
    """Energy of a register's change as others measured it on these parts [pJ]: its clock pin's and
    a short wire's are in it."""
    known = energies()
    return known["flip-flop"].range + known["clock"].range + known["wire"].range * CHAIN_WIRE


def measured_share(terms: Iterable[Term]) -> float:
    """The share of all terms that is `measured_sum`, of each change of a flip-flop."""
    of = {term.kind: term for term in terms}
    whole = total(term.nj for term in of.values())
    return round(measured_sum().central * of[FLIP_FLOPS].events * 1e-3 / whole.central, 3)


def net_rate(netlist: ObservedNetlist, rate: NDArray[np.float64]) -> float:
    """Changes a cycle of all nets."""
    return float(rate[np.isin(netlist.kinds, NETS)].sum())


def power(nj: Range, idle: Range, interval: float, mhz: float, rate: float | None) -> Power:
    """Watts at a clock, with so many tasks a second, all that there can be unless given."""
    most = mhz * 1e6 / interval
    rate = most if rate is None else min(rate, most)
    resting = idle * (1e-9 * most)
    watts = (nj * (1e-9 * rate)) + idle * (1e-9 * (most - rate))
    return Power(mhz, rate, watts, resting, watts * (1e9 / rate))


def powers_at(
    nj: Range, idle: Range, interval: float, mhz: float | None, rate: float | None
) -> tuple[tuple[Power, ...], tuple[str, ...]]:
    """Watts with all tasks that there can be, then with ``rate`` of them a second, if that is given
    and less; and notes. Nothing where no clock is known."""
    if mhz is None:
        return (), ()
    full = power(nj, idle, interval, mhz, None)
    if rate is None:
        return (full,), ()
    if rate > full.rate:
        more = f"{_thousands(rate)} tasks/s are more than the core can do at {mhz:g} MHz"
        return (full,), (f"{more}: watts are of {_thousands(full.rate)}",)
    return (full, power(nj, idle, interval, mhz, rate)), ()


def power_verdict(
    wished: Wishes, nj: Range, idle: Range, interval: float, mhz: float | None
) -> tuple[str, bool]:
    """The line of the watts that were wanted, and whether they are missed; by the highest estimate,
    at the wished rate, or with all tasks that there can be. Empty where none were wanted."""
    if not wished.power:
        return "", False
    if mhz is None:
        return f"wanted {wished}: watts need a clock: add --frequency MHZ", False
    own = power(nj, idle, interval, mhz, wished.rate)
    missed = own.watts.high > wished.power
    said = "MISSED, by the highest estimate" if missed else "reached, by the highest estimate"
    at = f"{own.watts} W at {mhz:g} MHz and {own.rate / 1e6:.3g} M tasks/s"
    return f"wanted {wished.power:.4g} W at most: {said} ({at})", missed
