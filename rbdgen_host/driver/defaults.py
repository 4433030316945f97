"""The back end of a driver that names none, and what a driver warns of."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rbdgen.api.folder import MARK, InputError
from rbdgen.codegen.library import headers
from rbdgen.design.choices import COMPILED
from rbdgen.design.options import OF_HARDWARE
from rbdgen.robot.xml_lines import did_you_mean
from rbdgen.system.compiler import NoCompiler, find_compiler
from rbdgen.system.quoting import changes_results, idle

DEFAULT, WITHOUT_COMPILER, OF_FOLDERS = "cpp", "golden", "integer"
SLOWER = f"{WITHOUT_COMPILER} answers in place of {DEFAULT}, in NumPy and on one thread"
NO_WORDS = (WITHOUT_COMPILER, *COMPILED)  # back ends in floating point


BACKENDS = ("golden", *COMPILED, "integer", "rtl", "board")
ON_OVERFLOW = ("warn", "raise", "ignore")
OUTSIDE = ("raise", "saturate")
WORDS = {"backend": BACKENDS, "on_overflow": ON_OVERFLOW, "outside": OUTSIDE}


class DynamicsWarning(UserWarning):
    """Results differ from what one may expect of the robot's file, or another back end answers."""


def check_words(**said: str) -> None:
    """InputError for an argument of a driver that is none of its words."""
    for key, value in said.items():
        if value not in (known := WORDS[key]):
            hint = did_you_mean(str(value), known, f"; one of {', '.join(known)}")
            raise InputError(f"{key}: {value!r} is unknown{hint}")


def usual_backend(robot: str | Path) -> tuple[str, tuple[str, ...]]:
    """The back end where nobody names one, and a note where it is not the usual one.

    A robot's is C++, or the float64 reference where there is no compiler, or no header of Python. A
    folder's, which holds hardware, has the hardware's bits.
    """
    if (Path(robot) / MARK).is_file():
        return OF_FOLDERS, ()
    try:
        find_compiler()
        headers()
    except NoCompiler as error:
        return WITHOUT_COMPILER, (f"backend: {SLOWER}: {error}",)
    return DEFAULT, ()


def notes_of_choices(backend: str, choices: Mapping[str, Any]) -> tuple[str, ...]:
    """A note of the choices that say how hardware is made, where nothing is."""
    idle = [name for name, own in choices.items() if own is not None and name in OF_HARDWARE]
    if backend not in NO_WORDS or not idle:
        return ()
    return (f"{', '.join(idle)}: of hardware; {backend} computes in floating point without",)


def notes_of_arguments(
    backend: str, robot: str | Path, *, on_overflow: str, outside: str, trust: bool, near: bool
) -> tuple[str, ...]:
    """A note of each argument of a driver that has no effect. ``near``: M⁻¹ is of a state nearby,
    which may be too far."""
    no_words = backend in NO_WORDS
    no_folder = not (Path(robot) / MARK).is_file()
    idle_ones = (
        ("on_overflow", on_overflow, "warn", "back ends of words", no_words and not near),
        ("outside", outside, "raise", "back ends of words", no_words),
        ("trust", trust, False, "folders that were generated", no_folder),
    )
    return tuple(
        idle(key, own, serves)
        for key, own, default, serves, is_idle in idle_ones
        if is_idle and own != default
    )


def warn_of(robot: str, notes: Iterable[str]) -> None:
    """A DynamicsWarning of each note, as of the line that makes the driver."""
    for note in notes:
        warnings.warn(f"{robot}: {note}", DynamicsWarning, stacklevel=3)


def changing_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes on choices that change results."""
    return tuple(filter(changes_results, notes))
