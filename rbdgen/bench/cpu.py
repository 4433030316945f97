"""Functions on this machine's processor: ours in C++, and Pinocchio's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..draw.tables import table
from .pinocchio import FORMS, FUNCTIONS, command, least

Progress = Callable[[str], None]
ROBOTS = ("iiwa14", "hyq")


def cpu(place: Path, progress: Progress) -> Any:
    """Pinocchio's functions on one core of this machine, templated and code-generated."""
    commands = {
        (robot, function, form): command(form, function, robot, progress)
        for robot in ROBOTS
        for function in FUNCTIONS
        for form in FORMS
    }
    found = least({" ".join(key): own for key, own in commands.items()})
    rows = [
        [robot, function, *(found[f"{robot} {function} {form}"][0] for form in FORMS)]
        for robot in ROBOTS
        for function in FUNCTIONS
    ]
    print(table(("robot", "function", *(f"{form}, ns a call" for form in FORMS)), rows))
    return {name: ns for name, (ns,) in found.items()}
