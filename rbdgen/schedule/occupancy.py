"""A fold as a picture: what every shared unit does in each phase of an interval."""

from __future__ import annotations

from ..graph.node import Node
from . import svg
from .fold import Fold
from .pipelined import region_name, region_of
from .units import job

CELL, ROW, LEFT, TOP = 34.0, 13.0, 92.0, 84.0
BUSY = ("#2f6db3", "#2a8a57", "#5a4fcf", "#a8621a", "#0d86a8", "#b23a6b", "#75871b", "#8a52b5")
IDLE, GREY = "#eef1f4", "#6b7280"


def occupancy(fold: Fold, title: str) -> str:
    """An SVG document: a row for each unit, a column for each phase, colours for kinds of region.

    A cell's hint names the operation, its region and the cycle of a task in which it starts.
    """
    units = [(k, n) for k, count in fold.units.items() for n in range(count)]
    row = {unit: TOP + ROW * k for k, unit in enumerate(units)}
    kinds: dict[str, str] = {}
    cells = []
    done = set()
    for node in fold.time:
        own = job(node)
        if own in fold.place and own not in done:
            done.add(own)
            place, kind = fold.place[own], region_of(node)[0]
            kinds.setdefault(kind, BUSY[len(kinds) % len(BUSY)])
            phase = fold.start(node) % fold.interval
            cells.append((LEFT + CELL * phase, row[place.kind, place.number], kind, node))
    width = max(LEFT + CELL * fold.interval + 20, 660.0)
    page = svg.document(width, TOP + ROW * len(units) + 24, title)
    svg.text(page, 14, 28, title, size=19, weight="bold")
    used = len(cells) / max(1, len(units) * fold.interval)
    facts = [
        f"latency {fold.latency} cycles",
        f"initiation interval {fold.interval}",
        f"{fold.multipliers} hardware multipliers",
        f"{len(cells)} jobs on {len(units)} units, {used:.1%} of their cycles",
    ]
    svg.text(page, 14, 48, "  ·  ".join(facts), size=12)
    x = LEFT
    for kind, colour in kinds.items():
        svg.rectangle(page, x, 58, 12, 8, colour)
        svg.text(page, x + 16, 66, kind, size=10)
        x += 30 + svg.extent(kind, 10)
    for phase in range(fold.interval):
        middle = LEFT + CELL * phase + CELL / 2
        svg.text(page, middle, TOP - 4, str(phase), "middle", 9, colour=GREY)
    for (kind_of, number), y in row.items():
        svg.text(page, LEFT - 6, y + 10, f"{kind_of.name} {number}", "end", 9, colour=GREY)
        svg.rectangle(page, LEFT, y + 1, CELL * fold.interval, ROW - 2, IDLE)
    for x, y, kind, node in cells:
        cell = svg.group(page, _spoken(fold, node))
        svg.rectangle(cell, x + 1, y + 1, CELL - 2, ROW - 2, kinds[kind])
    return svg.to_text(page)


def _spoken(fold: Fold, node: Node) -> str:
    arguments = ", ".join(str(a.index) for a in node.args)
    where = region_name(region_of(node))
    return f"{node.op.value} {node.index} of {arguments} ({where}), cycle {fold.start(node)}"
