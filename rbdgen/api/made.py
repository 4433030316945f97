"""A robot's functions on their way to whatever language they are written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from ..compile.accelerate import Accelerated, accelerate
from ..compile.flow import Core, Front, compile_core, front_end
from ..design.choices import OF_HARDWARE, OF_NUMBERS
from ..design.design import Design
from ..design.loading import load
from ..robot.xml_lines import read_bytes
from .names import DESIGN, ROBOT, design_file

Progress = Callable[[str], None]
Files = dict[str, str]  # name → text


class Made:
    """The steps to a design's files, each taken once however many languages need it."""

    def __init__(self, robot: str, progress: Progress, choices: Mapping[str, Any]) -> None:
        self.robot, self.progress, self.choices = robot, progress, choices

    @cached_property
    def design(self) -> Design:
        """The choices."""
        return load(self.robot, **self.choices)[0]

    @cached_property
    def front(self) -> Front:
        """The graph over real numbers."""
        self.progress(f"reading {self.robot}")
        front = front_end(self.robot, self.progress, **self.choices)
        self._say(front.notes)
        return front

    @cached_property
    def core(self) -> Core:
        """The graph in fixed point, scheduled."""
        core = compile_core(self.front, self.progress)
        self._say(core.notes)
        return core

    @cached_property
    def accelerated(self) -> Accelerated:
        """The accelerator of a design that is one."""
        made = accelerate(self.robot, self.progress, **self.choices)
        self._say((*made.front.notes, *made.notes))
        return made

    def front_of(self, language: str) -> Front:
        """The same, with a note if choices were given that change nothing in ``language``."""
        given = [key for key in OF_HARDWARE if self.choices.get(key) is not None]
        if language not in OF_NUMBERS or not given:
            return self.front
        note = f"{language} has neither words nor hardware: no effect of {', '.join(given)}"
        self._say((note,))
        return replace(self.front, notes=(*self.front.notes, note))

    def _say(self, notes: tuple[str, ...]) -> None:
        for note in notes:
            self.progress(f"note: {note}")


def sources_of(front: Front) -> Files:
    """The robot and the design, from which all else can be made again."""
    return {
        ROBOT: read_bytes(front.design.robot).decode("utf-8", "surrogateescape"),
        DESIGN: design_file(front.design, front.robot),
    }
