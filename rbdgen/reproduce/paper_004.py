"""Plancher et al., Accelerating Robot Dynamics Gradients on a CPU, GPU, and FPGA (2021)."""

from __future__ import annotations

from pathlib import Path

from ..bench.codesign import codesign
from .report import Progress, Reproduction


def plancher(full: bool, place: Path, progress: Progress) -> Reproduction:
    """Figures 1, 2 and 3: what ``rbdgen bench codesign`` measures, prints and draws."""
    found = codesign(place, progress)
    return Reproduction(
        "Measured: this CPU's times, cycles of our RTL at the paper's clock, links by their "
        "models, as listed above. The paper's: its text, the three lines of figures. What "
        "differs: its CPU and link are others, its FPGA ran, ours is scheduled and not placed; no "
        "GPU is timed. The sweep of fixed-point types is not here yet.",
        found,
    )
