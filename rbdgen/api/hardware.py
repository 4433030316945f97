"""A design's core, for those commands that need hardware."""

from __future__ import annotations

from collections.abc import Callable

from ..compiler import Core, Front, compile_core
from ..robot.model import RobotError

Progress = Callable[[str], None]


def compile_hardware(front: Front, progress: Progress = lambda _: None) -> Core:
    """The core of a design; RobotError for a robot that leaves it nothing to compute."""
    if not front.graph.outputs:
        raise RobotError(f"{front.robot.name}: no joint moves, so there is no hardware to make")
    return compile_core(front, progress)
