"""The cost and speed of a design: as data, as JSON, as a table."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from ..design.clock import ClockEstimate
from ..design.target import LUT_RAMS, PLACERS, ROUTERS, Target, counted, find_target
from ..design.wishes import Wishes
from ..system.files import write
from ..system.quoting import Progress
from ..system.records import Record
from .cells import FAMILIES
from .nextpnr import Placement, place_and_route
from .pins import add_pins
from .timing import LongestPath, netlist_clocks
from .toolchain import SynthesisError
from .yosys import Cells, synth


@dataclass(frozen=True)
class Usage(Record):
    """Sites of a kind: those used, and those that the part has."""

    LAST = ("percent",)

    used: int
    available: int

    @property
    def percent(self) -> float:
        """How many of a hundred are used."""
        return round(100 * self.used / self.available, 1) if self.available else 0.0


@dataclass(frozen=True)
class Pace(Record):
    """Cycles of a function: ``latency`` from the cycle that takes a task to its result, ``longest``
    from any in which it comes, None where that is not known; ``interval`` between tasks.

    ``tick``: of a controller, cycles between ticks; then a tick is what comes, and efforts result.
    """

    latency: int
    interval: float
    longest: int | None = None
    tick: int | None = None

    def at(self, mhz: float) -> str:
        """Latency and rate in words, with a clock in MHz: of the core alone, without a link."""
        rate = f"{mhz / self.interval:.1f} M tasks/s"
        if self.tick:
            rate = f"{1e3 * mhz / self.tick:.4g} kHz by --tick {self.tick}"
        return self._said(f"{self.latency / mhz:.2f}", f"{(self.longest or 0) / mhz:.2f}") + rate

    def expected(self, clock: ClockEstimate) -> str:
        """The same with a clock that is estimated."""
        longest = str(clock.us(self.longest or 0))
        rate = f"{clock.rate(self.interval)} M tasks/s"
        if self.tick:
            rate = f"a tick every {self.tick} clocks"
        return self._said(str(clock.us(self.latency)), longest) + rate

    def _said(self, us: str, longest: str) -> str:
        if self.tick:
            return f"{us} µs from a tick to its efforts, {longest} µs at most, "
        most = "" if self.longest is None else f"{longest} µs at most with its wait, "
        return f"{us} µs a task, {most}"


@dataclass(frozen=True)
class Mapped(Record):
    """A design mapped to a family of which nothing says whether it fits, or how fast it is.

    ``levels``: LUTs and carry cells, of four bits each, on the longest path within a module.
    """

    top: str
    target: str
    cells: Mapping[str, int]
    modules: Mapping[str, Mapping[str, int]]
    fits: bool | None
    levels: int | None = None


@dataclass(frozen=True)
class SynthesisReport(Record):
    """A design mapped to a part and, where ``placements`` says so, placed and routed.

    ``cells`` are the design's own, from Yosys; ``pins_cells`` those put around it for placement,
    which are not among them but are in each placement's ``used``. ``clocks``: estimated by the
    netlist's longest ``path``; none of what is placed, and of families whose delays are not known.
    ``wanted``: what the design was chosen for.
    """

    top: str
    target: str
    part: str
    cells: Mapping[str, int]
    usage: Mapping[str, Usage]
    fits: bool
    yosys_seconds: float
    pins_cells: Mapping[str, int]
    placements: tuple[Placement, ...] = ()
    notes: tuple[str, ...] = ()  # what the placements' clocks leave out
    paces: Mapping[str, Pace] = field(default_factory=dict)  # by function
    path: LongestPath | None = None
    wanted: Wishes | None = None
    clocks: tuple[ClockEstimate, ...] = ()

    @classmethod
    def of(cls, part: Target, cells: Cells) -> SynthesisReport:
        """The report of what is mapped; it fits if the part has as many sites of every kind."""
        sites = counted(part.family, cells.count)
        usage = {
            "LUT sites": Usage(sites["luts"], part.luts),
            "flip-flops": Usage(sites["flip_flops"], part.flip_flops),
            "LUT-RAMs": Usage(cells[LUT_RAMS[part.family]], part.lut_rams),
            "multipliers": Usage(sites["multipliers"], part.multipliers),
            "block RAMs": Usage(sites["block_rams"], part.block_rams),
        }
        fits = all(own.used <= own.available for own in usage.values())
        seconds = round(cells.seconds, 1)
        return cls(cells.top, part.name, part.part, cells.count, usage, fits, seconds, {})

    def best(self, speed: int) -> Placement | None:
        """The fastest placement of a speed grade."""
        tried = [p for p in self.placements if p.speed == speed]
        return max(tried, key=lambda p: p.fmax, default=None)

    def __str__(self) -> str:
        lines = [f"{self.top} on {self.part} ({self.target})", ""]
        lines += [f"  {cell:<18}{n:>8}" for cell, n in sorted(self.cells.items())]
        lines.append("")
        lines += [
            f"  {kind:<18}{own.used:>8} of {own.available:>6}  {own.percent:>5.1f} %"
            for kind, own in self.usage.items()
        ]
        if self.placements:
            lines.append("")
        for speed in sorted({p.speed for p in self.placements}):
            tried = [p for p in self.placements if p.speed == speed]
            best = max(tried, key=lambda p: p.fmax)
            every = ", ".join(f"{p.fmax:.1f} (seed {p.seed})" for p in tried)
            lines += [f"  speed {speed}: {every} MHz", f"    slowest: {best.critical_summary}"]
            clocks = [p.fmax for p in tried]
            typical = median(clocks)
            if len(tried) > 1:
                lines.append(
                    f"    median of {len(tried)} seeds {typical:.1f} MHz, least {min(clocks):.1f}, "
                    f"best {max(clocks):.1f}"
                )
            at = "at the median" if len(tried) > 1 else "at this clock (--seeds 3: the median)"
            lines += [f"    {name} {at}: {pace.at(typical)}" for name, pace in self.paces.items()]
        if self.clocks:
            lines += ["", *self._expected()]
        if self.pins_cells:
            around = ", ".join(f"{n} {cell}" for cell, n in sorted(self.pins_cells.items()))
            lines.append(f"  placed with {around} around it, not counted above")
        if late := max((p.hold_warnings for p in self.placements), default=0):
            lines.append(f"  nextpnr warns of hold times: of up to {late} paths a placement")
        lines += [f"  note: {note}" for note in self.notes]
        if verdict := self.verdict:
            lines.append(f"  {verdict}")
        return "\n".join(lines)

    @property
    def missed(self) -> bool:
        """Whether the design was placed, and misses what was wanted."""
        own = self._reached
        return bool(own and self.wanted and self.wanted.spare(*own) < 0)

    @property
    def verdict(self) -> str:
        """The line of what was wanted, and whether the slowest speed grade that was placed reaches
        it, by the median of its seeds; empty where nothing was wanted or placed."""
        own = self._reached
        if own is None or not self.wanted:
            return ""
        return f"{self.wanted.verdict(*own)} at speed {min(p.speed for p in self.placements)}"

    @property
    def _reached(self) -> tuple[float, float] | None:
        """µs of the slowest function from when a task comes, at most, and its M tasks/s."""
        if not self.placements or not self.paces:
            return None
        speed = min(p.speed for p in self.placements)
        mhz = median(p.fmax for p in self.placements if p.speed == speed)
        paces = self.paces.values()
        longest = max(math.inf if own.longest is None else own.longest for own in paces)
        return longest / mhz, mhz / max(own.interval for own in paces)

    def _expected(self) -> list[str]:
        """The clock before place and route, and what comes of it at the slowest speed grade."""
        slowest = self.clocks[0]
        every = ", ".join(map(str, self.clocks))
        paces = [
            f"  {name} at speed {slowest.speed}: {own.expected(slowest)}"
            for name, own in self.paces.items()
        ]
        if slowest.beyond:
            every += f"; DOUBTFUL: of {slowest.beyond}"
        return [f"  not placed: {every}", f"    longest path: {self.path}", *paces]


Options = Mapping[str, Any]  # of place_and_route
NO_PACES: Mapping[str, Pace] = {}
Each = Callable[[Path, Target, Sequence[Options], Progress], Sequence[Placement]]


def one_by_one(
    netlist: Path, part: Target, options: Sequence[Options], progress: Progress
) -> list[Placement]:
    """A netlist placed with each of the options."""
    placements = []
    for own in options:
        placements.append(place_and_route(netlist, part, progress=progress, **own))
        progress(reached(placements[-1]))
    return placements


def reached(placement: Placement) -> str:
    """``speed 6, seed 1: 150.0 MHz``"""
    return f"speed {placement.speed}, seed {placement.seed}: {placement.fmax:.1f} MHz"


def synthesize(
    sources: Sequence[Path],
    top: str,
    target: Target | str,
    out_dir: Path,
    *,
    speeds: Sequence[int] = (),
    seeds: Sequence[int] = (1,),
    freq: float = 150.0,
    clock: str = "clk",
    progress: Progress | None = None,
    placer: str = PLACERS[0],
    router: str = ROUTERS[0],
    floorplanned: bool = True,
    each: Each = one_by_one,
    paces: Mapping[str, Pace] = NO_PACES,
    wanted: Wishes | None = None,
) -> SynthesisReport:
    """Map a design to a part's family and place it once for each speed grade and seed.

    Writes ``<top>.json`` (the netlist), ``<top>-pins.json`` (what is placed), ``report.json`` and
    ``report.txt`` to ``out_dir``.

    Args:
        sources: as for :func:`rbdgen.tools.yosys.synth`.
        speeds: grades to place for; none: only map and count.
        seeds: of the placements.
        freq: MHz aimed at.
        placer, router, floorplanned: as for :func:`rbdgen.tools.nextpnr.place_and_route`.
        each: places with each of the options in turn, or at once, which it tells ``progress``.
        paces: cycles by function, which a placement's clock turns into time.
        wanted: what the design was chosen for.

    Raises:
        SynthesisError: a missing tool, what a tool said, or what a part other than an ECP5 lacks.
    """
    part = find_target(target) if isinstance(target, str) else target
    netlist, pinned = out_dir / f"{top}.json", out_dir / f"{top}-pins.json"
    report = SynthesisReport.of(part, synth(part.family, sources, top, netlist, progress=progress))
    if speeds and part.family != "ecp5" and not report.fits:
        # nextpnr says so itself of an ECP5; of others it may try for hours first
        lacking = [
            f"{own.used} of {own.available} {kind}"
            for kind, own in report.usage.items()
            if own.used > own.available
        ]
        raise SynthesisError(
            f"{top} takes {', '.join(lacking)} of {part.part}: generate it with a longer --ii, or "
            "for another --target"
        )
    if speeds:
        pins = add_pins(netlist, top, pinned, clock=clock, family=part.family)
        common = {"placer": placer, "router": router, "floorplanned": floorplanned, "freq": freq}
        options = [{"speed": s, "seed": k, **common} for s in speeds for k in seeds]
        placements = each(pinned, part, options, progress or (lambda _: None))
        report = replace(report, pins_cells=pins.count, placements=tuple(placements))
        report = replace(report, notes=FAMILIES[part.family].notes)
    else:
        path, clocks = netlist_clocks(part, netlist, top)
        report = replace(report, path=path, clocks=clocks)
    report = replace(report, paces=dict(paces), wanted=wanted)
    write(out_dir / "report.json", (json.dumps(report.to_json(), indent=2) + "\n").encode())
    write(out_dir / "report.txt", f"{report}\n".encode())
    return report
