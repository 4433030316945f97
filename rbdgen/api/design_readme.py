"""The README of a design's folder of Verilog: what it is, its ports, how to simulate and map it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from ..design.manifest import AcceleratorManifest, CoreManifest
from ..graph.word import kind_of
from ..system.templates import render

README = "README.md"


class Word(Protocol):
    """A word of a payload, or of a function."""

    @property
    def name(self) -> str:
        """The name of the word, such as ``dtau_dq[0,1]``."""

    @property
    def width(self) -> int:
        """Bits."""

    @property
    def fraction(self) -> int:
        """How many of them are fractional."""


@dataclass(frozen=True)
class Words:
    """Words of an array that follow each other, from bit ``low`` to ``high``.

    ``width``, ``fraction``: such as ``18``, or of words that differ ``12 to 18``.
    """

    name: str
    count: int
    width: str
    fraction: str
    low: int
    high: int


def words_of(fields: Sequence[Word]) -> list[Words]:
    """The fields grouped by array, with the bits that each array takes."""
    found, low = [], 0
    for name, group in groupby(fields, key=lambda field: kind_of(field.name)):
        own = list(group)
        high = low + sum(field.width for field in own) - 1
        width, fraction = _span(f.width for f in own), _span(f.fraction for f in own)
        found.append(Words(name, len(own), width, fraction, low, high))
        low = high + 1
    return found


def _span(numbers: Iterable[int]) -> str:
    own = sorted(set(numbers))
    return str(own[0]) if len(own) == 1 else f"{own[0]} to {own[-1]}"


def design_readme(entry: CoreManifest | AcceleratorManifest, files: Iterable[str]) -> str:
    """The text; ``files``: the names of the folder's others."""
    functions = entry.tasks.functions.items()
    return render(
        "verilog/README.md.jinja",
        entry=entry,
        name=entry.name,
        core=isinstance(entry, CoreManifest),
        tasks=entry.tasks,
        graphs=sorted(own for own in files if own.startswith("graph")),
        given=words_of(entry.ports.input.fields),
        found=words_of(entry.ports.output.fields),
        functions={
            name: (words_of(own.inputs), words_of(own.outputs), own) for name, own in functions
        },
    )
