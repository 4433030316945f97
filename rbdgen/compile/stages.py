"""Functions scheduled as stages, as a design asks: an accelerator's, or a core's one stage."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..design.design import chooses_fold, formulation_of
from ..design.effects import refuse_design
from ..design.rules import JOINTS
from ..robot.model import RobotError
from ..schedule.partition import StagePieces
from .fixed_functions import FixedFunctions
from .front import Front
from .plans import stage_plan
from .product import Product, as_core


def as_asked(front: Front, words: FixedFunctions) -> Product:
    """The product that a design asks for; where it does not say, of a task every cycle.

    Limbs are time-multiplexed that are alike in all that their joints feel; partly so, where that
    is wanted.
    """
    design = front.design
    if design.fold == "joints":
        return of_joints(front, words)
    if design.fold != "limbs" and not chooses_fold(design):
        return of_whole(front, words)
    from .intervals import in_turn

    turns = in_turn(front, words, partly=design.fold == "limbs")
    if not isinstance(turns, str):
        return scheduled(front, words, *turns)
    if design.fold == "limbs":
        raise RobotError(f"{front.robot.name}: fold: limbs: {turns}")
    said = (f"limbs are not time-multiplexed: {turns}",) if not words.is_core else ()
    return of_whole(front, words, said)


def of_whole(front: Front, words: FixedFunctions, notes: Sequence[str] = ()) -> Product:
    """The product in which no limbs are time-multiplexed."""
    return scheduled(front, words, words.pieces, _intervals(front, words, words.pieces), notes)


def of_joints(
    front: Front, words: FixedFunctions, stages: Collection[str] | None = None
) -> Product:
    """The product in which joints are time-multiplexed wherever a stage is theirs alone, of
    ``stages`` if these are given."""
    refuse_joints(front)
    staged = words.joints(front.design, stages)
    return scheduled(front, words, staged, _intervals(front, words, staged), ())


def refuse_joints(front: Front) -> None:
    """RobotError for what time-multiplexed joints do not do; in an accelerator, in no stage."""
    refuse_design(front.design, front.robot.name, JOINTS, formulation=formulation_of(front.design))


def _intervals(front: Front, words: FixedFunctions, staged: StagePieces) -> dict[str, int]:
    """Each stage's interval; that of a core's follows from its plan."""
    if words.is_core:
        return {}
    from .intervals import stage_intervals

    return stage_intervals(front.design, front.target, staged.pieces)


def scheduled(
    front: Front,
    words: FixedFunctions,
    staged: StagePieces,
    intervals: dict[str, int],
    why: Sequence[str],
) -> Product:
    """The product of these pieces; ``why``: notes of who is time-multiplexed."""
    if words.is_core:
        return _core(front, words, staged, intervals, why)
    from .accelerator import accelerator_of

    return accelerator_of(front, words, staged, intervals, why)


def _core(
    front: Front,
    words: FixedFunctions,
    staged: StagePieces,
    intervals: dict[str, int],
    why: Sequence[str],
) -> Product:
    """The same of one stage, whose tasks compute all functions."""
    words.progress("schedule")
    ((name, piece),) = staged.pieces.items()
    limbs = len(piece.program.copies) if piece.program and name in intervals else 1
    plan, note = stage_plan(front.design, piece, front.target, intervals.get(name), limbs)
    notes = (*why, note + words.note_of_width) if note else why
    return as_core(front, staged.ranges, plan, notes)
