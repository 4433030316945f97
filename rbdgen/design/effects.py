"""The rules that a design is asked: refusals in one line, and notes on options without effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..robot.model import JointKind, Robot, RobotError
from .options import OF_HARDWARE, OF_SCHEDULES, OF_TEXTS
from .rule import FOLDED, TO_FOLD, broken
from .rules import RULES

Design = Any  # of `design.py`, which asks here
TURNING_JOINTS = (JointKind.REVOLUTE, JointKind.PLANAR)


def refused(design: Design, at: str = "", **known: Any) -> str:
    """The line of the first rule that the design breaks, or empty; ``at``: who asks, of `rules`.

    ``known``: what the asker knows besides the design's options, as ``to``, languages, or better,
    as the ``formulation`` that was chosen.
    """
    return next((line for _, line in broken(RULES, design, at, **known)), "")


def refuse_design(design: Design, robot: str, at: str, **known: Any) -> None:
    """RobotError, of the robot of that name, for a design that breaks a rule; else as `refused`."""
    if line := refused(design, at, **known):
        raise RobotError(f"{robot}: {line}")


def notes_of_effects(design: Design, robot: Robot) -> list[str]:
    """A note on each other choice that nothing reads."""
    turns = any(joint.kind in TURNING_JOINTS for joint in robot.joints)
    lines = broken(RULES, design, noted=True, turning_joints=turns)
    return list(dict.fromkeys(line for _, line in lines))


def notes_of_interval(design: Design, interval: int) -> list[str]:
    """A note on the scheduler of a design that was left open, and takes a task so often."""
    if design.scheduler == "list" or interval > 1:
        return []
    return [f"scheduler: {design.scheduler} is for {FOLDED}; {TO_FOLD}"]


def notes_of_use(
    what: str,
    choices: Mapping[str, Any],
    words: bool = False,
    texts: bool = False,
    clocks: bool = True,
) -> list[str]:
    """Notes on those of the ``choices`` that have no effect on ``what``, a language, a model or a
    command. ``words``: it has words or hardware; ``texts``: it is a program over real numbers;
    ``clocks``: if it has words, it has a schedule, too."""
    found = []
    for there, keys, why in (
        (words, OF_HARDWARE, "has neither words nor hardware"),
        (texts, OF_TEXTS, "is no program over real numbers"),
        (clocks, OF_SCHEDULES, "has no schedule"),
    ):
        given = [key for key in keys if choices.get(key) is not None and not there]
        if given:
            found.append(f"{what} {why}: no effect of {', '.join(given)}")
    return found
