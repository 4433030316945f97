"""A run of the accelerator as a picture: which tasks each stage has, and where each task is.

Time runs to the right, in cycles. Above, a row for each stage: a bar for every task that it has, in
the colour of the task's function, with its tag. Below, a row for each task: a bar for every stage
that it is in. A stage has several tasks at a time, and a task is in several stages: their bars lie
below each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from ..schedule import svg
from ..schedule.svg import PAPER
from .colours import FAINT, GREY, of_function, of_stage
from .stages import Accelerator

LEFT, WIDE, RIGHT = 96.0, 1160.0, 26.0
TOP, LEGEND, FOOT = 62.0, 19.0, 16.0
LANE, BAR, APART = 11.0, 10.0, 7.0  # from bar to bar, its height, between rows
LETTERS = 8.0  # size of a bar's label
BETWEEN = 74.0  # the two parts
STEPS = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
STEP = 44.0  # from tick to tick, at least
TASKS = 24  # that have a row

Rows = Sequence[tuple[str, str, Sequence["Span"]]]  # name, colour of the name, bars


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


@dataclass(frozen=True)
class Span:
    """A bar: its cycles, its label, what a viewer says of it, and its colours."""

    first: int
    last: int
    label: str
    hint: str
    colour: str
    ink: str


def timeline(accelerator: Accelerator, tasks: Sequence[Task], title: str) -> str:
    """An SVG document; the first 24 of the tasks have rows of their own."""
    last = max(task.given for task in tasks)
    by_stage = [
        (
            stage,
            "",
            [
                Span(
                    stay.taken,
                    stay.done,
                    str(task.tag),
                    f"{task.function}, tag {task.tag}: cycles {stay.taken} to {stay.done}",
                    of_function(task.function),
                    PAPER,
                )
                for task in tasks
                for stay in task.stays
                if stay.stage == stage
            ],
        )
        for stage in accelerator.stages
    ]
    by_task = [
        (
            f"{task.tag}  {task.function}",
            of_function(task.function),
            [
                Span(
                    stay.taken,
                    stay.done,
                    _visit(task, k),
                    f"{_visit(task, k)}: cycles {stay.taken} to {stay.done}",
                    of_stage(accelerator, stay.stage),
                    svg.INK,
                )
                for k, stay in enumerate(task.stays)
            ],
        )
        for task in tasks[:TASKS]
    ]
    top = TOP + 2 * LEGEND + 18
    middle = top + _height(by_stage) + BETWEEN
    page = svg.document(LEFT + WIDE + RIGHT, middle + _height(by_task) + FOOT, title)
    svg.text(page, 14, 28, title, size=19, weight="bold")
    facts = f"{len(tasks)} tasks in {last + 1 - min(task.accepted for task in tasks)} cycles"
    svg.text(page, 14, 48, facts, size=12)
    functions = {f: of_function(f) for f in accelerator.functions}
    legend(page, TOP + 4, "stages: the tasks that they have, with their tags", functions)
    rows(page, by_stage, top, last)
    stages = {stage: of_stage(accelerator, stage) for stage in accelerator.stages}
    legend(page, middle - 2 * LEGEND - 14, "tasks: the stages that they are in", stages)
    lives = [(task.accepted, task.given) for task in tasks[:TASKS]]
    rows(page, by_task, middle, last, lives)
    return svg.to_text(page)


def _visit(task: Task, k: int) -> str:
    """The stage of the k-th of a task's stays, and whether it has been there before."""
    stage = task.stays[k].stage
    return f"{stage} again" if stage in [stay.stage for stay in task.stays[:k]] else stage


def legend(page: ET.Element, y: float, said: str, colours: dict[str, str]) -> None:
    """What the bars below are, and what their colours stand for."""
    svg.text(page, 14, y + 8, said, size=12, weight="bold")
    x = 14.0
    for name, colour in colours.items():
        svg.rectangle(page, x, y + LEGEND - 2, 14, BAR, colour)
        svg.text(page, x + 19, y + LEGEND + 7, name, size=11)
        x += 42 + svg.extent(name, 11)


def _height(all_rows: Rows) -> float:
    return sum(LANE * _lanes(spans)[1] + APART for _, _, spans in all_rows)


def _lanes(spans: Sequence[Span]) -> tuple[list[int], int]:
    """The lane of each bar, in which no other is at that time, and how many lanes there are."""
    free: list[int] = []  # the first cycle in which each lane is
    lane = [0] * len(spans)
    for k in sorted(range(len(spans)), key=lambda k: (spans[k].first, spans[k].last)):
        lane[k] = next((n for n, at in enumerate(free) if at <= spans[k].first), len(free))
        free[lane[k] : lane[k] + 1] = [spans[k].last]
    return lane, max(len(free), 1)


def rows(
    page: ET.Element,
    all_rows: Rows,
    top: float,
    last: int,
    lives: Sequence[tuple[int, int]] = (),
) -> float:
    """Bars row by row below an axis of cycles 0 to ``last``; the y below all.

    ``lives``: cycles from which and to which a row is shaded.
    """
    cycle = WIDE / (last + 1)
    bottom = top + _height(all_rows)
    every = next((step for step in STEPS if step * cycle >= STEP), STEPS[-1])
    for k in range(0, last + 1, every):
        x = LEFT + cycle * k
        svg.line(page, [(x, top - 4), (x, bottom)], FAINT, 1)
        svg.text(page, x, top - 7, str(k), "middle", 9, colour=GREY)
    y = top
    for k, (name, colour, spans) in enumerate(all_rows):
        lane, count = _lanes(spans)
        height = LANE * count
        svg.line(page, [(14, y - APART / 2), (LEFT + WIDE, y - APART / 2)], FAINT, 1)
        svg.text(page, 14, y + height / 2 + 4, name, size=11, weight="bold", colour=colour)
        if lives:
            first, end = lives[k]
            svg.rectangle(page, LEFT + cycle * first, y, cycle * (end - first), height, FAINT, 0.6)
        for own, span in zip(lane, spans, strict=True):
            group = svg.group(page, span.hint, class_="bar")
            x, wide = LEFT + cycle * span.first, cycle * (span.last - span.first)
            at = y + LANE * own
            svg.rectangle(group, x, at, max(wide - 0.6, 0.6), BAR, span.colour)
            if svg.extent(span.label, LETTERS) + 3 <= wide:
                middle = x + wide / 2
                svg.text(group, middle, at + 8, span.label, "middle", LETTERS, colour=span.ink)
        y += height + APART
    return y
