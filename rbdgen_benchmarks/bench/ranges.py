"""Ranges under attack: ascent with ten times the steps that they were found with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.words import sample_inputs
from rbdgen.design.loading import shipped_robots
from rbdgen.design.nested import MotionLimits
from rbdgen.system.quoting import Progress
from rbdgen.words.ascent_schedule import STEPS

from .falsify import falsify
from .measurement import Row, measurement

TIMES = 10
SEED = 1000  # none that ranges are searched with
FUNCTIONS = ("id", "did")
# iiwa 14's limits [rad/s, rad/s²] beside its own at which words were once too small
LIMITS = [(v, a) for v in (2, 3, 5, 7, 12, 14, 20) for a in (10, 30)]
HEAD = ("design", "limits [rad/s, rad/s²]", "signals", "largest part of a word", "flags")


def _cases() -> list[tuple[str, str, MotionLimits | None]]:
    cases: list[tuple[str, str, MotionLimits | None]] = [
        (robot, function, None) for robot in sorted(shipped_robots()) for function in FUNCTIONS
    ]
    others = [MotionLimits(velocity=v, acceleration=a) for v, a in LIMITS]
    return cases + [("iiwa14_fast", "did", limits) for limits in others]


@measurement("ranges", "hours", HEAD, cases=_cases)
def ranges(
    place: Path, progress: Progress, robot: str, function: str, limits: MotionLimits | None
) -> Iterator[Row]:
    """Every shipped robot's id and did, and iiwa 14's did at other limits, attacked."""
    named = f"{limits.velocity:g} rad/s, {limits.acceleration:g} rad/s²" if limits else "its own"
    progress(f"{robot} {function}, limits {named}")
    core = compile_front(front_end(robot, functions=(function,), limits=limits, width=18), progress)
    domain = sample_inputs(core.front).domain
    assert domain is not None
    found = falsify(core.fixed, domain, TIMES * STEPS, SEED, progress)
    part, flags = round(found.nearest, 3), len(found.flagged)
    progress(f"{flags} flags, {part} of a word")
    yield [f"{robot} {function}", named, found.signals, part, flags]
