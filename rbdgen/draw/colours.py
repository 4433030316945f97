"""Colours: of each function and each stage, the same in every picture, and of all else."""

from __future__ import annotations

from ..tasks.routes import CODES
from ..tasks.stages import Accelerator

SERIES = ("#2f6db3", "#a8621a", "#2a8a57", "#b23a6b", "#5a4fcf", "#75871b", "#0d86a8", "#8a52b5")
REGIONS = ("#2f6db3", "#2a8a57", "#5a4fcf", "#a8621a", "#0d86a8", "#b23a6b", "#75871b", "#8a52b5")
GREY, GRID = "#6b7280", "#e3e7eb"  # of axes, and lines behind what is drawn
IDLE = "#eef1f4"  # of what is free

_FUNCTIONS = (
    "#2464b4",
    "#cf6a0c",
    "#1f8a4c",
    "#8a5a2b",
    "#7b3fb5",
    "#c42b3a",
    "#0b93a8",
    "#c23f92",
    "#6f7d12",
    "#4b5563",
)
_STAGES = (  # pale: dark text stands on them
    "#fde3a7",
    "#b9d6f2",
    "#c9e7c3",
    "#e3d0ee",
    "#f6c6b4",
    "#b5e3e0",
    "#e6dcc8",
    "#d5dae1",
    "#f3c9dd",
    "#dbe7a5",
)


def of_function(function: str) -> str:
    """The colour of a function, by its code."""
    return _FUNCTIONS[CODES[function] % len(_FUNCTIONS)]


def of_stage(accelerator: Accelerator, stage: str) -> str:
    """The colour of a stage, by its place among the stages."""
    return _STAGES[list(accelerator.stages).index(stage) % len(_STAGES)]
