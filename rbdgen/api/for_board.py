"""From a robot to a board in one step: the accelerator that its bitstream is made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..board.build import LEDS
from ..board.catalog import find_board
from ..compile.flow import front_end
from ..compile.small import small
from ..design.loading import refuse_unknown
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
