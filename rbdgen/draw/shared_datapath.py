"""A folded design's hardware as papers show it: shared units, and what feeds them.

From left to right: a task's words, the memories in which values wait, the multiplexers that choose
operands, the array of shared units with its schedule, and the adders, which are not shared. What
units and adders give goes back to the memories, or leaves. Each row of the array is a unit, each
column a clock cycle of the interval; a cell has the colour of the region that it works for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as ET

from ..graph.node import Node
from ..schedule.features import features
from ..schedule.fold import Fold
from ..schedule.pipelined import region_of
from ..schedule.plan import Plan
from ..schedule.units import UnitKind, job
from . import svg
from .block_diagram import BUS, WIDE, bus, fifo
from .chart import ABOVE, MARGIN, SMALL, TINY, colours_of
from .rows import Entry, facts, headed, regions
from .svg import GREY, IDLE, INK, REGIONS

BOX, GAP = 116.0, 26.0  # a box's width, and between what stands side by side
LINE = 15.0  # of a box's text
ROW, LEAST, TALL = 22.0, 5.0, 300.0  # of the array: a row, at least, and all rows about
CELL, NARROW = 30.0, 2.0  # a cell's width at most and at least
KIND = 96.0  # room for the names of units
BELOW = 34.0  # room for what goes back
TINT = 0.16  # opacity of a box's ground
NAME = {"mul": "multiplier", "sincos": "sine", "recip": "reciprocal"}
LEGEND = (
    "row of the array: a unit, in the cycles of the interval, over and over; pale: it is idle",
)


def datapath(fold: Fold, title: str, whole: Plan | None = None) -> str:
    """An SVG document; ``whole``: what ``fold`` is a limb of."""
    jobs: dict[object, Node] = {}
    for node in fold.time:
        if (own := job(node)) in fold.place:
            jobs.setdefault(own, node)
    kinds = list(fold.units)
    units = [(kind, n) for kind in kinds for n in range(fold.units[kind])]
    colours = colours_of((region_of(node)[0] for node in jobs.values()), REGIONS)
    row = min(max(TALL / max(len(units), 1), LEAST), ROW)
    room = WIDE - 2 * (MARGIN + BUS) - 2 * BOX - 4 * GAP - KIND - 24
    cell = max(min(CELL, room / fold.interval), NARROW)
    high = max(row * len(units), 200.0)
    array = cell * fold.interval
    left = MARGIN + BUS + GAP
    grid = left + BOX + GAP + KIND + 24
    right = grid + array + GAP
    width = max(right + BOX + 3 * GAP + BUS + MARGIN, WIDE)
    used = len(jobs) / max(1, len(units) * fold.interval)
    said = [*facts(whole or fold), f"{used:.1%} of the shared units' cycles are used"]
    legend = [regions(colours), [Entry(words) for words in LEGEND]]
    page, top = headed(title, said, legend, width, high + BELOW)
    count, middle, low = features(fold), top + high / 2, top + high + BELOW - 10
    out = width - MARGIN - BUS

    bus(page, MARGIN, (top, top + high), "task in")
    bus(page, out, (top, top + high), "result out")
    _arrow(page, [(MARGIN + BUS, middle), (left, middle)])
    _arrow(page, [(left + BOX, middle), (grid - KIND - 26, middle)])
    _arrow(page, [(grid + array, middle), (right, middle)])
    for x in (grid + array + GAP / 2, right + BOX / 2):
        start = middle if x < right else top + high
        back = [(x, start), (x, low), (left + BOX / 2, low), (left + BOX / 2, top + high)]
        svg.line(page, back, GREY, 1.3)
    svg.text(page, grid, low - 4, "values that are read again", size=TINY, colour=GREY)
    channel = fold.channel
    _arrow(page, [(right + BOX, middle), (out, middle)])
    fifo(page, out - 30, middle, f"{channel.depth}×{channel.width}", GREY)

    words = len(fold.fixed.inputs)
    memories = [
        ("Memories", ""),
        (f"{words} words of the task", ""),
        (_bits(count["waiting_bits"]), "in registers"),
        (_bits(count["result_bits"]), "of results"),
        (_bits(count["ring_bits"]), "through LUT-RAM"),
        (_counted(count["tables"], "block RAM"), "of tables"),
    ]
    _box(page, (left, top, BOX, high), memories)
    _multiplexer(page, (grid - KIND - 26, top, 18.0, high))
    sums = [
        ("Adders", ""),
        (f"{count['sums']} carry chains", f"of {_bits(count['sum_bits'])}"),
        (f"{count['checks']} checks", "of overflow"),
    ]
    _box(page, (right, top, BOX, high), sums)
    inputs = f"{_bits(count['multiplexed_bits'])} of inputs"
    _array(page, fold, (grid, top + (high - row * len(units)) / 2, cell, row), kinds, colours, jobs)
    svg.text(page, grid - KIND - 26, top + high + 14, inputs, size=TINY, colour=GREY)
    return svg.to_text(page)


def _array(
    page: ET.Element,
    fold: Fold,
    place: tuple[float, float, float, float],
    kinds: Sequence[UnitKind],
    colours: Mapping[str, str],
    jobs: Mapping[object, Node],
) -> None:
    """The units by kind, each with its schedule; a cell's hint names its operation's region."""
    x, y, cell, row = place
    svg.text(page, x - 4, y - ABOVE, "cycle", "end", TINY, colour=GREY)
    every = max(1, -(-18 // int(max(cell, 1))))
    for phase in range(0, fold.interval, every):
        at = x + cell * (phase + 0.5)
        svg.text(page, at, y - ABOVE, str(phase), "middle", TINY, colour=GREY)
    start: dict[UnitKind, float] = {}
    inset = 1.0 if row >= ROW / 2 else 0.5
    for kind in kinds:
        start[kind], n = y, fold.units[kind]
        for k in range(n):
            at = y + row * k + inset / 2
            svg.rectangle(page, x, at, cell * fold.interval, row - inset, IDLE)
        name = _counted(n, NAME.get(kind.name, kind.name))
        widths = "×".join(map(str, kind.widths)) + " bit"
        middle = y + row * n / 2
        svg.text(page, x - 8, middle + (0 if row * n >= 26 else 4), name, "end", TINY)
        if row * n >= 26:
            svg.text(page, x - 8, middle + 12, widths, "end", TINY, colour=GREY)
        svg.line(page, [(x - 4, y + 1), (x - 4, y + row * n - 1)], INK, 1.2)
        y += row * n
    for node in jobs.values():
        own, phase = fold.place[job(node)], fold.start(node) % fold.interval
        region, joint = region_of(node)
        group = svg.group(page, f"cycle {phase}: {node.op.value} of {region} {joint}")
        at = start[own.kind] + row * own.number + inset / 2
        wide = cell - min(1.0, cell / 4)
        svg.rectangle(group, x + cell * phase, at, wide, row - inset, colours[region])


def _box(
    page: ET.Element, place: tuple[float, float, float, float], words: Sequence[tuple[str, str]]
) -> None:
    """A block with a heading, and pairs of lines."""
    x, y, wide, high = place
    svg.rectangle(page, x, y, wide, high, GREY, TINT)
    svg.box(page, x, y, wide, high, "none", INK)
    at = y + 20
    for k, (first, second) in enumerate(words):
        svg.text(page, x + 8, at, first, size=12 if not k else TINY, weight="bold" if not k else "")
        if second:
            at += LINE - 2
            svg.text(page, x + 8, at, second, size=TINY)
        at += LINE + 8


def _multiplexer(page: ET.Element, place: tuple[float, float, float, float]) -> None:
    """A trapezoid, as schematics draw one."""
    x, y, wide, high = place
    n = svg.number
    d = f"M{n(x)} {n(y)} L{n(x + wide)} {n(y + 14)} V{n(y + high - 14)} L{n(x)} {n(y + high)} Z"
    svg.path(page, d, INK, 1.2)
    at = x + wide / 2 + 4, y + high / 2
    label = svg.text(page, *at, "operand multiplexers", "middle", SMALL)
    label.set("transform", f"rotate(-90 {n(at[0])} {n(at[1])})")


def _arrow(page: ET.Element, points: Sequence[svg.Point]) -> None:
    svg.line(page, points, GREY, 1.3, arrow=True)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + "s" * (number != 1)


def _bits(number: int) -> str:
    return f"{number / 1000:.1f} kbit" if number >= 1000 else f"{number} bit"
