"""Docstrings begin with a noun or a verb; those that the site shows have short sentences."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import pytest

from tests.test_docs import WORDS, prose
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


def public(module: Any) -> list[tuple[str, Any]]:
    """The module, its public objects and the public members of its classes, by name."""
    found = [(name, getattr(module, name)) for name in module.__all__]
    members = [
        (f"{name}.{own}", value)
        for name, owner in found
        if inspect.isclass(owner)
        for base in owner.__mro__
        if base.__module__.startswith("rbdgen")
        for own, value in vars(base).items()
        if not own.startswith("_")
    ]
    ours = [(name, own) for name, own in [*found, *members] if callable(own)]
    return [(module.__name__, module), *ours]


@pytest.mark.parametrize("name", ["rbdgen.api", "rbdgen_host.driver", "rbdgen_host.parallel"])
def test_public_docstrings_have_short_sentences(name: str) -> None:
    """As pages do: the site's reference of Python is made of these docstrings."""
    if name == "rbdgen_host.parallel":
        pytest.importorskip("jax", reason="jax is not installed: the extra parallel")
    said = {
        own: inspect.getdoc(value) or "" for own, value in public(importlib.import_module(name))
    }
    assert all(said.values()), [own for own, text in said.items() if not text]
    long = [(own, s) for own, text in said.items() for s in prose(text) if len(s.split()) > WORDS]
    assert long == []
