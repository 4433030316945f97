"""Pictures of plans whose hardware is shared: folds, and time-multiplexed joints.

Of a fold they show what shared units do in each phase, or what ends in each cycle of a task; of
joints, which joint of which task each datapath serves in every round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..graph.node import Node, Op, Region
from ..schedule.fold import Fold
from ..schedule.pipelined import region_name, region_of
from ..schedule.plan import Plan
from ..schedule.round_plan import RoundPlan
from ..schedule.specialise import Datapath, kind_of
from ..schedule.units import UnitKind, job
from . import svg
from .chart import CLOCK, SMALL, TINY, Cells, colours_of
from .rows import Entry, facts, headed, numbered, regions
from .svg import GREY, IDLE, PAPER, REGIONS

PHASE, UNIT_ROW = 34.0, 16.0  # a cell's sizes where units are shared
CYCLE, REGION_ROW = 18.0, 18.0  # and where they are not; a cycle's at least
WIDTHS = 900.0, 1000.0  # of the pages, at least
LEAST = 0.15  # how dark a cell is in which least is done
UNIT = {"mul": "multiplier", "sincos": "sine and cosine", "recip": "reciprocal"}
COLUMNS = "column: a clock cycle of the interval, over and over; row: a unit; blank: it is idle"
NUMBERS = "number: operations that end in the cycle; darker: more; blank: none, or tables at work"


def occupancy(fold: Fold, title: str, whole: Plan | None = None) -> str:
    """An SVG document: a row for each unit, a column for each phase, colours for kinds of region.

    A cell's hint names the operation, its region and the cycle of a task in which it starts.
    ``whole``: what ``fold`` is a limb of.
    """
    units = [(k, n) for k, count in fold.units.items() for n in range(count)]
    jobs: dict[object, Node] = {}
    for node in fold.time:
        if (own := job(node)) in fold.place:
            jobs.setdefault(own, node)
    colours = colours_of((region_of(node)[0] for node in jobs.values()), REGIONS)
    used = len(jobs) / max(1, len(units) * fold.interval)
    said = f"{len(jobs)} operations on {len(units)} shared units, {used:.1%} of their cycles"
    names = _names([kind for kind, _ in units])
    left = Cells.room(names)
    page, top = headed(
        title,
        [*facts(whole or fold), said],
        [regions(colours), [Entry(COLUMNS)]],
        max(left + PHASE * fold.interval + 14, WIDTHS[0]),
        UNIT_ROW * len(units),
    )
    cells = Cells(names, fold.interval, left, top, PHASE, UNIT_ROW)
    cells.rows(page, 1.0, IDLE)
    cells.heads(page, {k: str(k) for k in range(fold.interval)}, CLOCK)
    for node in jobs.values():
        place = fold.place[job(node)]
        row, phase = units.index((place.kind, place.number)), fold.start(node) % fold.interval
        group = svg.group(page, _spoken(fold, node))
        cells.cell(group, row, phase, colours[region_of(node)[0]], inset=(1.0, 1.0))
    return svg.to_text(page)


def timeline(fold: Fold, title: str, names: Sequence[str], whole: Plan | None = None) -> str:
    """An SVG document of a fold without shared units: a row for each region, a column for each
    cycle, darker where more is done.

    A cell holds the number of operations with results there in that cycle; its hint says how many
    of them are products. ``names``: of the joints; ``whole``: what ``fold`` is a limb of.
    """
    done: Counter[tuple[Region, int]] = Counter()
    products: Counter[tuple[Region, int]] = Counter()
    for node, time in fold.time.items():
        if node.op is not Op.INPUT:
            done[region_of(node), time] += 1
            products[region_of(node), time] += node.op is Op.MUL
    begun = sorted(done, key=lambda key: (key[1], key[0]))
    colours = colours_of((region[0] for region, _ in begun), REGIONS)
    kinds = list(colours)
    rows = sorted({r for r, _ in done}, key=lambda r: (kinds.index(r[0]), r[1]))
    said = [f"{kind.replace('_', ' ')}  {names[joint]}" for kind, joint in rows]
    left = Cells.room(said)
    wide = max(CYCLE, (WIDTHS[1] - left - 14) / fold.latency)
    more = [f"{fold.latency * fold.chain.period:g} ns"] if fold.chain else []
    page, top = headed(
        title,
        [*facts(whole or fold), *more],
        [regions(colours), [Entry(NUMBERS)]],
        left + wide * fold.latency + 14,
        REGION_ROW * len(rows),
    )
    cells = Cells(said, fold.latency, left, top, wide, REGION_ROW)
    cells.rows(page, 1.0, IDLE)
    every = 1 if wide >= 1.5 * CYCLE or fold.latency <= 100 else 5
    cells.heads(page, {k: str(k) for k in range(0, fold.latency, every)}, CLOCK)
    most = max(done.values(), default=1)
    for (region, time), count in sorted(done.items()):
        hint = f"cycle {time}: {count} operations, {products[region, time]} of them products"
        group, shade = svg.group(page, hint), LEAST + (svg.SHADE - LEAST) * count / most
        colour = colours[region[0]]
        x, y = cells.cell(group, rows.index(region), time, colour, shade, (0.5, 1.0))
        if svg.extent(str(count), TINY) <= wide:
            svg.text(group, x, y + 4, str(count), "middle", TINY)
    return svg.to_text(page)


def _names(kinds: list[UnitKind]) -> list[str]:
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


ROW, WIDTH = 24.0, 1180.0
WIDEST = 2800.0  # of all rounds, from which on those are narrower than their joints' numbers
TIGHT = 10.0  # size of a joint's number where there is little room
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
    legend = [[Entry(spoken_kind(name), colour[name]) for name in there], shown, numbered(names)]
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


def spoken_kind(template: str) -> str:
    """The meaning of a template: what it computes."""
    words = MEANING.get(template.removesuffix(BASE))
    spoken = template.replace(BASE, ", base")
    if words and template.endswith(BASE):
        words += " (joints on the base)"
    return f"{spoken}: {words}" if words else spoken


def _key(key: tuple[int, ...]) -> str:
    return " ".join(map(str, key))
