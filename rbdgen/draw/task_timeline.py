"""A run of the accelerator as a picture: which tasks each stage has, and where each task is.

Time runs to the right, in cycles. Above, a row for each stage: a bar for every task that it has, in
the colour of the task's function, with its tag. Below, a row for each task: a bar for every stage
that it is in. A stage has several tasks at a time, and a task is in several stages: their bars lie
below each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..tasks.stages import Accelerator
from .rows import Part, Row, Span, picture
from .svg import INK, PAPER, of_function, of_stage

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
