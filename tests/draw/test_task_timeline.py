"""The timeline of a run: a bar for every stay, above and below, in the right colours."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from rbdgen.draw.rows import TASKS, Stay, Task, timeline
from rbdgen.draw.svg import of_function, of_stage
from tests.support.made import accelerate

SVG = "{http://www.w3.org/2000/svg}"


def test_every_stay_twice() -> None:
    accelerator = accelerate("pendulum", functions=("id", "fd", "dfd"), target="xcup").accelerator
    tasks = []
    for k in range(TASKS + 2):
        stays = [Stay("trig", 5 * k, 5 * k + 20), Stay("rnea", 5 * k + 20, 5 * k + 40)]
        if again := k % 2:
            stays.append(Stay("rnea", 5 * k + 50, 5 * k + 70))
        function = "dfd" if again else "id"
        tasks.append(Task(k, function, 5 * k, 5 * k + 75, tuple(stays)))
    text = timeline(accelerator, tasks, "a title")
    assert text == timeline(accelerator, tasks, "a title")
    groups = [g for g in ET.fromstring(text).iter(f"{SVG}g") if g.get("class") == "bar"]
    found = [
        (
            g.findtext(f"{SVG}title"),
            next(g.iter(f"{SVG}rect")).get("fill"),
            g.findtext(f"{SVG}text"),
        )
        for g in groups
    ]
    expected: list[tuple[str, str, str]] = []
    for stage in accelerator.stages:
        for task in tasks:
            colour = of_function(task.function)
            for stay in task.stays:
                if stay.stage == stage:
                    hint = f"{task.function}, tag {task.tag}: cycles {stay.taken} to {stay.done}"
                    expected.append((hint, colour, str(task.tag)))
    for task in tasks[:TASKS]:
        names = ("trig", "rnea", "rnea again")
        for name, stay in zip(names, task.stays, strict=False):
            hint = f"{name}: cycles {stay.taken} to {stay.done}"
            expected.append((hint, of_stage(accelerator, stay.stage), name))
    assert found == expected
