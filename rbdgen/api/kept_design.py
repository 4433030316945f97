"""A design of a robot, generated once and kept in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..design.loading import load
from ..simulate.toolchain import in_cache
from ..system.cache import cached
from .compilation import Made
from .digests import FOLDER, compiler_digest, design_digest
from .folder import read_manifest

Progress = Callable[[str], None]


def kept_design(robot: str, progress: Progress, choices: Mapping[str, Any]) -> Path:
    """The folder that `generate` makes of ``robot``, in the cache.

    ``progress`` is told the notes on the design in either case. Errors as those of `kept_folder`.
    """

    def make(work: Path) -> None:
        from . import verilog  # imports all that makes hardware

        for name, text in verilog.verilog(Made(robot, progress, choices)).items():
            (work / name).write_bytes(text.encode("utf-8", "surrogateescape"))

    folder, made = kept_folder("design", robot, progress, choices, make)
    if not made:
        progress(f"generated before: {folder}")
        for note in read_manifest(folder)["notes"]:
            progress(f"note: {note}")
    return folder


def kept_folder(
    what: str,
    robot: str,
    progress: Progress,
    choices: Mapping[str, Any],
    make: Callable[[Path], None],
) -> tuple[Path, bool]:
    """The folder ``what`` of a robot's design in the cache, and whether ``make`` made it now.

    It is found by a digest of robot, choices and compiler. SimulationError where the cache cannot
    be written.
    """
    design, _ = load(robot, **choices)
    of = f"{compiler_digest(FOLDER)} {design_digest(design)}"
    made = False

    def make_now(work: Path) -> None:
        nonlocal made
        made = True
        make(work)

    with in_cache():
        name = f"{what}-{hashlib.sha256(of.encode()).hexdigest()[:16]}"
        return cached(name, make_now, progress), made
