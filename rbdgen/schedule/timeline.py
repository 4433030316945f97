"""A fold without shared units as a picture: what happens in each cycle of a task, by region."""

from __future__ import annotations

from collections import Counter

from ..graph.node import Op, Region
from . import svg
from .fold import Fold
from .occupancy import BUSY, GREY, IDLE
from .pipelined import region_name, region_of

ROW, TOP, WIDTH = 15.0, 84.0, 960.0


def timeline(fold: Fold, title: str) -> str:
    """An SVG document: a row for each region, a column for each cycle, darker where more is done.

    A cell's hint says how many operations have results there in that cycle, and how many of them
    are products.
    """
    done: Counter[tuple[Region, int]] = Counter()
    products: Counter[tuple[Region, int]] = Counter()
    for node, time in fold.time.items():
        if node.op is not Op.INPUT:
            done[region_of(node), time] += 1
            products[region_of(node), time] += node.op is Op.MUL
    first: dict[Region, int] = {}
    for region, time in sorted(done, key=lambda key: (key[1], key[0])):
        first.setdefault(region, time)
    row = {region: TOP + ROW * k for k, region in enumerate(first)}
    kinds = {kind: BUSY[k % len(BUSY)] for k, kind in enumerate({r[0]: None for r in first})}
    left = 20 + max((svg.extent(region_name(region), 9) for region in first), default=0.0)
    cell = (WIDTH - left - 14) / fold.latency
    page = svg.document(WIDTH, TOP + ROW * len(first) + 24, title)
    svg.text(page, 14, 28, title, size=19, weight="bold")
    facts = [f"latency {fold.latency} cycles"]
    if fold.chain is not None:
        facts.append(f"{fold.latency * fold.chain.period:g} ns")
    facts.append(f"initiation interval {fold.interval}")
    facts.append(f"{fold.multipliers} hardware multipliers")
    svg.text(page, 14, 48, "  ·  ".join(facts), size=12)
    every = 1 if cell >= 14 else 10
    for time in range(0, fold.latency, every):
        svg.text(page, left + cell * (time + 0.5), TOP - 4, str(time), "middle", 9, colour=GREY)
    for region, y in row.items():
        svg.text(page, left - 6, y + 10, region_name(region), "end", 9, colour=GREY)
        svg.rectangle(page, left, y + 1, cell * fold.latency, ROW - 2, IDLE)
    most = max(done.values(), default=1)
    for (region, time), count in sorted(done.items()):
        hint = f"cycle {time}: {count} operations, {products[region, time]} of them products"
        group = svg.group(page, hint)
        shade = 0.35 + 0.65 * count / most
        x = left + cell * time
        svg.rectangle(group, x, row[region] + 1, cell, ROW - 2, kinds[region[0]], shade)
    return svg.to_text(page)
