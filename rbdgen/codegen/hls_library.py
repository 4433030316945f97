"""C++ for high-level synthesis, compiled for this machine with the open headers of ``ap_int``."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..system.named_word import NamedWord
from ..system.refusal import Refusal
from ..system.templates import render
from .c_program import CFunction
from .compiled import CSources

WORD = "int64_t"  # of the arrays: no word of a design is wider


class NoHeaders(Refusal, RuntimeError):
    """There is no ``ap_int.h``, in one line that says what to install."""


def headers() -> Path:
    """The folder of ap_int.h, which the package da4ml carries; NoHeaders."""
    found = importlib.util.find_spec("da4ml")
    if found is not None and found.origin is not None:
        place = Path(found.origin).parent / "codegen/hls/source/ap_types/include"
        if (place / "ap_int.h").is_file():
            return place
    raise NoHeaders("no ap_int.h; the package da4ml carries the open one: pip install da4ml")


def flags() -> tuple[str, ...]:
    """Compiler flags for the library; NoHeaders.

    Most of the time goes into the templates of ``ap_int``: -O1 takes half as long again as -Og, and
    saves a fifth of what a state takes; -O0 takes a fifth less, and fifteen times as long a state.
    """
    return ("-x", "c++", "-std=c++17", "-Og", "-w", "-isystem", str(headers()))


def batch_source(files: Mapping[str, str], facts: Mapping[str, Any], name: str) -> CSources:
    """The files of `hls_program`, with a function beside that takes states in rows, as C's does."""
    ways = ("inputs", "parameters", "outputs")
    inputs, held, outputs = (tuple(NamedWord.from_json(own) for own in facts[way]) for way in ways)
    function = CFunction(name, (*inputs, *held), outputs, len(outputs))
    fields = {way: [own["field"] for own in facts[way]] for way in ways}
    sources = {own: text for own, text in files.items() if own in (f"{name}.h", f"{name}.cpp")}
    sources[f"{name}_batch.cpp"] = render("hls/batch.cpp.jinja", name=name, word=WORD, **fields)
    return CSources(sources, (function,), WORD)
