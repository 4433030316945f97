"""The words of an interface by name: ``steps``, ``q[2]``, ``M[1,0]``, ``f_ext[3].nx``.

A graph's inputs and outputs are called so, and ports and reports after them. Here alone names are
read and spelled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

_NAME = re.compile(r"(\w+)(?:\[(\d+(?:,\d+)*)\])?(?:\.([\w.]+))?")


@dataclass(frozen=True)
class Word:
    """An entry of the array ``kind``, at ``indices``; of a wrench its ``axis``."""

    kind: str
    indices: tuple[int, ...] = ()
    axis: str = ""

    def __str__(self) -> str:
        index = f"[{','.join(map(str, self.indices))}]" if self.indices else ""
        return f"{self.kind}{index}{'.' if self.axis else ''}{self.axis}"


@cache
def parse(name: str) -> Word:
    """``f_ext[3].nx`` → ("f_ext", (3,), "nx"); ValueError for what is no name."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"no name of a graph input or output: {name!r}")
    kind, index, axis = match.groups()
    return Word(kind, tuple(map(int, index.split(","))) if index else (), axis or "")


def spell(kind: str, *indices: int, axis: str = "") -> str:
    """("M", 1, 0) → ``M[1,0]``."""
    return str(Word(kind, indices, axis))


def renamed(name: str, kind: str) -> str:
    """The same entry of another array: ``tau[3]`` → ``bias[3]``."""
    return str(replace(parse(name), kind=kind))


def kind_of(name: str) -> str:
    """``qdd[3]`` → qdd."""
    return parse(name).kind


def array_named(row: str) -> str:
    """``dtau_dq[3,:]`` → dtau_dq."""
    return row.partition("[")[0]


def first_of(row: str) -> Word:
    """``dtau_dq[3,:]`` → ("dtau_dq", (3,)): what of the indices a matrix's row has."""
    return parse(row.replace(",:", ""))


def indices(name: str) -> tuple[int, ...]:
    """``M[3,1]`` → (3, 1)."""
    return parse(name).indices
