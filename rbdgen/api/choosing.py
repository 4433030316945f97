"""Designs chosen for a latency and a rate, as Python and the command line have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..compile.choosing import Chosen, ascending, choose
from ..compile.flow import front_end
from ..compile.front import Front
from ..design.target import Target, find_target
from ..design.wishes import Wishes, hertz, seconds
from ..system.quoting import Progress
from .folder import UsageError


def wishes_of(latency: float | str | None, rate: float | str | None) -> Wishes:
    """Wishes of times and rates; UsageError for what is none."""

    def read(name: str, value: object, check: Callable[[object], float]) -> float | None:
        try:
            return None if value is None else check(value)
        except ValueError as error:
            raise UsageError(f"{name}: {error}") from None

    return Wishes(read("latency", latency, seconds), read("rate", rate, hertz))


def parts_of(choices: Mapping[str, Any]) -> Sequence[Target]:
    """The part that was asked for, else all of those whose clocks are known, the smallest first."""
    return [find_target(choices["target"])] if choices.get("target") else ascending()


def chosen_for(
    front: Front, wishes: Wishes, choices: Mapping[str, Any], progress: Progress
) -> Chosen:
    """The smallest design that should reach the wishes."""
    return choose(front, wishes, parts_of(choices), progress)


def choices_for(
    robot: str, wishes: Wishes, choices: Mapping[str, Any], progress: Progress
) -> dict[str, Any]:
    """The choices that make it, and a line of progress that says which design that is."""
    found = chosen_for(front_end(robot, progress, **choices), wishes, choices, progress)
    progress(found.line)
    return {**choices, **found.best.options}
