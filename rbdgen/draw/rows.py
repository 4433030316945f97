"""Bars in rows over a common axis of cycles, and the heading above them.

The heading has a title, facts, and a legend of colours and names.

A run of an accelerator is such a picture. Above, a row for each stage: a bar for every task that it
has, in the colour of the task's function, with its tag. Below, a row for each task: a bar for every
stage that it is in. A stage has several tasks at a time, and a task is in several stages: their
bars lie below each other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from ..schedule.plan import Plan
from ..tasks.stages import Accelerator
from . import svg
from .chart import Scale, across, key_across, page, step_of
from .svg import INK, PAPER, of_function, of_stage

MARGIN = 14.0
FACTS, LEGEND_SIZE = 12.0, 11.0  # sizes of text
TITLED, LINE = 32.0, 18.0  # what the title takes, and each line below it
PATCH, BETWEEN = 14.0, 20.0  # a colour's width, and from entry to entry
AXIS = 26.0  # room for the names of columns, above rows of cells
DOT = "  ·  "
AGAIN = re.compile(r"(_again|_contacts|_held)?(_\d+)?$")
MEANING = {
    "forward": "motion and forces, from the base outwards",
    "backward": "torques and what is summed on the way to the base",
    "sums": "a whole tree, as sums in one frame",
    "columns": "derivatives, from the base outwards",
    "columns_back": "derivatives, back to the base",
    "effort": "effort less the bias",
    "factor": "factors of the mass matrix",
    "articulated": "articulated inertias",
    "inverse": "the inverse, from the base outwards",
    "back": "solved towards the base",
    "out": "solved from the base outwards",
    "product": "the inverse times a matrix",
    "held": "what contacts add to the effort",
    "contact": "of the contacts: how they move without forces, and under them",
    "step": "where a step leads, and what it depends on",
}


@dataclass(frozen=True)
class Entry:
    """Words of the legend, behind a patch of their colour if they have one."""

    words: str
    colour: str = ""
    opacity: float = 1.0

    @property
    def width(self) -> float:
        return svg.extent(self.words, LEGEND_SIZE) + (PATCH + 5 if self.colour else 0)


def facts(plan: Plan) -> list[str]:
    """Facts of the whole design, as in the manifest, though a picture may show a part of it."""
    said = [
        f"latency {plan.latency} cycles",
        f"initiation interval {plan.interval}",
        f"{plan.multipliers} hardware multipliers",
    ]
    turns = plan.turns
    if turns and turns.what == "limbs":
        said.append(f"{turns.count} time-multiplexed limbs, {turns.latency} of these cycles each")
    return said


def regions(colours: Mapping[str, str]) -> list[Entry]:
    """The legend of regions: what each kind computes, and its colour."""
    found = []
    for kind, colour in colours.items():
        meaning = MEANING.get(AGAIN.sub("", kind))
        words = kind.replace("_", " ")
        found.append(Entry(f"{words}: {meaning}" if meaning else words, colour))
    return found


def numbered(names: Sequence[str]) -> list[Entry]:
    """The legend of joints: what their numbers stand for."""
    return [Entry("joints:"), *(Entry(f"{k}  {name}") for k, name in enumerate(names))]


@dataclass(frozen=True)
class Heading:
    """Lines of a page so wide; each row of ``legend`` begins on a line of its own."""

    title: str
    facts: Sequence[str]
    legend: Sequence[Sequence[Entry]]
    width: float

    @property
    def height(self) -> float:
        return TITLED + LINE * len(self._facts() + self._legend()) + 8

    def draw(self, page: ET.Element) -> None:
        svg.text(page, MARGIN, 28, self.title, size=19, weight="bold")
        y = TITLED
        for words in self._facts():
            y += LINE
            svg.text(page, MARGIN, y - 2, words, size=FACTS)
        group = svg.group(page, id="legend")
        for line in self._legend():
            x, y = MARGIN, y + LINE
            for entry in line:
                at = x
                if entry.colour:
                    svg.rectangle(group, x, y - 10, PATCH, 10, entry.colour, entry.opacity)
                    at += PATCH + 5
                svg.text(group, at, y - 1, entry.words, size=LEGEND_SIZE)
                x += entry.width + BETWEEN

    def _facts(self) -> list[str]:
        lines: list[str] = []
        for fact in self.facts:
            longer = f"{lines[-1]}{DOT}{fact}" if lines else fact
            if lines and svg.extent(longer, FACTS) < self.width - 2 * MARGIN:
                lines[-1] = longer
            else:
                lines.append(fact)
        return lines

    def _legend(self) -> list[list[Entry]]:
        lines: list[list[Entry]] = []
        for row in self.legend:
            x = self.width  # a new line
            for entry in row:
                if x + entry.width > self.width - MARGIN:
                    lines.append([])
                    x = MARGIN
                lines[-1].append(entry)
                x += entry.width + BETWEEN
        return lines


def headed(
    title: str,
    said: Sequence[str],
    legend: Sequence[Sequence[Entry]],
    width: float,
    height: float,
) -> tuple[ET.Element, float]:
    """A page with its heading, and where rows of cells, of that height together, begin."""
    head = Heading(title, said, legend, width)
    top = head.height + AXIS
    page = svg.document(width, top + height + 14, title)
    head.draw(page)
    return page, top


LEFT, WIDE, RIGHT = 96.0, 1160.0, 26.0  # of all rows: their names, their bars, what is left
TRACK, BAR, APART = 14.0, 13.0, 8.0  # from bar to bar, a bar's height, between rows
TOP, LEGEND, FOOT = 62.0, 19.0, 16.0  # of the page's heading, a line of a legend, what is left
LETTERS = 10.0  # size of a bar's label
STEP = 44.0  # from tick to tick, at least
LEAST = 5  # cycles from tick to tick, at least
FAINT = "#dfe3e8"


@dataclass(frozen=True)
class Span:
    """A bar: its cycles, its label, where there is room, what a viewer says of it, its colours."""

    first: int
    last: int
    label: str
    hint: str
    colour: str
    ink: str


@dataclass(frozen=True)
class Row:
    """Bars, below each other where they overlap; ``life``: the cycles in which it is shaded.

    One without a name goes on with the row above it.
    """

    name: str
    spans: Sequence[Span]
    colour: str = ""  # of its name
    life: tuple[int, int] | None = None


@dataclass(frozen=True)
class Part:
    """Rows over an axis of their own: their title, and what their colours stand for."""

    title: str
    colours: Mapping[str, str]
    rows: Sequence[Row]


def picture(title: str, facts: str, parts: Sequence[Part], last: int) -> str:
    """An SVG document: parts below each other, over the same cycles from 0 to ``last``."""
    tall = [2 * LEGEND + 18 + height(part.rows) for part in parts]
    drawn = page(title, LEFT + WIDE + RIGHT, TOP + sum(tall) + FOOT * len(parts), 19.0)
    svg.text(drawn, 14, 48, facts, size=12)
    y = TOP
    for part, high in zip(parts, tall, strict=True):
        svg.text(drawn, 14, y + 12, part.title, size=12, weight="bold")
        key_across(drawn, 14, y + LEGEND + 11, part.colours)
        draw(drawn, part.rows, y + 2 * LEGEND + 18, last)
        y += high + FOOT
    return svg.to_text(drawn)


def height(rows: Sequence[Row]) -> float:
    """The height of all rows together, without the axis, which is above them."""
    return sum(TRACK * _tracks(row.spans)[1] + APART * bool(row.name) for row in rows)


def draw(page: ET.Element, rows: Sequence[Row], top: float, last: int) -> None:
    """Rows from ``top`` downwards, below an axis of cycles from 0 to ``last``."""
    scale = Scale(0, last + 1, LEFT, LEFT + WIDE)
    cycle = WIDE / (last + 1)
    every = max(LEAST, round(step_of(last + 1, WIDE / STEP)))
    across(page, scale, range(0, last + 1, every), (top, top + height(rows)), above=True)
    y = top - APART
    for row in rows:
        track, count = _tracks(row.spans)
        high = TRACK * count
        if row.name:
            y += APART
            svg.line(page, [(14, y - APART / 2), (LEFT + WIDE, y - APART / 2)], FAINT, 1)
            colour = row.colour
            svg.text(page, 14, y + high / 2 + 4, row.name, size=11, weight="bold", colour=colour)
        if row.life:
            first, end = row.life
            svg.rectangle(page, scale.at(first), y, cycle * (end - first), high, FAINT, 0.6)
        for own, span in zip(track, row.spans, strict=True):
            group = svg.group(page, span.hint, class_="bar")
            x, wide = scale.at(span.first), cycle * (span.last - span.first)
            at = y + TRACK * own
            svg.rectangle(group, x, at, max(wide - 0.6, 0.6), BAR, span.colour)
            if span.label and svg.extent(span.label, LETTERS) + 3 <= wide:
                middle = x + wide / 2
                svg.text(group, middle, at + 10, span.label, "middle", LETTERS, colour=span.ink)
        y += high


def _tracks(spans: Sequence[Span]) -> tuple[list[int], int]:
    """The track of each bar, which no other has at that time, and how many tracks there are."""
    free: list[int] = []  # the cycle from which each track is
    track = [0] * len(spans)
    for k in sorted(range(len(spans)), key=lambda k: (spans[k].first, spans[k].last)):
        track[k] = next((n for n, at in enumerate(free) if at <= spans[k].first), len(free))
        free[track[k] : track[k] + 1] = [spans[k].last]
    return track, max(len(free), 1)


TASKS = 24  # that have a row


@dataclass(frozen=True)
class Stay:
    """A task in a stage, from the cycle in which its operands are taken to that of its result."""

    stage: str
    taken: int
    done: int


@dataclass(frozen=True)
class Task:
    """A task from the cycle in which it is accepted to the one in which its result is taken."""

    tag: int
    function: str
    accepted: int
    given: int
    stays: tuple[Stay, ...]


def timeline(accelerator: Accelerator, tasks: Sequence[Task], title: str) -> str:
    """An SVG document; the first 24 of the tasks have rows of their own."""
    first, last = min(task.accepted for task in tasks), max(task.given for task in tasks)
    by_stage = [_of_stage(stage, tasks) for stage in accelerator.stages]
    by_task = [_of_task(accelerator, task) for task in tasks[:TASKS]]
    functions = {f: of_function(f) for f in accelerator.functions}
    stages = {stage: of_stage(accelerator, stage) for stage in accelerator.stages}
    parts = [
        Part("stages: the tasks that they have, with their tags", functions, by_stage),
        Part("tasks: the stages that they are in", stages, by_task),
    ]
    return picture(title, f"{len(tasks)} tasks in {last - first + 1} cycles", parts, last)


def _of_stage(stage: str, tasks: Sequence[Task]) -> Row:
    spans = []
    for task in tasks:
        for stay in task.stays:
            if stay.stage == stage:
                hint = f"{task.function}, tag {task.tag}: cycles {stay.taken} to {stay.done}"
                colour = of_function(task.function)
                spans.append(Span(stay.taken, stay.done, str(task.tag), hint, colour, PAPER))
    return Row(stage, spans)


def _of_task(accelerator: Accelerator, task: Task) -> Row:
    spans = []
    for k, stay in enumerate(task.stays):
        before = [earlier.stage for earlier in task.stays[:k]]
        said = f"{stay.stage} again" if stay.stage in before else stay.stage
        hint = f"{said}: cycles {stay.taken} to {stay.done}"
        colour = of_stage(accelerator, stay.stage)
        spans.append(Span(stay.taken, stay.done, said, hint, colour, INK))
    name, colour = f"{task.tag}  {task.function}", of_function(task.function)
    return Row(name, spans, colour, (task.accepted, task.given))
