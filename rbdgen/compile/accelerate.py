"""The accelerator of several functions of a robot: one graph, cut where functions part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..design.choices import LARGEST_INTERVAL
from ..design.derived import as_fitted, is_left_open
from ..design.design import Design
from ..design.effects import refused
from ..design.rules import STAGES
from ..design.target import Target
from ..robot.model import RobotError
from ..system.progress import Progress
from .fitting import ResourceEstimate, Search, SharingChoice, too_large
from .flow import front_end
from .front import Front, refuse_still
from .joints_or_whole import of_large, smaller
from .limbs_in_turn import Pieces, in_turn
from .paces import slowest
from .plans import alone, chooses_fold
from .scheduled import Accelerated, need_of, of_joints, of_whole, refuse_few_multipliers, scheduled


def accelerate(path: str, progress: Progress = lambda _: None, **choices: Any) -> Accelerated:
    """URDF or design file → accelerator. ``choices`` are fields of Design that win over it."""
    progress(f"reading {path}")
    return compile_accelerator(
        front_end(path, progress, **{"accelerator": True, **choices}), progress
    )


def compile_accelerator(front: Front, progress: Progress = lambda _: None) -> Accelerated:
    """Graph → pieces → fixed point → stages; RobotError for what the accelerator cannot follow.

    Where nobody says how often, it is the fastest that fits the part, as any design.
    """
    design = front.design
    if line := refused(design, STAGES):
        raise RobotError(line)
    refuse_still(front)
    pieces = Pieces(front, progress)
    if not is_left_open(design):
        large = of_large(front, pieces)
        made = large or _as_asked(front, pieces)
        refuse_few_multipliers(made)
        if large is None and design.fit and too_large(need_of(made)):
            made = smaller(front, pieces, made)
        note = too_large(need_of(made)) if design.fit else ""
        return replace(made, notes=(*made.notes, note)) if note else made
    if design.fitted:
        made = _as_asked(replace(front, design=as_fitted(design)), pieces)
    else:
        design, made = _fastest(front, pieces)
    assert design.fitted is not None
    notes = (*made.notes, design.fitted.note)
    return replace(made, front=replace(front, design=design), notes=notes)


def _as_asked(front: Front, words: Pieces) -> Accelerated:
    """The accelerator that a design asks for; where it does not say, of a task every cycle.

    Limbs take turns that are alike in all that their joints feel; partly so, where that is wanted.
    """
    design = front.design
    if design.fold == "joints":
        return of_joints(front, words)
    if design.fold != "limbs" and not chooses_fold(design):
        return of_whole(front, words, ())
    turns = in_turn(front, words, partly=design.fold == "limbs")
    if not isinstance(turns, str):
        return scheduled(front, words, *turns)
    if design.fold == "limbs":
        raise RobotError(f"{front.robot.name}: fold: limbs: {turns}")
    return of_whole(front, words, (f"limbs do not take turns: {turns}",))


def _fastest(front: Front, words: Pieces) -> tuple[Design, Accelerated]:
    """The fastest accelerator that fits the part, else the smallest; the design says so."""

    def make(design: Design, target: Target) -> tuple[ResourceEstimate, Accelerated]:
        made = _as_asked(replace(front, design=design, target=target), words)
        return need_of(made), made

    def ways(design: Design, target: Target) -> list[SharingChoice]:
        budget = replace(design, ii=None, multipliers=target.multipliers)

        def intervals() -> Sequence[int]:
            try:
                least = slowest(budget, target, words.whole.pieces)
            except RobotError:  # more at any interval: the longest is the smallest
                least = LARGEST_INTERVAL
            return range(max(least, 2), LARGEST_INTERVAL + 1)

        return [SharingChoice("auto", 2, intervals)]

    return Search(alone, ways, make, words.progress).fastest(front.design, front.target)
