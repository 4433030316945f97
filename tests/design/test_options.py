"""The table of options is whole: what stands in it is a field, and works on the command line."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from rbdgen.cli.options import choices_of
from rbdgen.cli.parser import parser
from rbdgen.design.design import Design
from rbdgen.design.functions import WHOLE
from rbdgen.design.options import CHECKS, OPTIONS

FOUND = {"robot", "chosen"}  # fields that nobody chooses
VALUES: dict[str, tuple[str, Any]] = {  # words of the command line, of options of no few values
    "xacro": ("tool:=1 --xacro tool:=2", {"tool": "2"}),
    "base_link": ("tool", "tool"),
    "friction_width": ("0.2,elbow=0.1", "0.2,elbow=0.1"),
    "gravity": ("0 0 -1.62", (0.0, 0.0, -1.62)),
    "snap": ("1e-3", 1e-3),
    "alike": ("0.01", 0.01),
    "velocity": ("3", 3.0),
    "acceleration": ("3,elbow=4", "3.0,elbow=4.0"),
    "effort": ("elbow=2", "elbow=2.0"),
    "functions": ("rnea,m --function did", ("id", "m", "did")),
    "kp": ("3,elbow=4", "3.0,elbow=4.0"),
    "kd": ("3", 3.0),
    "frame": ("tool", "tool"),
    "nearby": ("0.02", 0.02),
    "step": ("0.01", 0.01),
    "external_forces": ("one two", ("one", "two")),
    "payload": ("tool", "tool"),
    "tolerance": ("0.01", 0.01),
    "knots": ("8", 8),
    "frames": ("one,two", ("one", "two")),
    "contact_damping": ("0.01", 0.01),
    "float_error": ("1e-4", 1e-4),
    "width": ("20", 20),
    "guard": ("2", 2),
    "error": ("1e-4", 1e-4),
    "ii": ("2", 2),
    "multipliers": ("2", 2),
    "clock": ("18", 18.0),
    "tick": ("8000", 8000),
    "watchdog": ("2", 2),
    "slots": ("2", 2),
    "mix": ("id=8,dfd=1", "id=8,dfd=1"),
    "name": ("arm_fast", "arm_fast"),
}
CONST = {"open_loops": True, "friction": False, "fit": False, "accelerator": True} | {
    "order": "issued",
    "proven": "all",
}


def test_every_field_is_an_option() -> None:
    assert set(OPTIONS) == {own.name for own in fields(Design)} - FOUND


@pytest.mark.parametrize("key", CHECKS)
def test_a_default_is_a_value(key: str) -> None:
    assert CHECKS[key](OPTIONS[key].default) == OPTIONS[key].default
    assert getattr(Design(""), key) == OPTIONS[key].default


def words_of(key: str) -> tuple[str, Any]:
    """What is typed behind an option, and its value."""
    if key in CONST:
        return "", CONST[key]
    if key in VALUES:
        return VALUES[key]
    other = next(value for value in OPTIONS[key].choices if value != OPTIONS[key].default)
    return str(other), other


@pytest.mark.parametrize("key", CHECKS)
def test_the_command_line_sets_it(key: str) -> None:
    said, (words, value) = OPTIONS[key], words_of(key)
    found = choices_of(parser().parse_args(["generate", "arm", said.options()[0], *words.split()]))
    if key == "accelerator":
        assert found.pop("functions") == WHOLE
    assert found == {key: value} and value != said.default


@pytest.mark.parametrize("key", CHECKS)
def test_its_words_set_it(key: str) -> None:
    """Commands that are written for others to type are read as what they were written of."""
    said, (_, value) = OPTIONS[key], words_of(key)
    words = said.words(value)
    assert words
    assert choices_of(parser().parse_args(["generate", "arm", *words]))[key] == value


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("friction", True, []),
        ("frames", ("a,b", "c"), None),
        ("friction_width", {"elbow": 0.1}, None),
        ("limits", {}, None),
    ],
)
def test_words_of_values_that_are_none_or_have_none(
    key: str, value: Any, words: list[str] | None
) -> None:
    assert OPTIONS[key].words(value) == words
