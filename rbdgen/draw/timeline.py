"""A fold without shared units as a picture: what happens in each cycle of a task, by region."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..graph.node import Op, Region
from ..schedule.fold import Fold
from ..schedule.pipelined import region_of
from ..schedule.plan import Plan
from . import svg
from .heading import Entry, Heading, facts, regions
from .occupancy import AXIS, BUSY, GREY, IDLE, SMALL
from .svg import INK, PAPER

ROW, WIDTH = 18.0, 1000.0
CELL = 18.0  # of a cycle, at least
LEAST = 0.25  # how dark a cell is in which least is done
NUMBERS = "number: operations that end in the cycle; darker: more; blank: none, or tables at work"


def timeline(fold: Fold, title: str, names: Sequence[str], whole: Plan | None = None) -> str:
    """An SVG document: a row for each region, a column for each cycle, darker where more is done.

    A cell holds the number of operations with results there in that cycle; its hint says how many
    of them are products. ``names``: of the joints; ``whole``: what ``fold`` is a limb of.
    """
    done: Counter[tuple[Region, int]] = Counter()
    products: Counter[tuple[Region, int]] = Counter()
    for node, time in fold.time.items():
        if node.op is not Op.INPUT:
            done[region_of(node), time] += 1
            products[region_of(node), time] += node.op is Op.MUL
    kinds = list(dict.fromkeys(r[0] for r, _ in sorted(done, key=lambda key: (key[1], key[0]))))
    rows = sorted({r for r, _ in done}, key=lambda r: (kinds.index(r[0]), r[1]))
    colours = {kind: BUSY[k % len(BUSY)] for k, kind in enumerate(kinds)}
    said = [f"{kind.replace('_', ' ')}  {names[joint]}" for kind, joint in rows]
    left = 24 + max((svg.extent(words, SMALL) for words in said), default=0.0)
    cell = max(CELL, (WIDTH - left - 14) / fold.latency)
    width = left + cell * fold.latency + 14
    more = [f"{fold.latency * fold.chain.period:g} ns"] if fold.chain else []
    legend = [regions(colours), [Entry(NUMBERS)]]
    head = Heading(title, [*facts(whole or fold), *more], legend, width)
    top = head.height + AXIS
    row = {region: top + ROW * k for k, region in enumerate(rows)}
    page = svg.document(width, top + ROW * len(rows) + 14, title)
    head.draw(page)
    svg.text(page, left - 6, top - 5, "clock cycle", "end", SMALL, colour=GREY)
    every = 1 if cell >= 1.5 * CELL or fold.latency <= 100 else 5
    for time in range(0, fold.latency, every):
        svg.text(page, left + cell * (time + 0.5), top - 5, str(time), "middle", 10, colour=GREY)
    for words, y in zip(said, row.values(), strict=True):
        svg.text(page, left - 6, y + 13, words, "end", SMALL)
        svg.rectangle(page, left, y + 1, cell * fold.latency, ROW - 2, IDLE)
    most = max(done.values(), default=1)
    for (region, time), count in sorted(done.items()):
        hint = f"cycle {time}: {count} operations, {products[region, time]} of them products"
        group = svg.group(page, hint)
        shade = LEAST + (1 - LEAST) * count / most
        x, y = left + cell * time, row[region]
        svg.rectangle(group, x + 0.5, y + 1, cell - 1, ROW - 2, colours[region[0]], shade)
        if svg.extent(str(count), 10) <= cell:
            ink = PAPER if shade > 0.6 else INK
            svg.text(group, x + cell / 2, y + 13, str(count), "middle", 10, colour=ink)
    return svg.to_text(page)
