"""Our C++ of a design's functions, timed and checked on this machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..compile.front import Front
from ..compile.samples import sample_states
from ..system.compiler import NoCompiler
from .compiled import DTYPES, compiled
from .completion import completed
from .entries import interface_of
from .program_times import program_times
from .reference import golden_model
from .side_by_side import SIZES, Contender, of_program

Progress = Callable[[str], None]
STATES, SEED = 1000, 12  # whose error is taken


def timed(front: Front, progress: Progress) -> tuple[list[Contender], list[str]]:
    """One core and all of them, double and float; or why there is nothing, in one line."""
    threads = os.cpu_count() or 1
    try:
        progress("this CPU: C++")
        times = program_times(front.graph, interface_of(front), SIZES[1:], threads, progress)
        errors = {kind: _error(front, kind, progress) for kind in DTYPES}
    except NoCompiler as error:
        return [], [f"No CPU was timed: {error}."]
    return of_program(times, threads, errors, _processor()), []


def _error(front: Front, kind: str, progress: Progress) -> float:
    """The largest difference from the golden model, of the largest value of each array."""
    design, robot = front.design, front.robot
    state = completed(robot, sample_states(design, robot, STATES, SEED))
    program = compiled(design, robot, kind, progress)
    found, wanted = program(state), golden_model(design, robot, state)
    apart = (
        np.abs(found[name] - wanted[name]).max() / (np.abs(wanted[name]).max() or 1.0)
        for name in found
    )
    return float(max(apart))


def _processor() -> str:
    """What this machine calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
