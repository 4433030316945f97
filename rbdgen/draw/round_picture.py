"""Joints in turn as a picture: which joint of which task each datapath serves in every round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..schedule.datapaths import Datapath
from ..schedule.round_plan import RoundPlan
from ..schedule.specialise import kind_of
from . import svg
from .heading import Entry, Heading, facts, numbered
from .occupancy import AXIS, BUSY, GREY, IDLE, SMALL
from .svg import PAPER

ROW, WIDTH = 24.0, 1180.0
WIDEST = 2800.0  # of all rounds, from which on those are narrower than their joints' numbers
TIGHT = 9.0  # size of a joint's number where there is little room
TICK = 44.0  # from tick to tick, at least
OTHER = 0.22  # opacity of other tasks' visits
BASE = "_base"
MEANING = {
    "turn": "sine and cosine of a joint's angle",
    "out": "a body's motion and force, from its parent's",
    "back": "a joint's torque and entries, what goes on to its parent",
    "column": "a coordinate's column, from joint to joint of its path",
}


def round_picture(plan: RoundPlan, title: str, names: Sequence[str]) -> str:
    """An SVG document: a row for each datapath, by its first visit, over an axis of clock cycles.

    The task's visits are dark and say whose joints they are, those of the tasks around it light.
    ``names``: of the joints.
    """
    last, length = max(plan.at.values()) + 1, plan.template.interval
    first = {plan.datapath[visit]: at for visit, at in sorted(plan.at.items(), key=lambda v: -v[1])}
    datapaths = sorted(plan.datapaths.copies, key=lambda datapath: (first[datapath], datapath))
    copies = Counter(kind_of(datapath.template) for datapath in datapaths)
    number: Counter[str] = Counter()
    said: dict[Datapath, str] = {}
    for datapath in sorted(datapaths):
        number[kind_of(datapath.template)] += 1
        said[datapath] = _label(
            kind_of(datapath.template),
            number[kind_of(datapath.template)],
            copies[kind_of(datapath.template)],
        )
    left = 24 + max(svg.extent(words, SMALL) for words in said.values())
    needed = max(svg.extent(_key(visit.key), SMALL) for visit in plan.at) + 2
    cell = max((WIDTH - left - 24) / last, min(needed, WIDEST / last))
    width = left + cell * last + 24
    kinds = dict.fromkeys(kind_of(name) for name in plan.program.templates)
    colour = {kind: BUSY[k % len(BUSY)] for k, kind in enumerate(kinds)}
    there = list(dict.fromkeys(kind_of(datapath.template) for datapath in datapaths))
    own = BUSY[0]
    shown = [
        Entry("a visit of the task, with its joint's number, or its two", own),
        Entry("visits of tasks before and after it", own, OTHER),
        Entry("free", IDLE),
    ]
    legend = [[Entry(_meaning(name), colour[name]) for name in there], shown, numbered(names)]
    cycles = f"{length} clock cycle{'s' * (length > 1)}"
    rounds = f"{plan.rounds} rounds of {cycles}"
    head = Heading(title, [*facts(plan), rounds], legend, width)
    top = head.height + AXIS
    row = {datapath: top + ROW * k for k, datapath in enumerate(datapaths)}
    page = svg.document(width, top + ROW * len(datapaths) + 18, title)
    head.draw(page)
    svg.text(page, left - 6, top - 7, "clock cycle", "end", SMALL, colour=GREY)
    every = plan.rounds * -(-TICK // (cell * plan.rounds))
    for k in range(int(-(-last // every))):
        tick = round(every * k)
        x = left + cell * tick
        svg.text(page, x, top - 7, str(tick * length), "start", SMALL, colour=GREY)
        svg.line(page, [(x, top - 4), (x, top + ROW * len(datapaths))], GREY, 0.4)
    for datapath, y in row.items():
        svg.text(page, left - 6, y + 16, said[datapath], "end", SMALL)
        svg.rectangle(page, left, y + 2, cell * last, ROW - 4, IDLE)
    for visit, at in plan.at.items():
        datapath = plan.datapath[visit]
        for other in range(at % plan.rounds, last, plan.rounds):
            x, mine = left + cell * other, other == at
            hint = f"round {other}: {visit.template} {', '.join(map(str, visit.key))}"
            hint += "" if mine else " of another task"
            shade, opacity = svg.group(page, hint), 1.0 if mine else OTHER
            y = row[datapath] + 2
            svg.rectangle(shade, x, y, cell, ROW - 4, colour[kind_of(datapath.template)], opacity)
            key, middle = _key(visit.key), x + cell / 2
            size = SMALL if cell >= svg.extent(key, SMALL) + 2 else TIGHT
            if mine and cell >= svg.extent(key, size):
                svg.text(shade, middle, y + 14, key, "middle", size, "bold", colour=PAPER)
    return svg.to_text(page)


def _label(kind: str, number: int, copies: int) -> str:
    """``out, base`` or, where there are several, ``out  1 of 2``."""
    words = kind.replace(BASE, ", base")
    return f"{words}  {number} of {copies}" if copies > 1 else words


def _meaning(template: str) -> str:
    """The meaning of a template: what it computes."""
    words = MEANING.get(template.removesuffix(BASE))
    spoken = template.replace(BASE, ", base")
    if words and template.endswith(BASE):
        words += " (joints on the base)"
    return f"{spoken}: {words}" if words else spoken


def _key(key: tuple[int, ...]) -> str:
    return " ".join(map(str, key))
