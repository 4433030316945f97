"""Time-multiplexed joints as a picture: which joint of which task each datapath serves in every
round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..schedule.datapaths import Datapath
from ..schedule.round_plan import RoundPlan
from ..schedule.specialise import kind_of
from . import svg
from .chart import CLOCK, SMALL, Cells, colours_of
from .colours import GREY, IDLE, REGIONS
from .legend import Entry, facts, headed, numbered
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
        kind = kind_of(datapath.template)
        number[kind] += 1
        said[datapath] = _label(kind, number[kind], copies[kind])
    left = Cells.room(said.values())
    needed = max(svg.extent(_key(visit.key), SMALL) for visit in plan.at) + 2
    wide = max((WIDTH - left - 24) / last, min(needed, WIDEST / last))
    colour = colours_of(map(kind_of, plan.program.templates), REGIONS)
    there = list(dict.fromkeys(kind_of(datapath.template) for datapath in datapaths))
    own = REGIONS[0]
    shown = [
        Entry("a visit of the task, with its joint's number, or its two", own),
        Entry("visits of tasks before and after it", own, OTHER),
        Entry("free", IDLE),
    ]
    legend = [[Entry(_meaning(name), colour[name]) for name in there], shown, numbered(names)]
    cycles = f"{length} clock cycle{'s' * (length > 1)}"
    rounds = f"{plan.rounds} rounds of {cycles}"
    width = left + wide * last + 24
    page, top = headed(title, [*facts(plan), rounds], legend, width, ROW * len(datapaths))
    cells = Cells([said[own] for own in datapaths], last, left, top, wide, ROW)
    every = round(plan.rounds * -(-TICK // (wide * plan.rounds)))
    for tick in range(0, last, every):
        x = left + wide * tick
        svg.text(page, x, top - 7, str(tick * length), "start", SMALL, colour=GREY)
        svg.line(page, [(x, top - 4), (x, cells.bottom)], GREY, 0.4)
    cells.heads(page, {}, CLOCK)
    cells.rows(page, 2.0, IDLE)
    for visit, at in plan.at.items():
        datapath = plan.datapath[visit]
        for other in range(at % plan.rounds, last, plan.rounds):
            mine = other == at
            hint = f"round {other}: {visit.template} {', '.join(map(str, visit.key))}"
            group = svg.group(page, hint if mine else f"{hint} of another task")
            row, opacity = datapaths.index(datapath), 1.0 if mine else OTHER
            x, y = cells.cell(
                group, row, other, colour[kind_of(datapath.template)], opacity, (0.0, 2.0)
            )
            key = _key(visit.key)
            size = SMALL if wide >= svg.extent(key, SMALL) + 2 else TIGHT
            if mine and wide >= svg.extent(key, size):
                svg.text(group, x, y + 4, key, "middle", size, "bold", colour=PAPER)
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
