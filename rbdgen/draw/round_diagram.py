"""The hardware of time-multiplexed joints, as papers show it: datapaths, and what lies between.

Datapaths stand below each other, in the order of their first visits. A datapath's words wait in
memories until another one reads them: they leave on its left, run along a line of their own, and
enter the reader through a memory. On the right stands which joint a datapath serves in each round
of an interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from ..graph.node import Op
from ..schedule.round_plan import Group, RoundPlan
from ..schedule.specialise import TASK, Datapath, kind_of, region_of
from ..schedule.units import nodes_of
from . import svg
from .block_diagram import BETWEEN, BLOCK, BUS, PORT, WIDE, Block, Span, block, bus, fifo, free_lane
from .chart import ABOVE, MARGIN, TINY, colours_of
from .plan_pictures import spoken_kind
from .rows import Entry, facts, headed, numbered
from .svg import GREY, IDLE, PAPER, REGIONS

LANE, ROOM = 7.0, 96.0  # from line to line; a memory, and its words × bits
CELL = 26.0  # of a round
GAP = 26.0
LEGEND = (
    "on a memory: rounds that words wait × width [bit], b: a block RAM",
    "square: a hardware multiplier",
    "cell: the joint that is served in a round, of some task",
)


@dataclass(eq=False)
class _Row:
    """A datapath: its block, and the memories that it reads."""

    block: Block
    groups: list[Group]

    def entry(self, group: Group) -> float:
        """The y at which a memory's words come in."""
        k = self.groups.index(group)
        return self.block.middle + PORT * (k - (len(self.groups) - 1) / 2)


def round_diagram(plan: RoundPlan, names: Sequence[str], title: str) -> str:
    """An SVG document; ``names`` of the joints."""
    first = {plan.datapath[v]: at for v, at in sorted(plan.at.items(), key=lambda v: -v[1])}
    datapaths = sorted(plan.datapaths.copies, key=lambda datapath: (first[datapath], datapath))
    rows = _rows(plan, datapaths, first)
    lanes = _lanes(rows)
    colours = colours_of((kind_of(own.template) for own in datapaths), REGIONS)
    left = MARGIN + BUS + LANE * (max(lanes.values(), default=0) + 3) + ROOM
    strip = left + BLOCK + GAP
    cell = max(CELL, (WIDE - strip - GAP - BUS - MARGIN) / plan.rounds)
    cell = min(cell, 2 * CELL)
    width = max(strip + cell * plan.rounds + GAP + BUS + MARGIN, WIDE)
    legend = [
        [Entry(spoken_kind(kind), colour) for kind, colour in colours.items()],
        [Entry(words) for words in LEGEND],
        numbered(names),
    ]
    tall = sum(row.block.height + BETWEEN for row in rows.values())
    every = f"{plan.rounds} rounds of {plan.template.interval} clock cycles"
    page, top = headed(title, [*facts(plan), every], legend, width, tall)
    y = top
    for row in rows.values():
        row.block.left, row.block.top = left, y
        y += row.block.height + BETWEEN
    bus(page, MARGIN, (top, y - BETWEEN), "task in")
    bus(page, width - MARGIN - BUS, (top, y - BETWEEN), "result out")
    for row in rows.values():
        for group in row.groups:
            _memory(page, plan, rows, row, group, lanes, colours)
    given = {datapath for datapath, _ in plan.results}
    for phase in range(plan.rounds):
        x = strip + cell * (phase + 0.5)
        svg.text(page, x, top - ABOVE, str(phase), "middle", TINY, colour=GREY)
    svg.text(page, strip - 6, top - ABOVE, "round", "end", TINY, colour=GREY)
    for datapath, row in rows.items():
        colour = colours[kind_of(datapath.template)]
        block(page, row.block, _spoken(datapath), colour)
        end = strip + cell * plan.rounds
        middle = row.block.middle
        svg.line(page, [(left + BLOCK, middle), (strip, middle)], colour, 1.3)
        if datapath in given:
            svg.line(page, [(end, middle), (width - MARGIN - BUS, middle)], colour, 1.3, arrow=True)
        served = {at % plan.rounds: v for v, at in plan.at.items() if plan.datapath[v] == datapath}
        for phase in range(plan.rounds):
            x = strip + cell * phase
            svg.rectangle(page, x, middle - 10, cell - 1, 20, colour if phase in served else IDLE)
            if phase in served:
                key = " ".join(map(str, served[phase].key))
                if svg.extent(key, TINY) <= cell - 1:
                    at = x + (cell - 1) / 2
                    svg.text(page, at, middle + 4, key, "middle", TINY, colour=PAPER)
    return svg.to_text(page)


def _rows(
    plan: RoundPlan, datapaths: Sequence[Datapath], first: Mapping[Datapath, int]
) -> dict[Datapath, _Row]:
    """Each datapath's block: the cycles of a task from its first visit to its last result."""
    multipliers, additions = Counter[Datapath](), Counter[Datapath]()
    whose = {region_of(own): own for own in datapaths}
    done: Counter[Datapath] = Counter()
    fold = plan.template
    for node, time in fold.time.items():
        if node.region in whose:
            own = whose[node.region]
            additions[own] += node.op in (Op.ADD, Op.SUB, Op.NEG)
            done[own] = max(done[own], time)
    for kind, jobs in fold.jobs.of.items():
        units: dict[Datapath, set[int]] = {}
        for job in jobs:
            node = next(n for n in nodes_of(fold.fixed, job) if n in fold.time)
            if node.region in whose and job in fold.place:
                units.setdefault(whose[node.region], set()).add(fold.place[job].number)
        for own, numbers in units.items():
            multipliers[own] += len(numbers) * fold.jobs.each[kind]
    last = {plan.datapath[visit]: at for visit, at in sorted(plan.at.items(), key=lambda v: v[1])}
    found = {}
    for own in datapaths:
        span = first[own] * fold.interval, last[own] * fold.interval + done[own]
        made = Block(region_of(own), 0, span, multipliers[own], additions[own])
        groups = [group for group in plan.groups if group.reader == own]
        made.grow(len(groups))
        found[own] = _Row(made, groups)
    return found


def _lanes(rows: Mapping[Datapath, _Row]) -> dict[Datapath, int]:
    """Sender → the lane of its words, which no other one's reach: greedily, in order."""
    order = {own: k for k, own in enumerate(rows)}
    spans: dict[Datapath, Span] = {}
    for own, row in rows.items():
        for group in row.groups:
            if group.sender.template != TASK:
                low, high = spans.get(group.sender, (order[group.sender],) * 2)
                spans[group.sender] = min(low, order[own]), max(high, order[own])
    taken: list[list[Span]] = []
    return {sender: free_lane(taken, span) for sender, span in spans.items()}


def _memory(
    page: ET.Element,
    plan: RoundPlan,
    rows: Mapping[Datapath, _Row],
    row: _Row,
    group: Group,
    lanes: Mapping[Datapath, int],
    colours: Mapping[str, str],
) -> None:
    """A line from the sender, or from the task, with the memory before the reader."""
    x, y = row.block.left, row.entry(group)
    width = sum(plan.word(group.sender, word).width for word in group.words)
    name = f"{max(group.ago.values())}×{width}" + " b" * group.in_block_ram
    colour, points = GREY, [(MARGIN + BUS, y), (x, y)]
    if group.sender.template != TASK:
        colour = colours[kind_of(group.sender.template)]
        lane = x - ROOM - LANE * (lanes[group.sender] + 1)
        leave = rows[group.sender].block.top + rows[group.sender].block.height - 5
        points = [(x, leave), (lane, leave), (lane, y), (x, y)]
    hint = f"{_spoken(group.sender)} to {_spoken(group.reader)}: {name} bit"
    drawn = svg.group(page, hint, class_="memory")
    svg.line(drawn, points, colour, 1.3, arrow=True)
    fifo(drawn, x - 30, y, name, colour)


def _spoken(datapath: Datapath) -> str:
    return " ".join((datapath.template.replace("_", " "), *map(str, datapath.key)))
