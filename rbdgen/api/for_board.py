"""From a robot to a board in one step: the accelerator that its bitstream is made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..board.build import LEDS
from ..board.catalog import find_board
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

    ``output``, ``force``, ``choices``: as of `generate`. Raises BoardError for a board that is not
    known, and what `generate` raises.
    """
    part = find_board(board, LEDS).target.name
    own = {**choices, "accelerator": True, "target": part}
    made = generate(robot, output, progress=progress, force=force, **own)
    assert isinstance(made, Generated)  # one language
    return made.folder
