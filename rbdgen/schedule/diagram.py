"""The pipeline as a picture: when each region works on a task, and the FIFOs between them.

Time runs to the right, in cycles since a task entered; joints run downwards in depth-first
order. A joint's forward region is the upper of its two bars, its backward region the lower: the
forward chain goes down and to the right, turns round at the leaves, and comes back up. A bar
spans the cycles from its region's firing to its last result. Text and shapes only, from the
standard library: the picture is the same for the same plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from ..graph.node import Op, Region
from .channels import Channel, Plan
from .pipelined import INPUT, OUTPUT, region_name, region_of

CYCLE = 14.0  # widths and heights in pixels
TOP = 104.0  # title, legend and upper axis
LEGEND = 760.0  # its width, at least
FOOT = 34.0
INDENT = 12.0  # of a joint's name, per level of the tree
LETTER, DIGIT = 0.57, 0.65  # mean width of a letter, and of a digit or sign, in font sizes
PORT = 11.0  # between channels at one end of a bar
LABEL = 14.0  # a bar's label, above it or below
STREAM_ROOM = 54.0  # between the streams and the first and last cycle: labels of channels
GAP = 8.0
BEND = 5.0  # between the vertical parts of channels into one bar

FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
FORWARD, BACKWARD, STREAM = "#2f6db3", "#2a8a57", "#6b7280"
ROUND_TRIP = "#c2571a"
INK, FAINT, PAPER = "#1f2933", "#e3e7ec", "#ffffff"
SHADE = ("#f6f8fa", "#ffffff")  # limbs, alternating

Point = tuple[float, float]


@dataclass
class Bar:
    """A region's place: its two ends in time, top and bottom, and the channels at either end."""

    region: Region
    left: float
    right: float
    into: list[Channel]
    out_of: list[Channel]
    top: float = 0.0

    @property
    def height(self) -> float:
        return PORT * max(2, len(self.into), len(self.out_of)) + 2

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def entry(self, channel: Channel) -> float:
        return self._port(self.into, channel)

    def exit(self, channel: Channel) -> float:
        return self._port(self.out_of, channel)

    def _port(self, ports: list[Channel], channel: Channel) -> float:
        spare = self.height - PORT * len(ports)
        return self.top + spare / 2 + PORT * (ports.index(channel) + 0.5)


def diagram(plan: Plan, names: Sequence[str], parents: Sequence[int], title: str) -> str:
    """The plan as an SVG document.

    ``names`` and ``parents`` (-1: the base) belong to the joints that regions are numbered by.
    """
    drawing = _Drawing(plan, names, parents)
    return drawing.draw(title)


class _Drawing:
    def __init__(self, plan: Plan, names: Sequence[str], parents: Sequence[int]) -> None:
        self.plan, self.names, self.parents = plan, names, parents
        self.level = [0] * len(names)
        for i, parent in enumerate(parents):
            self.level[i] = self.level[parent] + 1 if parent >= 0 else 0
        widest = max(
            (INDENT * n + _extent(s, 11) for n, s in zip(self.level, names, strict=True)),
            default=0.0,
        )
        self.start = 50.0 + widest  # right edge of the input stream's bar
        self.zero = self.start + STREAM_ROOM - CYCLE  # where cycle 0 begins: cycle 1 has work
        self.end = self.at(plan.fire[OUTPUT]) + STREAM_ROOM  # left edge of the output's bar
        self.width = max(self.end + CYCLE + 14.0, LEGEND)
        self.shade = [SHADE[k % 2] for k in _limbs(parents)]
        self.bars: dict[Region, Bar] = {}
        self.rows: list[tuple[float, float]] = []
        y = TOP
        for joint in range(len(names)):
            start, y = y, y + GAP + LABEL
            for kind in ("forward", "backward"):
                bar = self._bar((kind, joint))
                if bar is not None:
                    bar.top = y
                    y = bar.bottom + GAP
            y += LABEL
            self.rows.append((start, y))
        self.floor = y

    def at(self, cycle: float) -> float:
        """The x of the clock edge that begins the cycle."""
        return self.zero + CYCLE * cycle

    def _bar(self, region: Region) -> Bar | None:
        """The region's bar with its ports in an order that crosses little, or None: no region."""
        plan = self.plan
        if region not in plan.fire:
            return None
        fire = plan.fire[region]
        nodes = [n for n in plan.schedule.time if region_of(n) == region]
        last = max([plan.offset(n) for n in nodes] + [plan.flags.get(region, 0) + 1])
        here = ("forward", "backward").index(region[0]), region[1]

        def other_end(c: Channel) -> tuple[int, int]:
            far = c.sender if c.receiver == region else c.receiver
            if far in (INPUT, OUTPUT):
                return -1, 0  # level with this bar: above what turns down
            return (far[1] > here[1] or (far[1] == here[1] and here[0] == 0)), far[1]

        into = sorted(plan.into(region), key=other_end)
        out_of = sorted(plan.out_of(region), key=other_end)
        bar = Bar(region, self.at(fire), self.at(fire + last), into, out_of)
        self.bars[region] = bar
        return bar

    # Everything below writes SVG.

    def draw(self, title: str) -> str:
        self.svg = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {_n(self.width)} {_n(self.floor + FOOT)}",
                "width": _n(self.width),
                "height": _n(self.floor + FOOT),
                "font-family": FONT,
                "fill": INK,
            },
        )
        ET.SubElement(self.svg, "title").text = title
        self._rect(self.svg, 0, 0, self.width, self.floor + FOOT, PAPER)
        self._joints()
        self._axis()
        self._heading(title)
        self._streams()
        for channel in self.plan.channels:
            self._channel(channel)
        for bar in self.bars.values():
            self._region(bar)
        ET.indent(self.svg)
        return ET.tostring(self.svg, encoding="unicode") + "\n"

    def _joints(self) -> None:
        """Joints' names as a tree, each unbranched stretch of it on its own ground."""
        group = ET.SubElement(self.svg, "g", {"id": "joints", "font-size": "11"})
        for colour, (top, bottom) in zip(self.shade, self.rows, strict=True):
            self._rect(group, 0, top, self.width, bottom - top, colour)
        for joint, (top, bottom) in enumerate(self.rows):
            y = (top + bottom) / 2
            x = 14 + INDENT * self.level[joint]
            parent = self.parents[joint]
            if parent >= 0:
                above = sum(self.rows[parent]) / 2 + 7
                self._path(group, [(x - 7, above), (x - 7, y), (x - 2, y)], "#aab2bd", 1)
            self._text(group, x + 2, y + 4, self.names[joint])

    def _axis(self) -> None:
        group = ET.SubElement(self.svg, "g", {"id": "cycles", "font-size": "9", "fill": STREAM})
        for cycle in range(0, self.plan.latency, 5):
            x = self.at(cycle)
            self._line(group, (x, TOP - 4), (x, self.floor + 4), FAINT, 1)
            for y in (TOP - 8, self.floor + 14):
                self._text(group, x, y, str(cycle), "middle")
        self._text(group, self.start, TOP - 8, "cycle", "end")

    def _heading(self, title: str) -> None:
        plan = self.plan
        binding = plan.schedule.binding
        soft = sum(style == "logic" for style in binding.style.values())
        facts = [
            f"latency {plan.latency} cycles",
            "initiation interval 1",
            f"{binding.multipliers} hardware multipliers",
            *([f"{soft} products in logic"] if soft else []),
        ]
        self._text(self.svg, 14, 28, title, size=19, weight="bold")
        self._text(self.svg, 14, 48, "  ·  ".join(facts), size=12)
        legend = ET.SubElement(self.svg, "g", {"id": "legend", "font-size": "10"})
        x = 14.0
        for colour, text in (
            (FORWARD, "forward region"),
            (BACKWARD, "backward region"),
        ):
            self._rect(legend, x, 61, 22, 9, colour)
            self._text(legend, x + 27, 69.5, text)
            x += 42 + _extent(text, 10)
        for colour, text in (
            (FORWARD, "to the child"),
            (BACKWARD, "to the parent"),
            (ROUND_TRIP, "round trip"),
            (STREAM, "task in, result out"),
        ):
            self._path(legend, [(x, 66), (x + 22, 66)], colour, 1.4, arrow=True)
            self._text(legend, x + 27, 69.5, text)
            x += 42 + _extent(text, 10)
        self._text(
            legend,
            14,
            85,
            "on an arrow: FIFO depth [tasks] × width [bit];  "
            "on a bar: cycles, then units: × products, + additions, ∿ sine and cosine",
        )

    def _streams(self) -> None:
        """Input and output, alongside everything."""
        for region, x, name in (
            (INPUT, self.start - CYCLE, "task in"),
            (OUTPUT, self.end, "result out"),
        ):
            attributes = {"id": region_name(region), "class": "region", "font-size": "10"}
            group = ET.SubElement(self.svg, "g", attributes)
            cycle = self.plan.fire[region]
            ET.SubElement(group, "title").text = f"{region_name(region)}: cycle {cycle}"
            self._rect(group, x, TOP, CYCLE, self.floor - TOP, STREAM)
            middle = x + CYCLE / 2 + 3.5, (TOP + min(self.floor, TOP + 300)) / 2
            label = self._text(group, *middle, name, "middle", fill=PAPER)
            label.set("transform", f"rotate(-90 {_n(middle[0])} {_n(middle[1])})")

    def _region(self, bar: Bar) -> None:
        kind, joint = bar.region
        plan, name = self.plan, self.names[joint]
        colour = FORWARD if kind == "forward" else BACKWARD
        first = plan.fire[bar.region]
        last = round((bar.right - self.zero) / CYCLE) - 1
        cycles = f"{first}–{last}"
        units = _units(plan, bar.region)
        attributes = {"id": region_name(bar.region), "class": "region"}
        group = ET.SubElement(self.svg, "g", attributes)
        ET.SubElement(group, "title").text = f"{kind} {name}: cycles {cycles}: {units}"
        self._rect(group, bar.left, bar.top, bar.right - bar.left, bar.height, colour, opacity=0.88)
        text = f"{name} · {cycles} · {units}"
        ground = self.shade[joint]
        # Arrows leave forward bars downwards and backward bars upwards: labels stand clear.
        if kind == "forward":
            self._label(group, bar.left, bar.top - 4, text, "start", 10, colour, ground)
        else:
            self._label(group, bar.right, bar.bottom + 11, text, "end", 10, colour, ground)

    def _channel(self, channel: Channel) -> None:
        sender, receiver = channel.sender, channel.receiver
        name = f"fifo_{region_name(sender)}_to_{region_name(receiver)}"
        group = ET.SubElement(self.svg, "g", {"id": name, "class": "channel"})
        ET.SubElement(group, "title").text = (
            f"{region_name(sender)} to {region_name(receiver)}: {channel.depth} deep, "
            f"{channel.width} bits in {len(channel.words)} words"
        )
        points = self._route(channel)
        colour = _colour(channel)
        self._path(group, points, colour, 1.2, arrow=True)
        text = f"{channel.depth}×{channel.width}"
        x, y = self.end - 8, points[-1][1] + 3
        if receiver != OUTPUT:
            bends = [c for c in self.bars[receiver].into if c.sender != INPUT]
            x = self.bars[receiver].left - 11 - BEND * len(bends)
        row = sender if receiver == OUTPUT else receiver
        ground = PAPER if row == INPUT else self.shade[row[1]]
        self._label(group, x, y, text, "end", 9, colour, ground)

    def _route(self, channel: Channel) -> list[Point]:
        """From the sender's bar to the receiver's left edge."""
        sender, receiver = channel.sender, channel.receiver
        if receiver == OUTPUT:
            if sender == INPUT:  # an input that is a result
                return [(self.start, TOP + 6), (self.end, TOP + 6)]
            bar = self.bars[sender]
            return [(bar.right, bar.exit(channel)), (self.end, bar.exit(channel))]
        to = self.bars[receiver]
        entry = to.entry(channel)
        if sender == INPUT:
            return [(self.start, entry), (to.left, entry)]
        bar = self.bars[sender]
        bends = [c for c in to.into if c.sender != INPUT]
        x = to.left - 7 - BEND * bends.index(channel)
        if x < bar.right:  # straight up or down from the bar
            edge = bar.bottom if to.top > bar.top else bar.top
            return [(max(x, bar.left), edge), (max(x, bar.left), entry), (to.left, entry)]
        leave = bar.exit(channel)
        return [(bar.right, leave), (x, leave), (x, entry), (to.left, entry)]

    def _path(
        self,
        parent: ET.Element,
        points: Sequence[Point],
        colour: str,
        width: float,
        arrow: bool = False,
    ) -> None:
        d = " ".join(f"{'L' if k else 'M'}{_n(x)} {_n(y)}" for k, (x, y) in enumerate(points))
        ET.SubElement(
            parent, "path", {"d": d, "fill": "none", "stroke": colour, "stroke-width": _n(width)}
        )
        if arrow:
            x, y = points[-1]
            tip = f"M{_n(x)} {_n(y)} l-5.5 -2.8 v5.6 z"
            ET.SubElement(parent, "path", {"d": tip, "fill": colour})

    def _line(self, parent: ET.Element, a: Point, b: Point, colour: str, width: float) -> None:
        self._path(parent, [a, b], colour, width)

    def _rect(
        self,
        parent: ET.Element,
        x: float,
        y: float,
        width: float,
        height: float,
        colour: str,
        opacity: float = 1.0,
    ) -> None:
        attributes = {"x": _n(x), "y": _n(y), "width": _n(width), "height": _n(height)}
        attributes["fill"] = colour
        if opacity != 1:
            attributes["fill-opacity"] = _n(opacity)
        ET.SubElement(parent, "rect", attributes)

    def _label(
        self,
        parent: ET.Element,
        x: float,
        y: float,
        text: str,
        anchor: str,
        size: float,
        colour: str,
        ground: str,
    ) -> None:
        """Text on a ground of its own, so that lines pass behind it."""
        wide = _extent(text, size)
        left = x - wide if anchor == "end" else x
        self._rect(parent, left - 1, y - 0.85 * size, wide + 2, 1.1 * size, ground)
        self._text(parent, x, y, text, anchor, size, fill=colour)

    def _text(
        self,
        parent: ET.Element,
        x: float,
        y: float,
        text: str,
        anchor: str = "start",
        size: float | None = None,
        weight: str = "",
        fill: str = "",
    ) -> ET.Element:
        attributes = {"x": _n(x), "y": _n(y)}
        if anchor != "start":
            attributes["text-anchor"] = anchor
        if size is not None:
            attributes["font-size"] = _n(size)
        if weight:
            attributes["font-weight"] = weight
        if fill:
            attributes["fill"] = fill
        element = ET.SubElement(parent, "text", attributes)
        element.text = text
        return element


def _limbs(parents: Sequence[int]) -> list[int]:
    """Joint → number of the unbranched stretch of the tree that it is part of."""
    limbs: list[int] = []
    for joint, parent in enumerate(parents):
        goes_on = parent == joint - 1 and list(parents).count(parent) == 1
        limbs.append(limbs[-1] + (not goes_on) if limbs else 0)
    return limbs


def _extent(text: str, size: float) -> float:
    """About how wide the text is: fonts differ."""
    letters = sum(c.isalpha() or c.isspace() for c in text)
    return size * (LETTER * letters + DIGIT * (len(text) - letters))


def _colour(channel: Channel) -> str:
    if INPUT in (channel.sender, channel.receiver) or OUTPUT in (channel.sender, channel.receiver):
        return STREAM
    if channel.sender[0] != channel.receiver[0]:
        return ROUND_TRIP
    return FORWARD if channel.sender[0] == "forward" else BACKWARD


def _units(plan: Plan, region: Region) -> str:
    """What is built in the region: ``17× 36+ 1∿ 1÷``."""
    nodes = [n for n in plan.schedule.time if region_of(n) == region]
    products = sum(n.op is Op.MUL for n in nodes)
    additions = sum(n.op in (Op.ADD, Op.SUB, Op.NEG) for n in nodes)
    sines = len({n.args[0] for n in nodes if n.op in (Op.SIN, Op.COS)})
    reciprocals = len({n.args[0] for n in nodes if n.op in (Op.MANTISSA, Op.EXPONENT)})
    counts = ((products, "×"), (additions, "+"), (sines, "∿"), (reciprocals, "÷"))
    return " ".join(f"{count}{sign}" for count, sign in counts if count)


def _n(x: float) -> str:
    """A coordinate: a tenth of a pixel is enough."""
    return f"{x:.1f}".removesuffix(".0")
