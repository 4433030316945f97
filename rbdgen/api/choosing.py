"""Designs chosen for a latency and a rate, as Python and the command line have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..compile.choosing import Chosen, ascending, choose
from ..compile.front import Front
from ..design.loading import says
from ..design.target import Target
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


def parts_of(robot: str, front: Front, choices: Mapping[str, Any]) -> Sequence[Target]:
    """The part that ``choices`` or the design file ``robot`` names, else all of those whose clocks
    are known, the smallest first."""
    said = choices.get("target") or says(robot, "target", choices.get("xacro"))
    return [front.target] if said else ascending()


def chosen_for(
    robot: str, front: Front, wishes: Wishes, choices: Mapping[str, Any], progress: Progress
) -> Chosen:
    """The smallest design that should reach the wishes."""
    return choose(front, wishes, parts_of(robot, front, choices), progress)
