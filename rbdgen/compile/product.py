"""A design compiled: a core, each task of which computes all functions, or an accelerator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..system.progress import Progress
from .accelerate import compile_accelerator
from .expected import expected_errors, note_of_errors
from .flow import Core, compile_core, front_end
from .front import Front
from .scheduled import Accelerated

Product = Core | Accelerated


def compile_front(front: Front, progress: Progress = lambda _: None) -> Product:
    """Compile a front's design; a note tells of large errors. Errors as those of both."""
    compile_own = compile_accelerator if front.design.accelerator else compile_core
    made: Product = compile_own(front, progress)
    expected = expected_errors(made)
    note = note_of_errors(made, expected)
    notes = (*made.notes, note) if note else made.notes
    return replace(made, notes=notes, expected=expected.errors)


def compile_design(path: str, progress: Progress = lambda _: None, **choices: Any) -> Product:
    """URDF or design file → what the hardware is made from. ``choices`` are fields of Design."""
    progress(f"reading {path}")
    return compile_front(front_end(path, progress, **choices), progress)
