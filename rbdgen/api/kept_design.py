"""A design of a robot, generated once and kept in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..design.loading import load
from ..simulate.toolchain import in_cache
from ..system.cache import cached
from .digests import FOLDER, compiler_digest, design_digest
from .folder import read_manifest
from .made import Made


def kept_design(robot: str, progress: Callable[[str], None], choices: Mapping[str, Any]) -> Path:
    """The folder that `generate` makes of ``robot``, in the cache.

    It is found by a digest of robot, choices and compiler. ``progress`` is told the notes on the
    design in either case. SimulationError where the cache cannot be written.
    """
    design, _ = load(robot, **choices)
    of = f"{compiler_digest(FOLDER)} {design_digest(design)}"
    made = False

    def make(work: Path) -> None:
        from . import verilog  # imports all that makes hardware

        nonlocal made
        made = True
        for name, text in verilog.verilog(Made(robot, progress, choices)).items():
            (work / name).write_bytes(text.encode("utf-8", "surrogateescape"))

    with in_cache():
        folder = cached(f"design-{hashlib.sha256(of.encode()).hexdigest()[:16]}", make, progress)
    if not made:
        progress(f"generated before: {folder}")
        for note in read_manifest(folder)["notes"]:
            progress(f"note: {note}")
    return folder
