"""Functions in integers as a folder of C: header, source, conversions, example, build files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.fixed import FixedGraph, Flagged, Integers
from ..graph.text import to_text
from ..system.records import NamedWord, Record, named_words
from ..system.templates import render
from .c_file import File, word_type, words_of

GRAPH = "graph.txt"


@dataclass(frozen=True)
class CFunction(Record):
    """A function as its callers see it; ``flags``: how many it gives; ``short``: among others."""

    name: str
    inputs: tuple[NamedWord, ...]
    outputs: tuple[NamedWord, ...]
    flags: int
    words: str = "words.txt"
    expected: str = "expected_words.txt"
    short: str = ""
    what: str = ""

    @property
    def facts(self) -> dict[str, Any]:
        """The manifest's entry of the function."""
        words = {
            way: [own.to_json() for own in getattr(self, way)] for way in ("inputs", "outputs")
        }
        return {"function": self.name, **words, "flags": self.flags}


def core_function(
    fixed: FixedGraph, flagged: Flagged, flags: int, name: str
) -> tuple[File, CFunction, str]:
    """A file with one function; its words are of the type that comes last.

    ``flagged``: for each node that can overflow, which of the ``flags`` that raises.
    """
    outputs = {own: fixed.formats[node] for own, node in fixed.graph.outputs.items()}
    function = CFunction(name, named_words(fixed.taken), named_words(outputs), flags)
    file, word = File(name), word_type(words_of(fixed))
    file.add(fixed, name, flagged, f"{name}_word", word, flags)
    return file, function, word


def c_files(
    fixed: FixedGraph, flagged: Flagged, name: str, about: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, Any]]:
    """The files of one function, with a flag for each output, and what a manifest says of it.

    ``about``: ``robot`` and ``functions`` in words.
    """
    file, function, word = core_function(fixed, flagged, len(fixed.graph.outputs), name)
    files = folder(file, [function], word, {**about, "graph": GRAPH})
    facts = {"word": word, "functions": [function.facts], "nodes": len(fixed.graph.nodes)}
    return files | {GRAPH: to_text(fixed)}, facts


def sources(
    file: File, functions: Sequence[CFunction], word: str, about: Mapping[str, str]
) -> dict[str, str]:
    """Header and source."""
    given = {"name": file.prefix, "functions": functions, "word": word, "about": about}
    return {
        f"{file.prefix}.h": render("c/header.h.jinja", **given),
        f"{file.prefix}.c": render("c/source.c.jinja", text=file.text, **given),
    }


def folder(
    file: File, functions: Sequence[CFunction], word: str, about: Mapping[str, str]
) -> dict[str, str]:
    """All files but vectors."""
    given = {"name": file.prefix, "functions": functions, "word": word, "about": about}
    return sources(file, functions, word, about) | {
        f"{file.prefix}_real.h": render("c/real.h.jinja", **given),
        "example.c": render("c/example.c.jinja", **given),
        "CMakeLists.txt": render("c/CMakeLists.txt.jinja", **given),
        "README.md": render("c/README.md.jinja", **given),
    }


def rows(columns: Sequence[Integers]) -> str:
    """Words (N,) of each column as text, a line for each state."""
    return "".join(" ".join(map(str, row)) + "\n" for row in np.stack(columns, axis=1).tolist())
