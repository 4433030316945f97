"""The accelerator as a picture: stages from left to right, and each function's way through them.

Stages stand in columns, each behind all that it reads of; a line for each function runs from stage
to stage, below all others where it goes back. A task's slot, not its words, is what goes that way.
Text and shapes only; the same accelerator gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations
from xml.etree import ElementTree as ET

from ..tasks.latency import latency_of
from ..tasks.routes import RESULT, ROLLOUTS, StageVisit, parse
from ..tasks.stages import Accelerator
from . import svg
from .rows import FAINT
from .svg import GREY, INK, PAPER, of_function

ENTRY = "entry"  # where tasks come in
EXIT = RESULT.stage  # where they leave
LEFT, TOP, FOOT = 22.0, 66.0, 73.0
STAGE, GATE = 176.0, 100.0  # widths of boxes: a stage's, and those at both ends
LEAST, PITCH, APART = 78.0, 9.0, 26.0  # a box's least height, from line to line, from box to box
GAP, BACK = 64.0, 13.0  # between columns, and between the lines that go back
BEND, STROKE, DASHES = 7.0, 1.9, "5 3"
CHIP, CHIP_ROW = 250.0, 19.0  # of the legend
BODY, BEAM, TINT = "#f6f8fa", "#3f4a59", "#e3e7ec"
SMALL = 10.0  # size of the notes' text
SWEEPS = 8
CROSSING = 400.0  # what a crossing of two lines costs, beside squares of their rise [px²]
NOTES = (
    "function: a task every so many cycles, the first one's result after so many",
    "stage: the same, and a bar for its hardware multipliers",
    "line: where a task goes next; dashed: what it must have left besides; below: a slot goes back",
)


@dataclass(frozen=True)
class Link:
    """A function's way from one stage to another, for a visit; ``waits``: only waited for."""

    function: str
    sender: str
    receiver: str
    visit: StageVisit
    waits: bool = False


@dataclass(eq=False)
class _Node:
    """A box, or where a bundle of lines passes a column; ``top`` and ``left`` once it is placed."""

    name: str
    column: int
    box: bool
    height: float = 0.0
    top: float = 0.0
    into: list[_Bundle] = field(default_factory=list)
    out: list[_Bundle] = field(default_factory=list)

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


@dataclass(eq=False)
class _Bundle:
    """Lines from a node to one in the next column, from the upper one to the lower."""

    sender: _Node
    receiver: _Node
    links: list[Link]


def links_of(accelerator: Accelerator) -> list[Link]:
    """Every way from stage to stage, function by function; the same way again is the same."""
    found = []
    for function in accelerator.functions:
        found += [Link(function, ENTRY, v.stage, v) for v in accelerator.entries(function)]
        route = accelerator.route(function)
        for visit, leads in route.items():
            found += [Link(function, visit.stage, to.stage, to) for to in leads]
        visited = {visit.stage for visit in route}
        for stage, others in accelerator.waits.items():
            for other in others:
                if {stage, other} <= visited:
                    found.append(Link(function, other, stage, parse(stage), waits=True))
    return list(dict.fromkeys(found))


def picture(accelerator: Accelerator, title: str) -> str:
    """An SVG document: boxes, lines in the functions' colours, and what the colours stand for."""
    links = links_of(accelerator)
    order = [ENTRY, *accelerator.stages, EXIT]
    back = [link for link in links if order.index(link.receiver) <= order.index(link.sender)]
    columns = _columns(order, [link for link in links if link not in back], back)
    wide = [max(GATE if n.name in (ENTRY, EXIT) else STAGE for n in c) for c in columns]
    left = [LEFT + sum(wide[:k]) + GAP * k for k in range(len(wide))]
    said = max(svg.extent(words, SMALL) for words in NOTES)
    width = max(left[-1] + wide[-1] + LEFT, LEFT + 2 * CHIP, 28 + said, 28 + svg.extent(title, 19))
    rows = -(-len(accelerator.functions) // int((width - LEFT) / CHIP))
    top = TOP + CHIP_ROW * rows + 22
    _stack(columns, top)
    bottom = max(n.top + n.height for c in columns for n in c)
    height = bottom + (BACK * len(back) + 22 if back else 0) + FOOT

    page = svg.document(width, height, title)
    _heading(page, accelerator, title, width, height)
    edges = {n: (left[k], left[k] + wide[k]) for k, c in enumerate(columns) for n in c}
    _Lines(page, edges, back, bottom + 18).draw()
    most = max((s.multipliers for s in accelerator.stages.values()), default=0)
    for node, (x, right) in edges.items():
        if node.box:
            _box(page, accelerator, node, (x, right), most)
    return svg.to_text(page)


def _columns(
    order: Sequence[str], links: Sequence[Link], back: Iterable[Link]
) -> list[list[_Node]]:
    """Boxes, each behind all that lead to it, and what passes them, in an order with few crossings.

    ``links`` run forwards in ``order``.
    """
    column = dict.fromkeys(order, 1) | {ENTRY: 0}
    for name in order[1:]:
        before = [column[link.sender] for link in links if link.receiver == name]
        column[name] = max(before, default=0) + 1
    column[EXIT] = max(column.values())
    nodes = {name: _Node(name, column[name], True) for name in order}
    columns: list[list[_Node]] = [[] for _ in range(column[EXIT] + 1)]
    for node in nodes.values():
        columns[node.column].append(node)
    pairs = dict.fromkeys((link.sender, link.receiver) for link in links)
    for sender, receiver in pairs:
        own = [link for link in links if (link.sender, link.receiver) == (sender, receiver)]
        at = nodes[sender]
        for k in range(column[sender] + 1, column[receiver]):
            through = _Node(f"{sender} to {receiver}", k, False)
            columns[k].append(through)
            _join(at, through, own)
            at = through
        _join(at, nodes[receiver], own)
    ends = [e for link in back for e in (("out", link.sender), ("into", link.receiver))]
    for c in columns:
        for node in c:
            sides = [
                sum(len(b.links) for b in bundles) + ends.count((side, node.name))
                for side, bundles in (("into", node.into), ("out", node.out))
            ]
            node.height = PITCH * (max(sides) + 1)
            if node.box:
                node.height = max(node.height, LEAST)
    return _arranged(columns)


def _join(sender: _Node, receiver: _Node, links: list[Link]) -> None:
    bundle = _Bundle(sender, receiver, links)
    sender.out.append(bundle)
    receiver.into.append(bundle)


def _arranged(columns: list[list[_Node]]) -> list[list[_Node]]:
    """Each column in its best order beside its neighbours', until none gets better."""
    _stack(columns, 0.0)
    for _ in range(SWEEPS):
        before = [list(c) for c in columns]
        for k, c in enumerate(columns):

            def cost(order: tuple[_Node, ...], k: int = k) -> float:
                columns[k] = list(order)
                _stack(columns, 0.0)
                return _cost(columns)

            best = min(permutations(c), key=cost)
            columns[k] = list(best)
            _stack(columns, 0.0)
        if columns == before:
            break
    return columns


def _stack(columns: Sequence[Sequence[_Node]], top: float) -> None:
    """Place the nodes of each column below each other, all columns about one middle."""
    heights = [sum(n.height for n in c) + APART * (len(c) - 1) for c in columns]
    for c, height in zip(columns, heights, strict=True):
        y = top + (max(heights) - height) / 2
        for node in c:
            node.top = y
            y += node.height + APART


def _cost(columns: Sequence[Sequence[_Node]]) -> float:
    """Squares of how far lines rise or fall, and their crossings."""
    cost = 0.0
    for c in columns:
        bundles = [b for n in c for b in n.out]
        cost += sum(len(b.links) * (b.receiver.middle - b.sender.middle) ** 2 for b in bundles)
        for a, b in combinations(bundles, 2):
            falls = (a.sender.middle - b.sender.middle) * (a.receiver.middle - b.receiver.middle)
            cost += CROSSING * len(a.links) * len(b.links) * (falls < 0)
    return cost


@dataclass(frozen=True)
class _Lines:
    """All lines: ``edges`` has each node's left and right, ``floor`` is where lines go back."""

    page: ET.Element
    edges: Mapping[_Node, tuple[float, float]]
    back: Sequence[Link]
    floor: float

    def draw(self) -> None:
        start: dict[tuple[_Bundle, Link], float] = {}
        end: dict[tuple[_Bundle, Link], float] = {}
        returns: dict[tuple[str, Link], float] = {}
        for node in self.edges:
            for side, bundles, found in (("into", node.into, end), ("out", node.out, start)):
                far = [b.sender if side == "into" else b.receiver for b in bundles]
                ranked = sorted(range(len(bundles)), key=lambda k: far[k].middle)
                ports = [(bundles[k], link) for k in ranked for link in bundles[k].links]
                own = [
                    link
                    for link in self.back
                    if node.box and node.name == (link.receiver if side == "into" else link.sender)
                ]
                y = node.middle - PITCH * (len(ports) + len(own) - 1) / 2
                for port in ports:
                    found[port] = y
                    y += PITCH
                for link in own:
                    returns[side, link] = y
                    y += PITCH
        for node, (_, right) in self.edges.items():
            for bundle in node.out:
                for link in bundle.links:
                    self._forward(bundle, link, right, start, end)
        for k, link in enumerate(self.back):
            self._backward(k, link, returns["out", link], returns["into", link])

    def _forward(
        self,
        bundle: _Bundle,
        link: Link,
        right: float,
        start: Mapping[tuple[_Bundle, Link], float],
        end: Mapping[tuple[_Bundle, Link], float],
    ) -> None:
        """A curve to the next column, and straight on through it where the line only passes."""
        colour, y = of_function(link.function), end[bundle, link]
        x, beyond = self.edges[bundle.receiver]
        middle, n = (right + x) / 2, svg.number
        before = start[bundle, link]
        d = f"M{n(right)} {n(before)} C{n(middle)} {n(before)} {n(middle)} {n(y)} {n(x)} {n(y)}"
        if not bundle.receiver.box:
            d += f" H{n(beyond)}"
        hint = f"{link.function}: {link.sender} to {link.receiver}"
        if link.waits:
            hint = f"{link.function}: {link.receiver} waits for {link.sender}"
        group = svg.group(self.page, hint, class_="link")
        svg.path(group, d, colour, STROKE, DASHES if link.waits else "")
        if bundle.receiver.box:
            svg.tip(group, (x, y), colour)

    def _backward(self, k: int, link: Link, y: float, end: float) -> None:
        """Out on the right, down, along below everything, and up to its receiver's left."""
        named = {node.name: edges for node, edges in self.edges.items() if node.box}
        start, stop = named[link.sender][1], named[link.receiver][0]
        colour, n, r = of_function(link.function), svg.number, BEND
        right = start + 14 + BACK * k
        left = stop - 20 - BACK * k
        low = self.floor + BACK * k
        d = (
            f"M{n(start)} {n(y)} H{n(right - r)} q{n(r)} 0 {n(r)} {n(r)} V{n(low - r)} "
            f"q0 {n(r)} {n(-r)} {n(r)} H{n(left + r)} q{n(-r)} 0 {n(-r)} {n(-r)} "
            f"V{n(end + r)} q0 {n(-r)} {n(r)} {n(-r)} H{n(stop)}"
        )
        group = svg.group(self.page, f"{link.function}: back to {link.receiver}", class_="back")
        svg.path(group, d, colour, STROKE)
        svg.tip(group, (stop, end), colour)
        again = f": {link.visit.stage} again" if link.visit.again else ""
        said = link.function + again
        middle, room = (left + right) / 2, svg.extent(said, 10) + 8
        svg.rectangle(group, middle - room / 2, low - 3, room, 6, PAPER)
        svg.text(group, middle, low + 3.5, said, "middle", 10, colour=colour)


def _heading(
    page: ET.Element, accelerator: Accelerator, title: str, width: float, height: float
) -> None:
    svg.text(page, 14, 28, title, size=19, weight="bold")
    facts = [
        f"functions: {len(accelerator.functions)}",
        f"stages: {len(accelerator.stages)}",
        f"hardware multipliers: {accelerator.multipliers}",
        f"tasks under way: {accelerator.slots}",
    ]
    svg.text(page, 14, 48, "  ·  ".join(facts), size=12)
    legend = svg.group(page, id="legend")
    each = int((width - LEFT) / CHIP)
    for k, function in enumerate(accelerator.functions):
        x, y = LEFT + CHIP * (k % each), TOP + 12 + CHIP_ROW * (k // each)
        svg.line(legend, [(x, y - 4), (x + 22, y - 4)], of_function(function), 4)
        svg.text(legend, x + 29, y, function, size=12, weight="bold")
        after = f"after {latency_of(accelerator, function)} cycles"
        if function in ROLLOUTS:
            after = f"about {latency_of(accelerator, function)} cycles a step"
        said = f"every {accelerator.interval(function)}, {after}"
        svg.text(legend, x + 68, y, said, size=11, colour=GREY)
    for k, words in enumerate(NOTES):
        svg.text(page, 14, height - 43 + 15 * k, words, size=SMALL, colour=GREY)


def _box(
    page: ET.Element,
    accelerator: Accelerator,
    node: _Node,
    sides: tuple[float, float],
    most: int,
) -> None:
    left, right = sides
    group = svg.group(page, id=f"stage_{node.name}", class_="stage")
    if node.name in (ENTRY, EXIT):
        svg.box(group, left, node.top, right - left, node.height, TINT, GREY)
        lines = list(_gate(accelerator, node.name))
        y = node.middle - 7.5 * len(lines) + 12
        for k, words in enumerate(lines):
            bold = "" if k else "bold"
            middle = (left + right) / 2
            svg.text(group, middle, y + 15 * k, words, "middle", 10.5 if k else 13, bold)
        return
    stage = accelerator.stages[node.name]
    svg.box(group, left, node.top, right - left, node.height, BODY, INK)
    x, y, room = left + 12, node.middle - 18, right - left - 24
    svg.text(group, x, y, node.name, size=14, weight="bold")
    svg.text(group, x, y + 17, f"every {stage.interval}, after {stage.latency} cycles", size=10.5)
    products = stage.fixed.graph.operations()["mul"]
    said = f"{stage.multipliers} multipliers · {products} products"
    svg.text(group, x, y + 32, said, size=10.5, colour=GREY)
    svg.rectangle(group, x, y + 39, room, 6, FAINT)
    if stage.multipliers:
        svg.rectangle(group, x, y + 39, max(1.0, room * stage.multipliers / most), 6, BEAM)


def _gate(accelerator: Accelerator, name: str) -> Iterator[str]:
    if name == ENTRY:
        yield from ("tasks", f"{len(accelerator.words)} words", "decode", "give a slot")
    else:
        most = max(map(len, accelerator.results.values()))
        order = "in order" if accelerator.in_order else "as they finish"
        yield from ("results", f"{most} words", "encode", order)
