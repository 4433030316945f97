"""How the scalars of a graph lie in arrays of states, which programs take and give."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..system.records import Record


@dataclass(frozen=True)
class Array(Record):
    """An array of one state: ``shape`` numbers, row by row. The next state's follow it."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Numbers of one state."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class ArrayEntry(Record):
    """A number of an array: ``at`` counts from the state's first, row by row."""

    array: str
    at: int


@dataclass(frozen=True)
class ArrayInterface(Record):
    """The arrays that a program takes and gives, and the entries that a graph's scalars are.

    ``outputs``: an entry of a symmetric matrix stands in two places; entries that none is at are
    zero in every state. ``same``: an array without states, whose numbers all of them share.
    """

    takes: tuple[Array, ...]
    gives: tuple[Array, ...]
    inputs: Mapping[str, ArrayEntry]
    outputs: Mapping[str, tuple[ArrayEntry, ...]]
    same: Array | None = None

    @property
    def shared(self) -> tuple[str, ...]:
        """The graph's inputs that all states share."""
        name = self.same.name if self.same else None
        return tuple(own for own, entry in self.inputs.items() if entry.array == name)
