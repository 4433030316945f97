"""Lines for people: notes, progress, refusals.

Notes: what is left out, approximated or chosen for the user, a line each.

Progress of long work: lines for people, while it runs.

The error of a line that says what is wrong, where, and what cures it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

CHANGES = " (changes results)"


def changing(note: str) -> str:
    """The note, marked as one that makes results differ: from what the file says in full, or from
    what Pinocchio computes of it. The mark is text, so that files of all kinds carry it."""
    return note + CHANGES


def idle(key: str, said: object, serves: str, cure: str = "leave it out") -> str:
    """A line on a choice that nothing reads: its value, what it is for, and what would be right."""
    return f"{key}: {said} is for {serves}; {cure}"


def changes_results(note: str) -> bool:
    """Whether a note is marked so."""
    return note.endswith(CHANGES)


def listed(words: Iterable[str], last: str = "and") -> str:
    """``a, b and c``: the ``last`` two are joined by a word."""
    *most, end = words
    return f"{', '.join(most)} {last} {end}" if most else end


Progress = Callable[[str], None]


class Refusal(Exception):
    """An error that the command line prints as it is, in one line, without a traceback."""

    usage = False  # whether it is of what was typed
