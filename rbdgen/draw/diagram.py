"""The pipeline as a picture: when each region works on a task, and the FIFOs between them.

Time runs to the right, in cycles since a task entered; joints run downwards in depth-first
order, each with a bar for every region that it has. The way out through the robot goes down and
to the right, turns round at the leaves, and comes back up. A bar spans the cycles from its
region's firing to its last result. Text and shapes only, from the standard library: the picture
is the same for the same plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from ..graph.node import Op, Region
from ..schedule.channels import Pipeline
from ..schedule.pipelined import INPUT, OUTPUT, region_name, region_of
from ..schedule.plan import Channel, Plan
from . import svg
from .bars import (
    FOOT,
    INDENT,
    NAME,
    SMALL,
    STREAM,
    STREAMS_LEGEND,
    TINY,
    Bar,
    Layout,
    figures,
    spoken,
)
from .channel_lines import Route, routes
from .rows import DOT, FACTS, facts
from .svg import PAPER

GREY, FAINT, TREE = "#6b7280", "#e3e7ec", "#aab2bd"
SHADE = ("#f6f8fa", "#ffffff")  # limbs, alternating
# Blue and violet from the base outwards, green and brown towards it, red neither.
COLOURS = {
    "forward": "#2f6db3",
    "forward_again": "#5a4fcf",
    "sums": "#2f6db3",
    "sums_again": "#5a4fcf",
    "out": "#0c7b9b",
    "out_again": "#1f5f7a",
    "inverse": "#8a52b5",
    "backward": "#278152",
    "backward_again": "#697918",
    "back": "#127f79",
    "back_again": "#4e7b6a",
    "factor": "#a7611a",
    "articulated": "#7d5a3c",
    "product": "#b23a6b",
    "product_again": "#8f4b7a",
    "effort": "#b5403a",
}
SPARE = ("#3d4fa1", "#916b19", "#93408f", "#4a7a3a")  # of kinds that are not there, in turn
STEPS, APART = (5, 10, 20, 50), 34.0  # cycles from number to number on the axis; pixels, at least
HINTS = (
    "on an arrow: FIFO depth [tasks] × width [bit], first the sending joint where several arrive",
    "on a bar: cycles, then units: × products, + additions, ∿ sine and cosine, ÷ reciprocals",
)


def diagram(
    plan: Pipeline,
    names: Sequence[str],
    parents: Sequence[int],
    title: str,
    whole: Plan | None = None,
) -> str:
    """The plan as an SVG document.

    ``names`` and ``parents`` (-1: the base) belong to the joints that regions are numbered by;
    ``whole`` is what the plan is a limb of.
    """
    layout = Layout(plan, names, parents)
    said = DOT.join(_facts(layout, whole or plan))
    layout.width = max(layout.width, 28 + svg.extent(said, FACTS))
    found = routes(layout)
    shade = [SHADE[k % 2] for k in _limbs(parents)]
    colours = _colours(layout.kinds)

    page = svg.document(layout.width, layout.floor + FOOT, title)
    _joints(page, layout, parents, shade)
    _axis(page, layout)
    svg.text(page, 14, 28, title, size=19, weight="bold")
    svg.text(page, 14, 48, said, size=FACTS)
    _legend(page, layout, colours)
    _streams(page, layout)
    for channel in plan.channels:
        _line(page, channel, found[channel], colours)
    for bar in layout.bars.values():
        joint = bar.region[1]
        _region(page, layout, bar, names[joint], colours[bar.region[0]], shade[joint])
    for channel in plan.channels:
        _depth(page, layout, channel, found[channel], colours, shade)
    return svg.to_text(page)


def _joints(page: ET.Element, layout: Layout, parents: Sequence[int], shade: Sequence[str]) -> None:
    """Joints' names as a tree, each unbranched stretch of it on its own ground."""
    group = svg.group(page, id="joints", font_size=svg.number(NAME))
    for colour, (top, bottom) in zip(shade, layout.rows, strict=True):
        svg.rectangle(group, 0, top, layout.width, bottom - top, colour)
    for joint, (top, bottom) in enumerate(layout.rows):
        y = (top + bottom) / 2
        x = 14 + INDENT * layout.level[joint]
        if parents[joint] >= 0:
            above = sum(layout.rows[parents[joint]]) / 2 + 7
            svg.line(group, [(x - 7, above), (x - 7, y), (x - 2, y)], TREE, 1)
        svg.text(group, x + 2, y + 4, layout.names[joint])


def _axis(page: ET.Element, layout: Layout) -> None:
    group = svg.group(page, id="cycles", font_size=svg.number(TINY), fill=GREY)
    step = next(step for step in STEPS if step * layout.cycle >= APART)
    for cycle in range(0, layout.plan.latency, step):
        x = layout.at(cycle)
        svg.line(group, [(x, layout.roof - 4), (x, layout.floor + 4)], FAINT, 1)
        for y in (layout.roof - 8, layout.floor + 14):
            svg.text(group, x, y, str(cycle), "middle")
    svg.text(group, layout.start, layout.roof - 8, "clock cycle", "end")


def _facts(layout: Layout, whole: Plan) -> list[str]:
    soft = sum(style == "logic" for style in layout.plan.schedule.binding.style.values())
    return [
        *facts(whole),
        *([f"{soft} products in logic"] if soft else []),
        f"{len(layout.bars)} regions",
        f"{len(layout.plan.channels)} FIFOs",
    ]


def _legend(page: ET.Element, layout: Layout, colours: dict[str, str]) -> None:
    """A bar and an arrow for each kind of region: channels have their sender's colour."""
    group = svg.group(page, id="legend", font_size=svg.number(SMALL))
    *places, stream = layout.legend
    for kind, (x, y) in zip(layout.kinds, places, strict=True):
        svg.rectangle(group, x, y, 14, 9, colours[kind])
        svg.line(group, [(x + 14, y + 4.5), (x + 25, y + 4.5)], colours[kind], 1.4, arrow=True)
        svg.text(group, x + 29, y + 8.5, layout.counted(kind))
    x, y = stream
    svg.line(group, [(x, y + 4.5), (x + 25, y + 4.5)], GREY, 1.4, arrow=True)
    svg.text(group, x + 29, y + 8.5, STREAMS_LEGEND)
    for row, hint in enumerate(HINTS, 1):
        svg.text(group, 14, y + 9 + 17 * row, hint)


def _streams(page: ET.Element, layout: Layout) -> None:
    """Input and output, alongside everything."""
    for region, x, name in (
        (INPUT, layout.start - STREAM, "task in"),
        (OUTPUT, layout.end, "result out"),
    ):
        hint = f"{region_name(region)}: cycle {layout.plan.fire[region]}"
        group = svg.group(
            page, hint, id=region_name(region), class_="region", font_size=svg.number(SMALL)
        )
        height = layout.floor - layout.roof
        svg.rectangle(group, x, layout.roof, STREAM, height, GREY)
        middle = x + STREAM / 2 + 3.5, layout.roof + min(height, 300) / 2
        label = svg.text(group, *middle, name, "middle", colour=PAPER)
        label.set("transform", f"rotate(-90 {svg.number(middle[0])} {svg.number(middle[1])})")


def _region(
    page: ET.Element, layout: Layout, bar: Bar, name: str, colour: str, ground: str
) -> None:
    cycles = "–".join(map(str, layout.cycles(bar)))
    words = " · ".join([f"{spoken(bar.region[0])} {name}", cycles, _units(layout, bar.region)])
    group = svg.group(page, words, id=region_name(bar.region), class_="region")
    svg.rectangle(group, bar.left, bar.top, bar.right - bar.left, bar.height, colour, 0.88)
    y = bar.top - 4 if bar.down else bar.bottom + SMALL + 1
    beyond = bar.left + svg.extent(words, SMALL) > layout.end - 4
    x, anchor = (bar.right, "end") if beyond else (bar.left, "start")
    svg.label(group, x, y, words, anchor, SMALL, colour, ground)


def _line(page: ET.Element, channel: Channel, route: Route, colours: dict[str, str]) -> None:
    hint = (
        f"{region_name(channel.sender)} to {region_name(channel.receiver)}: {channel.depth} deep, "
        f"{channel.width} bits in {len(channel.words)} words"
    )
    group = svg.group(page, hint, id=_name(channel), class_="channel")
    colour = _colour(channel, colours)
    svg.line(group, route.points, colour, 1.0 if route.bundled else 1.2, arrow=True)
    if route.branches:
        svg.dot(group, route.points[-2], colour)


def _depth(
    page: ET.Element,
    layout: Layout,
    channel: Channel,
    route: Route,
    colours: dict[str, str],
    shade: Sequence[str],
) -> None:
    row = channel.sender if channel.receiver == OUTPUT else channel.receiver
    ground = PAPER if row == INPUT else shade[row[1]]
    group = svg.group(page, id=f"{_name(channel)}_depth", class_="depth")
    words = figures(channel, route.bundled)
    svg.label(group, *route.label, words, "end", TINY, _colour(channel, colours), ground)


def _name(channel: Channel) -> str:
    return f"fifo_{region_name(channel.sender)}_to_{region_name(channel.receiver)}"


def _colour(channel: Channel, colours: dict[str, str]) -> str:
    streams = channel.sender == INPUT or channel.receiver == OUTPUT
    return GREY if streams else colours[channel.sender[0]]


def _colours(kinds: Sequence[str]) -> dict[str, str]:
    """Every kind's, known or not."""
    others = [kind for kind in kinds if kind not in COLOURS]
    return COLOURS | {kind: SPARE[k % len(SPARE)] for k, kind in enumerate(others)}


def _limbs(parents: Sequence[int]) -> list[int]:
    """Joint → number of the unbranched stretch of the tree that it is part of."""
    limbs: list[int] = []
    for joint, parent in enumerate(parents):
        goes_on = parent == joint - 1 and list(parents).count(parent) == 1
        limbs.append(limbs[-1] + (not goes_on) if limbs else 0)
    return limbs


def _units(layout: Layout, region: Region) -> str:
    """The units that are built in the region: ``17× 36+ 1∿ 1÷``."""
    nodes = [n for n in layout.plan.schedule.time if region_of(n) == region]
    products = sum(n.op is Op.MUL for n in nodes)
    additions = sum(n.op in (Op.ADD, Op.SUB, Op.NEG) for n in nodes)
    sines = len({n.args[0] for n in nodes if n.op in (Op.SIN, Op.COS)})
    reciprocals = len({n.args[0] for n in nodes if n.op in (Op.MANTISSA, Op.EXPONENT)})
    counts = ((products, "×"), (additions, "+"), (sines, "∿"), (reciprocals, "÷"))
    return " ".join(f"{count}{sign}" for count, sign in counts if count)
