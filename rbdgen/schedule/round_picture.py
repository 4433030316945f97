"""Joints in turn as a picture: which joint of which task each datapath serves in every round."""

from __future__ import annotations

from . import svg
from .occupancy import BUSY, GREY, IDLE
from .round_plan import RoundPlan

ROW, TOP, WIDTH = 22.0, 84.0, 1180.0
SMALL = 9.0


def round_picture(plan: RoundPlan, title: str) -> str:
    """An SVG document: a row for each datapath, by its first visit, a column for each round.

    The task's visits are dark and say whose joints they are, those of the tasks around it light.
    """
    last = max(plan.at.values()) + 1
    first = {plan.lane[visit]: at for visit, at in sorted(plan.at.items(), key=lambda v: -v[1])}
    lanes = sorted(plan.lanes.copies, key=lambda lane: (first[lane], lane))
    left = 20 + max(svg.extent(lane.name, SMALL) for lane in lanes)
    cell = (WIDTH - left - 14) / last
    row = {lane: TOP + ROW * k for k, lane in enumerate(lanes)}
    colour = {name: BUSY[k % len(BUSY)] for k, name in enumerate(plan.visited.templates)}
    page = svg.document(WIDTH, TOP + ROW * len(lanes) + 24, title)
    svg.text(page, 14, 28, title, size=19, weight="bold")
    facts = (
        f"latency {plan.latency} cycles",
        f"a task every {plan.rounds} rounds of {plan.template.interval} cycles",
        f"{plan.multipliers} hardware multipliers",
    )
    svg.text(page, 14, 48, "  ·  ".join(facts), size=12)
    for number in range(0, last, plan.rounds):
        x = left + cell * number
        svg.text(page, x, TOP - 6, str(number), "start", SMALL, colour=GREY)
        svg.line(page, [(x, TOP - 3), (x, TOP + ROW * len(lanes))], GREY, 0.4)
    for lane, y in row.items():
        svg.text(page, left - 6, y + 14, lane.name, "end", SMALL, colour=GREY)
        svg.rectangle(page, left, y + 2, cell * last, ROW - 4, IDLE)
    for visit, at in plan.at.items():
        lane = plan.lane[visit]
        for other in range(at % plan.rounds, last, plan.rounds):
            x, own = left + cell * other, other == at
            hint = f"round {other}: {visit.template} {', '.join(map(str, visit.key))}"
            hint += "" if own else " of another task"
            shade = svg.group(page, hint)
            svg.rectangle(
                shade, x, row[lane] + 2, cell, ROW - 4, colour[lane.template], 1.0 if own else 0.22
            )
            if own and cell * 1.0 >= svg.extent(_key(visit.key), 7):
                svg.text(shade, x + cell / 2, row[lane] + 14, _key(visit.key), "middle", 7)
    return svg.to_text(page)


def _key(key: tuple[int, ...]) -> str:
    return " ".join(map(str, key))
