"""Few files read an option: what follows from it is asked in one place, as `is_near` is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import rbdgen
from rbdgen.design.options import OPTIONS

PACKAGE = Path(rbdgen.__file__).parent
MOST = 4  # files that read an option
# Those of more: what a design is of, words, and what a search for what fits tries anew.
MORE = {
    "functions": 30,
    "payload": 11,
    "frames": 9,
    "width": 10,
    "error": 15,
    "target": 5,
    "clock": 5,
    "ii": 10,
    "multipliers": 8,
    "fold": 8,
    "accelerator": 10,
}


def test_few_files_read_an_option() -> None:
    readers: dict[str, list[str]] = {key: [] for key in OPTIONS}
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text("utf-8")
        for key in set(read(ast.parse(text))) if "design" in text else ():
            readers[key].append(str(file.relative_to(PACKAGE)))
    many = [f"{key}: {len(own)}: {', '.join(own)}" for key, own in readers.items() if own]
    beyond = {key: len(own) for key, own in readers.items() if len(own) > MORE.get(key, MOST)}
    assert not beyond, "\n".join(many)
    assert len(readers["nearby"]) == 1  # a reader is seen


def read(tree: ast.AST) -> Iterator[str]:
    """The options that a file reads as ``design.NAME``, or changes as ``replace(design, NAME=…)``.

    A design is whatever is called so: ``design``, ``front.design``, ``own_design``.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in OPTIONS and is_design(node.value):
            yield node.attr
        elif isinstance(node, ast.Call) and node.args and is_design(node.args[0]):
            changes = isinstance(node.func, ast.Name) and node.func.id == "replace"
            yield from (own.arg for own in node.keywords if changes and own.arg in OPTIONS)


def is_design(node: ast.expr) -> bool:
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name == "design" or name.endswith("_design")
