"""Docstrings of the packages begin with a noun or a verb, not with a word that hides it."""

from __future__ import annotations

import re

import pytest

from tests.test_imports import modules

OPENINGS = (
    *("What", "Of", "So", "Those", "Whose", "That", "Such"),
    *("About", "After", "As", "At", "Before", "Behind", "Beside", "Besides", "Between", "By"),
    *("For", "From", "In", "On", "Over", "To", "Under", "Until", "With", "Within", "Without"),
)
# ruff's formatter leaves no other quotes around a docstring, and nothing before them on the line
HIDDEN = re.compile(rf'^[ \t]*r?"""\W*(?:{"|".join(OPENINGS)})\b.*', re.MULTILINE)


def hidden(text: str) -> list[str]:
    """The lines on which a docstring begins without its noun or verb."""
    return [match[0].strip() for match in HIDDEN.finditer(text)]


@pytest.mark.parametrize("word", OPENINGS)
def test_openings_are_seen(word: str) -> None:
    line = f'"""{word} a robot: mass [kg]."""'
    for text in (line, f"class Body:\n    {line}\n", f"def mass():\n    r{line}\n"):
        assert len(hidden(text)) == 1
    assert not hidden(f'"""{word}ward a robot."""\n"""The mass [kg] {word} it."""\nx = {line}\n')


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    lines = [
        f"{module}: {line}"
        for module, path in modules().items()
        for line in hidden(path.read_text("utf-8"))
    ]
    assert not lines, "\n".join(lines)
