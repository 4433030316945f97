"""A fold as a picture: what every shared unit does in each phase of an interval."""

from __future__ import annotations

from collections import Counter

from ..graph.node import Node
from ..schedule.fold import Fold
from ..schedule.pipelined import region_name, region_of
from ..schedule.plan import Plan
from ..schedule.units import Kind, job
from . import svg
from .heading import Entry, Heading, facts, regions

CELL, ROW = 34.0, 16.0
LEAST = 900.0  # the page's width, at least
AXIS = 26.0  # room for the names of columns
SMALL = 11.0  # size of text
BUSY = ("#2f6db3", "#2a8a57", "#5a4fcf", "#a8621a", "#0d86a8", "#b23a6b", "#75871b", "#8a52b5")
IDLE, GREY = "#eef1f4", "#5f6875"
UNIT = {"mul": "multiplier", "sincos": "sine and cosine", "recip": "reciprocal"}
COLUMNS = "column: a clock cycle of the interval, over and over; row: a unit; blank: it is idle"


def occupancy(fold: Fold, title: str, whole: Plan | None = None) -> str:
    """An SVG document: a row for each unit, a column for each phase, colours for kinds of region.

    A cell's hint names the operation, its region and the cycle of a task in which it starts.
    ``whole``: what ``fold`` is a limb of.
    """
    units = [(k, n) for k, count in fold.units.items() for n in range(count)]
    cells: list[tuple[int, tuple[Kind, int], str, Node]] = []  # phase, unit, kind of region
    done = set()
    for node in fold.time:
        own = job(node)
        if own in fold.place and own not in done:
            done.add(own)
            place, phase = fold.place[own], fold.start(node) % fold.interval
            cells.append((phase, (place.kind, place.number), region_of(node)[0], node))
    kinds = dict.fromkeys(kind for _, _, kind, _ in cells)
    colours = {kind: BUSY[k % len(BUSY)] for k, kind in enumerate(kinds)}
    said = _names([kind for kind, _ in units])
    left = 24 + max((svg.extent(words, SMALL) for words in said), default=0.0)
    width = max(left + CELL * fold.interval + 14, LEAST)
    used = len(cells) / max(1, len(units) * fold.interval)
    jobs = f"{len(cells)} operations on {len(units)} shared units, {used:.1%} of their cycles"
    legend = [regions(colours), [Entry(COLUMNS)]]
    head = Heading(title, [*facts(whole or fold), jobs], legend, width)
    top = head.height + AXIS
    row = {unit: top + ROW * k for k, unit in enumerate(units)}
    page = svg.document(width, top + ROW * len(units) + 14, title)
    head.draw(page)
    svg.text(page, left - 6, top - 5, "clock cycle", "end", SMALL, colour=GREY)
    for phase in range(fold.interval):
        middle = left + CELL * (phase + 0.5)
        svg.text(page, middle, top - 5, str(phase), "middle", SMALL, colour=GREY)
    for words, y in zip(said, row.values(), strict=True):
        svg.text(page, left - 6, y + 12, words, "end", SMALL)
        svg.rectangle(page, left, y + 1, CELL * fold.interval, ROW - 2, IDLE)
    for phase, unit, kind, node in cells:
        cell = svg.group(page, _spoken(fold, node))
        x = left + CELL * phase
        svg.rectangle(cell, x + 1, row[unit] + 1, CELL - 2, ROW - 2, colours[kind])
    return svg.to_text(page)


def _names(kinds: list[Kind]) -> list[str]:
    """Units are numbered by what they are; their widths where those differ."""
    widths = {kind.name: {k.widths for k in kinds if k.name == kind.name} for kind in kinds}
    seen: Counter[str] = Counter()
    names = []
    for kind in kinds:
        words = UNIT.get(kind.name, kind.name)
        if len(widths[kind.name]) > 1:
            words += " " + "×".join(map(str, kind.widths))
        names.append(f"{words}  {seen[words]}")
        seen[words] += 1
    return names


def _spoken(fold: Fold, node: Node) -> str:
    arguments = ", ".join(str(a.index) for a in node.args)
    where = region_name(region_of(node))
    return f"{node.op.value} {node.index} of {arguments} ({where}), cycle {fold.start(node)}"
