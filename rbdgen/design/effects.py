"""The rules that a design is asked: refusals in one line, and notes on options without effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..robot.model import JointKind, Robot, RobotError
from .choices import OF_NUMBERS, VERILOG
from .option import ACCELERATOR
from .options import OF_C, OF_HARDWARE, OF_SCHEDULES, OF_TEXTS, OPTIONS
from .rule import FOLDED, TO_FOLD, broken
from .rules import OF_LANGUAGES, RULES

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


def unread_in(language: str) -> frozenset[str]:
    """The options that a design in one of `LANGUAGES` does not read, or is refused with.

    What is refused is said by the rules on a language and one option; where there is no
    accelerator, options of accelerators are for nothing.
    """
    words = language not in OF_NUMBERS
    clocks = language == VERILOG or not words
    unread = {key for keys, _ in _unread(words, True, clocks, language == "c") for key in keys}
    for rule in OF_LANGUAGES:
        others = [own for own in rule.where if own.key != "to"]
        if len(others) == 1 and all(own.holds(language) for own in rule.where if own.key == "to"):
            unread.add(others[0].key)
    if "accelerator" in unread:
        unread |= {key for key, said in OPTIONS.items() if said.group == ACCELERATOR}
    return frozenset(unread)


def notes_of_use(
    what: str,
    choices: Mapping[str, Any],
    words: bool = False,
    texts: bool = False,
    clocks: bool = True,
    in_c: bool = False,
) -> list[str]:
    """Notes on those of the ``choices`` that have no effect on ``what``, a language, a model or a
    command. ``words``: it has words or hardware; ``texts``: it is a program over real numbers;
    ``clocks``: if it has words, it has a schedule, too; ``in_c``: it is in C."""
    found = []
    for keys, why in _unread(words, texts, clocks, in_c):
        if given := [key for key in keys if choices.get(key) is not None]:
            found.append(f"{what} {why}: no effect of {', '.join(given)}")
    return found


def _unread(
    words: bool, texts: bool, clocks: bool, in_c: bool
) -> Iterator[tuple[Sequence[str], str]]:
    """Options without effect on what has or is none of these, and why."""
    for there, keys, why in (
        (words, OF_HARDWARE, "has neither words nor hardware"),
        (texts, OF_TEXTS, "is no program over real numbers"),
        (clocks, OF_SCHEDULES, "has no schedule"),
        (in_c, OF_C, "is not in C"),
    ):
        if not there:
            yield keys, why
