"""Words that had several meanings keep one, which is listed here: names of the code hold to it."""

from __future__ import annotations

import ast
import re

import pytest

from tests.test_imports import ROOT, modules

# Word → what it means, and where alone a name may have it.
MEANINGS = {
    "cut": (
        "a graph, into pieces that become stages",
        ("passes/pieces.py", "compile/stage_pieces.py", "compile/limbs/"),
    ),
    "lane": (
        "a word's place in a beat of a link",
        ("rtl/task_", "api/manifest.py", "design/manifest.py"),
    ),
    "visit": (
        "a task's use of what it shares: of a joint's datapath, or of a stage",
        (
            *("graph/visits.py", "dynamics/", "passes/", "schedule/"),
            *("tasks/", "rtl/", "draw/", "compile/", "api/facts.py"),
            *("codegen/frames.py", "codegen/hls_loops.py", "codegen/loops.py"),
        ),
    ),
}


def names_of(text: str) -> set[str]:
    """The names that a file gives: functions, classes, parameters, variables and fields."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
    return found


def test_names_are_found() -> None:
    text = (
        "class Lane:\n    cut: int\n    def visit(self, lanes):\n        self.at = near = lanes\n"
    )
    assert names_of(text) == {"Lane", "cut", "visit", "self", "lanes", "at", "near"}


@pytest.mark.parametrize("word", MEANINGS)
def test_a_word_has_one_meaning(word: str) -> None:
    meaning, places = MEANINGS[word]
    named = re.compile(rf"(?:^|_){word}s?(?:_|$)|{word.capitalize()}(?:s|[A-Z]|$)")
    files = {
        path.relative_to(ROOT).as_posix().partition("/")[2]
        for path in modules().values()
        if any(named.search(name) for name in names_of(path.read_text()))
    }
    assert files, f"nothing is called {word}"
    others = sorted(file for file in files if not file.startswith(places))
    assert not others, f"{word} is {meaning}; other meanings: {', '.join(others)}"
