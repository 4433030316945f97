"""Errors of the worst coordinates of default designs, at each scale: all shipped robots."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rbdgen.compile.expected import errors_in_graph
from rbdgen.compile.flow import compile_design
from rbdgen.design.coordinates import CoordinateError, worst_at
from rbdgen.design.loading import shipped_robots
from rbdgen.graph.accuracy import REPORTED, SCALES, StateScale
from rbdgen.system.quoting import Progress

from .measurement import Row, measurement

FLOATING = ("hyq", "humanoid")  # with a floating base besides
FUNCTIONS = ("id", "did", "minv", "fd")
SLOW = {("humanoid", "minv"), ("humanoid", "fd")}  # hours, and larger than any part
STATES = 4000  # at each scale
HEAD = (
    *("robot", "base", "function", "every", "multipliers", "is time-multiplexed"),
    *(f"worst {scale.name}" for scale in REPORTED),
    *("N·m or rad/s² at the limits", "overflows"),
)


def _cases() -> Iterator[tuple[str, str, str]]:
    for robot in shipped_robots():
        for base in ("fixed", "floating") if robot in FLOATING else ("fixed",):
            for function in FUNCTIONS:
                if (robot, function) not in SLOW:
                    yield robot, base, function


@measurement("accuracy", "minutes", HEAD, cases=_cases)
def accuracy(
    place: Path, progress: Progress, robot: str, base: str, function: str
) -> Iterator[Row]:
    """Worst coordinates of default designs: shipped robots, id, did, minv, fd."""
    progress(f"{robot}, {base} base: {function}")
    core = compile_design(robot, functions=(function,), base=base)
    found = errors_in_graph(core.front, core.fixed, STATES)
    worst = [(worst_at(found.errors, scale), scale) for scale in REPORTED]
    said = [_said(own, at) for own, at in worst]
    limits = worst[0][0]
    off = "-" if limits is None else f"{limits.scales[SCALES[0].name].rms:.2g} {limits.unit}"
    turns = core.plan.turns.what if core.plan.turns else "products"
    pace = [core.plan.interval, core.plan.multipliers, turns]
    yield [robot, base, function, *pace, *said, off, found.overflows]


def _said(worst: CoordinateError | None, scale: StateScale) -> str:
    """Relative, or, of what is always 0 there, in its unit."""
    if worst is None:
        return "-"
    own = worst.scales[scale.name]
    size = f"{own.rms:.1e} {worst.unit}" if own.relative is None else f"{own.relative:.1e}"
    return f"{size} {worst.row}"
