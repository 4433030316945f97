"""A pipeline's hardware as a block diagram, as papers show an architecture.

Joints run downwards, each with a block for every region that it has; kinds of region stand in
columns, in the order in which they fire. Work enters on the left, passes from block to block
through FIFOs, down the tree on the way out and up on the way back, and leaves on the right. What
one block sends to several runs along one line. A block says when it works, which multipliers it
has, each as a square, and how many additions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

from ..graph.node import Op, Region
from ..schedule.channels import Pipeline
from ..schedule.pipelined import INPUT, OUTPUT, region_of
from ..schedule.plan import Channel, Plan
from ..schedule.units import angles, job, multipliers_of, pivots
from . import svg
from .chart import MARGIN, SMALL, TINY, colours_of
from .rows import Entry, facts, headed, regions
from .svg import GREY, PAPER, REGIONS

WIDE = 736.0  # px at least, which a page of text has room for
BUS = 18.0  # width of what brings tasks and takes results
BLOCK, TALL, BETWEEN = 128.0, 56.0, 12.0  # a block's width, its least height, from block to block
PORT = 14.0  # from FIFO to FIFO at a block's side
FIFO, SLOTS, HIGH = 22.0, 4, 9.0  # a FIFO's width, the places drawn in it, its height
ROOM = 76.0  # a FIFO and its depth × width
LANE = 8.0  # from line to line between columns
UNIT, PITCH, PER_ROW = 5.0, 7.0, 16  # a multiplier's square, from one to the next, in a row
MOST = 3  # rows of multipliers that are drawn one by one
TINT = 0.16  # opacity of a block's ground
LEGEND = (
    "on a FIFO: depth [tasks] × width [bit]",
    "square: a hardware multiplier",
    "+: additions",
)

Span = tuple[int, int]  # rows, from the first to the last


@dataclass(eq=False)
class Block:
    """A region: its column and row, when it works, what it is made of, and where it stands."""

    region: Region
    column: int
    cycles: tuple[int, int]
    multipliers: int
    additions: int
    ports: list[Channel] = field(default_factory=list)  # what comes in, from the top
    left: float = 0.0
    top: float = 0.0
    height: float = TALL

    def grow(self, ports: int) -> None:
        """Make room for so many things that come in, and for the rows of multipliers."""
        rows = min(-(-self.multipliers // PER_ROW), MOST)
        self.height = max(TALL + PITCH * max(rows - 1, 0), PORT * ports + 6)

    @property
    def right(self) -> float:
        return self.left + BLOCK

    @property
    def middle(self) -> float:
        return self.top + self.height / 2

    def entry(self, channel: Channel) -> float:
        """The y at which a FIFO ends."""
        return self.middle + PORT * (self.ports.index(channel) - (len(self.ports) - 1) / 2)


def multipliers_in(plan: Pipeline) -> Counter[Region]:
    """Hardware multipliers in each region; together those of the plan."""
    schedule = plan.schedule
    fixed, binding = schedule.fixed, schedule.binding
    found: Counter[Region] = Counter()
    for node in (*binding.style, *angles(fixed).values(), *pivots(fixed).values()):
        if binding.style_of(job(node)) == "dsp":
            found[region_of(node)] += multipliers_of(fixed, schedule.target, node)
    return found


def block_diagram(
    plan: Pipeline,
    names: Sequence[str],
    title: str,
    whole: Plan | None = None,
) -> str:
    """An SVG document; ``names`` of the joints, ``whole``: what the plan is a limb of."""
    kinds = list(dict.fromkeys(r[0] for r in plan.fire if r not in (INPUT, OUTPUT)))
    blocks = _blocks(plan, kinds)
    lanes = _Lanes(plan, blocks, len(kinds))
    left = MARGIN + BUS
    starts = []
    for k in range(len(kinds)):
        starts.append(left + lanes.room[k])
        left = starts[-1] + BLOCK
    width = max(left + lanes.room[-1] + BUS + MARGIN, WIDE)
    spare = (width - left - lanes.room[-1] - BUS - MARGIN) / (len(kinds) + 1)
    starts = [x + spare * (k + 1) for k, x in enumerate(starts)]
    joints = sorted({region[1] for region in blocks})
    rows = {j: max(b.height for r, b in blocks.items() if r[1] == j) for j in joints}
    colours = colours_of(kinds, REGIONS)
    said = [*facts(whole or plan), f"{len(plan.channels)} FIFOs"]
    legend = [regions(colours), [Entry(words) for words in LEGEND]]
    tall = sum(rows.values()) + BETWEEN * len(rows)
    page, top = headed(title, said, legend, width, tall)
    y = top
    for joint, high in rows.items():
        for own in blocks.values():
            if own.region[1] == joint:
                own.left, own.top = starts[own.column], y + (high - own.height) / 2
        y += high + BETWEEN
    for x, words in ((MARGIN, "task in"), (width - MARGIN - BUS, "result out")):
        bus(page, x, (top, y), words)
    lanes.draw(page, (MARGIN + BUS, width - MARGIN - BUS), colours)
    for own in blocks.values():
        block(page, own, names[own.region[1]], colours[own.region[0]])
    return svg.to_text(page)


def _blocks(plan: Pipeline, kinds: Sequence[str]) -> dict[Region, Block]:
    """The block of each region, from when it fires to when its last result is there."""
    multipliers, done, additions = multipliers_in(plan), dict(plan.fire), Counter[Region]()
    for node in plan.schedule.time:
        if node.op is Op.INPUT:
            continue
        region = region_of(node)
        done[region] = max(done[region], plan.fire[region] + plan.offset(node))
        additions[region] += node.op in (Op.ADD, Op.SUB, Op.NEG)
    found = {}
    for region, fire in plan.fire.items():
        if region in (INPUT, OUTPUT):
            continue
        cycles = fire, done[region]
        made = Block(region, kinds.index(region[0]), cycles, multipliers[region], additions[region])
        order = {own: k for k, own in enumerate(plan.fire)}
        made.ports = sorted(plan.into(region), key=lambda c: order[c.sender])
        made.grow(len(made.ports))
        found[region] = made
    return found


class _Lanes:
    """The lines between columns: ``room`` is the width of what lies before each, and behind all.

    A line leaves a block on its right, or on its left within a column, and runs up or down on a
    lane of its own to all that take from it.
    """

    def __init__(self, plan: Pipeline, blocks: Mapping[Region, Block], columns: int) -> None:
        self.plan, self.blocks, self.columns = plan, blocks, columns
        self.lane: dict[tuple[int, Region], int] = {}  # gap, sender → its lane
        taken: list[list[list[Span]]] = [[] for _ in range(columns + 1)]
        for sender in blocks:
            for gap in range(columns + 1):
                to = [c.receiver[1] for c in plan.out_of(sender) if self.gap(c) == gap]
                if to:
                    rows = [sender[1], *to]
                    self.lane[gap, sender] = free_lane(taken[gap], (min(rows), max(rows)))
        self.room = [ROOM + LANE * (len(own) + 2) for own in taken]

    def gap(self, channel: Channel) -> int:
        """The gap in which a channel runs: before its receiver's column; results: behind all."""
        if channel.receiver == OUTPUT:
            return -1
        return self.blocks[channel.receiver].column

    def draw(self, page: ET.Element, ends: tuple[float, float], colours: Mapping[str, str]) -> None:
        """All lines, each with its FIFO; ``ends``: of the two buses."""
        for channel in self.plan.channels:
            name = f"{channel.depth}×{channel.width}"
            hint = f"{_name(channel.sender)} to {_name(channel.receiver)}: a FIFO of {name} bit"
            group = svg.group(page, hint, class_="channel")
            if channel.receiver == OUTPUT:
                self._result(group, channel, ends, colours)
                continue
            to = self.blocks[channel.receiver]
            y, x = to.entry(channel), to.left
            colour = GREY if channel.sender == INPUT else colours[channel.sender[0]]
            points = [(ends[0], y), (x, y)]
            if channel.sender != INPUT:
                sender = self.blocks[channel.sender]
                lane = x - ROOM - LANE * (self.lane[to.column, channel.sender] + 1)
                begin, leave = sender.right, sender.middle
                if sender.column == to.column:  # from its left side, above what comes in there
                    begin, leave = sender.left, sender.top + sender.height - 5
                points = [(begin, leave), (lane, leave), (lane, y), (x, y)]
                if sender.column not in (to.column, to.column - 1):  # below its row
                    under, foot = self._below(sender), sender.top + sender.height
                    begin = sender.right - 16
                    points = [(begin, foot), (begin, under), (lane, under), (lane, y), (x, y)]
            svg.line(group, points, colour, 1.3, arrow=True)
            fifo(group, x - 8 - FIFO, y, name, colour)

    def _result(
        self,
        group: ET.Element,
        channel: Channel,
        ends: tuple[float, float],
        colours: Mapping[str, str],
    ) -> None:
        """Straight to the right, below the blocks of other columns in its row."""
        if channel.sender == INPUT:
            y = max(b.top + b.height for b in self.blocks.values()) + BETWEEN - 2
            svg.line(group, [(ends[0], y), (ends[1], y)], GREY, 1.3, arrow=True)
            return
        block = self.blocks[channel.sender]
        colour = colours[channel.sender[0]]
        y = block.middle
        points = [(block.right, y), (ends[1], y)]
        if block.column < self.columns - 1:
            y = self._below(block)
            x = block.right - 10 - 5 * block.column
            points = [(x, block.top + block.height), (x, y), (ends[1], y)]
        svg.line(group, points, colour, 1.3, arrow=True)
        fifo(group, ends[1] - 8 - FIFO, y, f"{channel.depth}×{channel.width}", colour)

    def _below(self, block: Block) -> float:
        """The y between a block's row and the next."""
        joint = block.region[1]
        low = max(b.top + b.height for r, b in self.blocks.items() if r[1] == joint)
        return low + BETWEEN / 2


def free_lane(taken: list[list[Span]], own: Span) -> int:
    """The first lane on which nothing lies in these rows; they are taken from now on."""
    for lane, spans in enumerate(taken):
        if all(own[1] < low or high < own[0] for low, high in spans):
            spans.append(own)
            return lane
    taken.append([own])
    return len(taken) - 1


def _name(region: Region) -> str:
    kind, joint = region
    return kind if region in (INPUT, OUTPUT) else f"{kind} {joint}"


def fifo(parent: ET.Element, x: float, y: float, words: str, colour: str) -> None:
    """Draw a row of places, and its depth and width before it."""
    svg.label(parent, x - 4, y + 3.5, words, "end", TINY, colour, PAPER)
    svg.rectangle(parent, x, y - HIGH / 2, FIFO, HIGH, PAPER)
    for k in range(SLOTS):
        each = FIFO / SLOTS
        svg.rectangle(parent, x + each * k, y - HIGH / 2, each - 1, HIGH, colour, 0.75)


def bus(page: ET.Element, x: float, ends: tuple[float, float], words: str) -> None:
    """Draw a bar from top to bottom, for what comes in or leaves."""
    top, bottom = ends
    svg.rectangle(page, x, top, BUS, bottom - top, GREY)
    at = x + BUS / 2 + 4, (top + bottom) / 2
    label = svg.text(page, *at, words, "middle", SMALL, colour=PAPER)
    label.set("transform", f"rotate(-90 {svg.number(at[0])} {svg.number(at[1])})")


def block(page: ET.Element, own: Block, name: str, colour: str) -> None:
    """Draw a block: its name, when it works, how much it adds, its multipliers."""
    group = svg.group(page, f"{own.region[0].replace('_', ' ')} {name}", class_="block")
    svg.rectangle(group, own.left, own.top, BLOCK, own.height, PAPER)
    svg.rectangle(group, own.left, own.top, BLOCK, own.height, colour, TINT)
    svg.box(group, own.left, own.top, BLOCK, own.height, "none", colour)
    many = own.multipliers > MOST * PER_ROW
    rows = 1 if many else max(1, -(-own.multipliers // PER_ROW))
    x, y = own.left + 8, own.middle - (TALL + PITCH * (rows - 1)) / 2
    svg.text(group, x, y + 15, _short(name), size=SMALL, weight="bold")
    first, last = own.cycles
    said = f"cycles {first}–{last}" + (f" · {own.additions} +" if own.additions else "")
    svg.text(group, x, y + 29, said, size=TINY)
    if many:
        svg.rectangle(group, x, y + 38, UNIT, UNIT, colour)
        svg.text(group, x + 9, y + 44, f"× {own.multipliers}", size=TINY)
        return
    for k in range(own.multipliers):
        row, place = divmod(k, PER_ROW)
        svg.rectangle(group, x + PITCH * place, y + 38 + PITCH * row, UNIT, UNIT, colour)


def _short(name: str) -> str:
    """The part of a joint's name that a block has room for."""
    return name if len(name) <= 15 else f"{name[:7]}…{name[-7:]}"
