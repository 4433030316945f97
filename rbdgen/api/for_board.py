"""The way from a robot or a core to a board in one step: the accelerator of its bitstream."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..board.build import LEDS
from ..board.catalog import find_board
from ..compile.flow import front_end
from ..compile.small import small
from ..design.loading import refuse_unknown
from ..design.manifest import AcceleratorManifest
from .design_file import DESIGN
from .folder import checked_manifest
from .generation import generate
from .results import Generated


def board_design(
    board: str,
    robot: str,
    output: str | Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
    force: bool = False,
    **choices: Any,
) -> Path:
    """Generate an accelerator of ``robot`` for the part of ``board``; returns its folder.

    ``output``, ``force``, ``choices``: as of `generate`. Where they do not say how hardware is
    shared, it is one in which joints take turns if that takes much less: the line to the host is
    slower than any. Raises BoardError for a board that is not known, and what `generate` raises.
    """
    part = find_board(board, LEDS).target.name
    own = {**choices, "accelerator": True, "target": part}
    refuse_unknown(own, generate)
    if fitted := small(front_end(robot, **own), progress):
        own["fitted"] = fitted
    made = generate(robot, output, progress=progress, force=force, **own)
    assert isinstance(made, Generated)  # one language
    return made.folder


def accelerator_of(
    folder: str | Path, progress: Callable[[str], None] = lambda _: None, trust: bool = False
) -> Path:
    """The folder of an accelerator; of a core FOLDER/accelerator, which is made of its design.

    ``trust``: as of `checked_manifest`. Raises what that and `generate` raise.
    """
    place = Path(folder)
    if isinstance(checked_manifest(place, trust, progress, (DESIGN,)), AcceleratorManifest):
        return place
    own = place / "accelerator"
    progress(f"note: {place} is a core without tags; the accelerator of its design is in {own}")
    made = generate(str(place / DESIGN), own, progress=progress, force=True, accelerator=True)
    assert isinstance(made, Generated)  # one language
    return made.folder
