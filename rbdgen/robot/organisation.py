"""How the modules of a pipeline are organised after a robot's tree: its links and joints by name.

``after``: an index into the list in which it stands, None on the root.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..system.records import Record
from .topology import Rooting


@dataclass(frozen=True)
class NamedBranch(Record):
    """A branch, called by its last link; ``columns``: of each joint, from the root outwards."""

    name: str
    joints: tuple[str, ...]
    after: int | None
    columns: tuple[int, ...]
    work: int


@dataclass(frozen=True)
class Near(Record):
    """Two branches that are not alike, and by how much they differ."""

    branches: tuple[str, ...]
    difference: float


@dataclass(frozen=True)
class NamedArray(Record):
    """``size`` modules in a row, in which ``branches`` take turns; ``work``: their columns."""

    size: int
    branches: tuple[str, ...]
    after: int | None
    work: int


@dataclass(frozen=True)
class Modules(Record):
    """How many are built, and how many there would be if each joint had its own."""

    built: int
    needed: int


@dataclass(frozen=True)
class Organisation(Record):
    """A robot's tree, and the arrays of modules that it makes.

    ``best_root``: where the tree is least deep, None if the root cannot move; ``file_root``: as the
    file roots it.
    """

    file: str
    tolerance: float
    turns: int | None
    robot: str
    base: str
    root: str
    root_modules: tuple[str, ...]
    depth: int
    columns: int
    joints: tuple[str, ...]
    branches: tuple[NamedBranch, ...]
    alike: tuple[tuple[str, ...], ...]
    near: tuple[Near, ...]
    arrays: tuple[NamedArray, ...]
    pace: int
    modules: Modules
    best_root: Rooting | None
    file_root: Rooting
    root_note: str
