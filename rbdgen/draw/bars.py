"""Where the diagram's bars lie: time to the right, joints downwards, each region in its own track.

A joint's row holds a track for each of its regions. Their order is the same in every row: kinds of
region by the first time that any of them fires. Nothing but a region's own channels runs along
its track: what it receives comes from the left, what it sends leaves to the right.

Channels that come to one bar from many regions of one kind share a port.

Charts of a design's report: numbers in shades, and words as bars over powers of two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..graph.node import Region
from ..schedule.channels import Pipeline
from ..schedule.pipelined import INPUT, OUTPUT, region_of
from ..schedule.plan import Channel
from . import svg
from .chart import Cells, Scale, across, page
from .svg import extent

CYCLE, NARROW = 14.0, 7.0  # widths and heights in pixels; a cycle's, and the least
WIDE = 2800.0  # of all cycles together, from which on a cycle is drawn narrower
TOP = 134.0  # title, one row of kinds and two of hints, and the upper axis
LEGEND = 736.0  # its width, at least
LEGEND_ROW = 19.0
FOOT = 34.0
STREAM = 16.0  # width of the bars for input and output
STREAMS_LEGEND = "task in, result out"
INDENT = 12.0  # of a joint's name, per level of the tree
PORT = 14.0  # between labels of channels at one end of a bar
LABEL = 17.0  # a bar's label, above it or below
GAP = 8.0
BEND = 5.0  # between the vertical parts of channels
BUNDLE = 4  # this many channels from regions of one kind share a port
COLUMNS = 4  # of labels at a shared port
NAME, SMALL, TINY = 14.0, 13.0, 12.0  # sizes of text


@dataclass(frozen=True)
class Port:
    """Where channels enter a bar; ``cell``: the width of a label where several stand in a row."""

    channels: tuple[Channel, ...]
    columns: int = 1
    cell: float = 0.0

    @property
    def rows(self) -> int:
        return -(-len(self.channels) // self.columns)


@dataclass
class Bar:
    """A region's place: its two ends in time, its top, what enters on the left, in order."""

    region: Region
    left: float
    right: float
    ports: list[Port]
    down: bool  # whether what it sends to other bars runs downwards, on the whole
    top: float = 0.0

    @property
    def height(self) -> float:
        return PORT * max(2, sum(port.rows for port in self.ports)) + 2

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def entry(self, port: Port) -> float:
        """The y of the port's middle."""
        before = sum(p.rows for p in self.ports[: self.ports.index(port)])
        spare = self.height - PORT * sum(p.rows for p in self.ports)
        return self.top + spare / 2 + PORT * (before + 0.5 * port.rows)

    def exit(self, to_output: bool, alone: bool) -> float:
        """The y at which the bar sends to other bars, or to the output; ``alone``: to only one."""
        share = 0.5 if alone else 0.3 if to_output is self.down else 0.7
        return self.top + share * self.height


class Layout:
    """All bars, the rows of the joints (top, bottom), and the edges of the picture.

    ``start`` and ``end`` are the inner edges of the input and the output, ``roof`` and ``floor``
    the upper and lower ends of the rows, ``level`` a joint's depth in the tree, and ``legend``
    the place of each kind of region.
    """

    def __init__(self, plan: Pipeline, names: Sequence[str], parents: Sequence[int]) -> None:
        self.plan = plan
        self.names = [f"{joint}  {name}" for joint, name in enumerate(names)]
        self.kinds = list(dict.fromkeys(r[0] for r in plan.fire if r not in (INPUT, OUTPUT)))
        self.level = [0] * len(names)
        for i, parent in enumerate(parents):
            self.level[i] = self.level[parent] + 1 if parent >= 0 else 0
        indented = zip(self.level, self.names, strict=True)
        widest = max((INDENT * n + extent(s, NAME) for n, s in indented), default=0.0)
        room = 20 + max((extent(figures(c), TINY) for c in plan.channels), default=0.0)
        self.cycle = max(NARROW, min(CYCLE, WIDE / plan.latency))
        self.start = 50 + widest
        self.zero = self.start + room - self.cycle  # where cycle 0 begins: cycle 1 has work
        self.end = self.at(plan.fire[OUTPUT]) + room
        self.width = max(self.end + STREAM + 14, LEGEND)
        self.legend: list[tuple[float, float]] = []
        self.roof = self._legend() + TOP

        self.bars: dict[Region, Bar] = {}
        self.rows: list[tuple[float, float]] = []
        for region in plan.fire:
            if region not in (INPUT, OUTPUT):
                self.bars[region] = self._bar(region)
        for region, bar in self.bars.items():
            bar.ports = self._ports(region)
            bar.down = self._goes_down(region)
        y = self.roof
        for joint in range(len(names)):
            start, y = y, y + GAP
            for kind in self.kinds:
                if (kind, joint) in self.bars:
                    bar = self.bars[kind, joint]
                    bar.top = y + LABEL * bar.down
                    y = bar.bottom + LABEL * (not bar.down) + GAP
            y = max(y, start + 2 * NAME)
            self.rows.append((start, y))
        self.floor = y

    def at(self, cycle: float) -> float:
        """The x of the clock edge that begins the cycle."""
        return self.zero + self.cycle * cycle

    def cycles(self, bar: Bar) -> tuple[int, int]:
        """The first cycle and the last of those that the bar spans."""
        return self.plan.fire[bar.region], round((bar.right - self.zero) / self.cycle) - 1

    def track(self, region: Region) -> tuple[int, int]:
        """Sorts regions downwards."""
        kind, joint = region
        return joint, self.kinds.index(kind)

    def _bar(self, region: Region) -> Bar:
        """The region's bar, without its ports."""
        plan, fire = self.plan, self.plan.fire[region]
        offsets = [plan.offset(n) for n in plan.schedule.time if region_of(n) == region]
        last = max(*offsets, plan.flags.get(region, 0) + 1, 1)
        return Bar(region, self.at(fire), self.at(fire + last), [], True)

    def _ports(self, region: Region) -> list[Port]:
        """The ports in an order that crosses little: what turns right last enters lowest."""
        by_kind: dict[tuple[object, bool], list[Channel]] = {}
        for channel in sorted(self.plan.into(region), key=lambda c: self._order(c.sender, region)):
            above = channel.sender != INPUT and self.track(channel.sender) < self.track(region)
            by_kind.setdefault((channel.sender[0], above), []).append(channel)
        ports: list[Port] = []
        for channels in by_kind.values():
            if len(channels) < BUNDLE:
                ports += [Port((c,)) for c in channels]
                continue
            cell = max(extent(figures(c, bundled=True), TINY) for c in channels) + 6
            room = self.bars[region].left - self.start - 2 * BEND * len(channels)
            columns = max(1, min(COLUMNS, int(room / cell)))
            ports.append(Port(tuple(sorted(channels, key=lambda c: c.sender[1])), columns, cell))
        return sorted(ports, key=lambda p: self._order(p.channels[0].sender, region))

    def _order(self, sender: Region, receiver: Region) -> tuple[int, float]:
        if sender == INPUT:
            return 1, 0.0
        right = self.bars[sender].right
        return (0, -right) if self.track(sender) < self.track(receiver) else (2, right)

    def _goes_down(self, region: Region) -> bool:
        """Arrows leave to the side where the bar's label does not stand."""
        bar = self.bars[region]
        to = [c.receiver for c in self.plan.out_of(region) if c.receiver != OUTPUT]
        near = [r for r in to if overlaps(bar, self.bars[r])] or to
        return 2 * sum(self.track(r) > self.track(region) for r in near) >= len(near)

    def _legend(self) -> float:
        """Places the kinds; how far they reach below their first row."""
        x, y = 14.0, 61.0
        for kind in [*self.kinds, STREAMS_LEGEND]:
            wide = 42 + extent(self.counted(kind), SMALL)
            if x + wide > self.width - 14 and x > 14:
                x, y = 14.0, y + LEGEND_ROW
            self.legend.append((x, y))
            x += wide
        return y - 61

    def counted(self, kind: str) -> str:
        """``forward again, 7``: the kind with how many regions there are of it."""
        count = sum(region[0] == kind for region in self.plan.fire)
        return f"{spoken(kind)}, {count}" if count else kind


def overlaps(sender: Bar, receiver: Bar) -> bool:
    """Whether the receiver begins before an arrow could leave the sender's right end for it."""
    return receiver.left < sender.right + 16


def figures(channel: Channel, bundled: bool = False) -> str:
    """``12×163``: tokens by bits; ``3: 12×163``: joint 3's, where several joints' come together."""
    text = f"{channel.depth}×{channel.width}"
    return f"{channel.sender[1]}: {text}" if bundled else text


def spoken(kind: str) -> str:
    return kind.replace("_", " ")


SHADED = "#2f6db3"
LEFT, REPORT_TOP, REPORT_WIDE, REPORT_FOOT = 14.0, 34.0, 640.0, 24.0  # of words
TALL, SHORT, MANY = 5.0, 2.0, 150  # a word's height, where there are few and where many
USED, SPARE = "#2f6db3", "#f0c27b"


def heatmap(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    below: str,
    values: Sequence[Sequence[float]],
    spoken: str,
    logarithmic: bool = False,
) -> str:
    """An SVG document; ``values`` by row, not negative, ``spoken`` their format; ``below``: what
    the columns are. Shades are of the number or, of a quantity that spans decades, its logarithm.
    """
    cells = Cells(rows, len(columns), Cells.room(rows), 52.0, 58.0, 19.0)
    drawn = cells.page(title, columns, below)
    positive = [value for row in values for value in row if value > 0]
    least, most = min(positive, default=1.0), max(positive, default=1.0)
    for j, own in enumerate(values):
        for k, value in enumerate(own):
            shade = value / most
            if logarithmic:
                span = math.log(most / least) or 1.0
                shade = 0.0 if value <= 0 else 0.1 + 0.9 * math.log(value / least) / span
            x, y = cells.cell(drawn, j, k, SHADED, svg.SHADE * shade)
            if value > 0:
                svg.text(drawn, x, y + 3.5, spoken.format(value), "middle", 10)
    return svg.to_text(drawn)


class WordRow(NamedTuple):
    """A word: it ends below 2**top, its last bit is worth 2**-fraction; the largest value is
    2**needs, -inf where it is 0 or not known."""

    top: int
    fraction: int
    needs: float


def word_bars(title: str, rows: Sequence[WordRow]) -> str:
    """An SVG document: a bar a word, in their order, light where no value reaches."""
    high = TALL if len(rows) <= MANY else SHORT
    low, top = min(-row.fraction for row in rows), max(row.top for row in rows)
    scale = Scale(low, max(top, low + 1), LEFT, LEFT + REPORT_WIDE)
    bottom = REPORT_TOP + high * len(rows)
    about = "each bar from the last bit's worth to the largest that the word holds"
    drawn = page(
        title, LEFT * 2 + REPORT_WIDE, bottom + REPORT_FOOT, 13.0, f"{len(rows)} words; {about}"
    )
    across(drawn, scale, range(low + -low % 4, top + 1, 4), (REPORT_TOP - 4, bottom), _power)
    bars = {USED: "", SPARE: ""}
    for k, row in enumerate(rows):
        y = svg.number(REPORT_TOP + high * (k + 0.5))
        needs = min(max(row.needs, -row.fraction), row.top)
        for colour, start, end in ((USED, -row.fraction, needs), (SPARE, needs, row.top)):
            if end > start:
                bars[colour] += f"M{svg.number(scale.at(start))} {y}H{svg.number(scale.at(end))}"
    for colour, d in bars.items():
        svg.path(drawn, d, colour, high * 0.8)
    return svg.to_text(drawn)


def _power(power: float) -> str:
    return "1" if not power else f"{2.0**power:g}" if abs(power) < 8 else f"2^{power:g}"


def spare(rows: Sequence[WordRow]) -> float:
    """The mean bits above the largest value, of words whose largest value is known."""
    known = [row.top - row.needs for row in rows if row.needs > -math.inf]
    return sum(known) / len(known) if known else 0.0
