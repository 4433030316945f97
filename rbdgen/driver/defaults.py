"""The back end of a driver that names none, and what a driver warns of."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..api.compiled import OF_PROGRAMS, OF_REGISTERS
from ..api.folder import MARK
from ..design.choices import COMPILED
from ..system.compiler import NoCompiler, find_compiler
from ..system.notes import changes_results

DEFAULT, WITHOUT_COMPILER, OF_FOLDERS = "cpp", "golden", "integer"
SLOWER = f"{WITHOUT_COMPILER} answers in place of {DEFAULT}, in NumPy and on one thread"
NO_WORDS = (WITHOUT_COMPILER, *COMPILED)  # back ends in floating point
OF_NUMBERS = (*OF_PROGRAMS, *OF_REGISTERS, "xacro", "accelerator", "name")


class DynamicsWarning(UserWarning):
    """Results differ from what one may expect of the robot's file, or another back end answers."""


def usual_backend(robot: str | Path) -> tuple[str, tuple[str, ...]]:
    """The back end where nobody names one, and a note where it is not the usual one.

    A robot's is C++, or the float64 reference where there is no compiler. A folder's, which holds
    hardware, has the hardware's bits.
    """
    if (Path(robot) / MARK).is_file():
        return OF_FOLDERS, ()
    try:
        find_compiler()
    except NoCompiler as error:
        return WITHOUT_COMPILER, (f"backend: {SLOWER}: {error}",)
    return DEFAULT, ()


def notes_of_choices(backend: str, choices: Mapping[str, Any]) -> tuple[str, ...]:
    """A note of the choices that say how hardware is made, where nothing is."""
    idle = [name for name, own in choices.items() if own is not None and name not in OF_NUMBERS]
    if backend not in NO_WORDS or not idle:
        return ()
    return (f"{', '.join(idle)}: of hardware; {backend} computes in floating point without",)


def warn_of(robot: str, notes: Iterable[str]) -> None:
    """A DynamicsWarning of each note, as of the line that makes the driver."""
    for note in notes:
        warnings.warn(f"{robot}: {note}", DynamicsWarning, stacklevel=3)


def changing_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Those of the notes that change results."""
    return tuple(filter(changes_results, notes))
