"""The accelerator of several functions of a robot: one graph, cut where functions part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..design.choices import LARGEST_INTERVAL
from ..design.design import Design
from ..design.target import Target
from ..robot.model import RobotError
from .accelerator_sharing import Pieces, in_turn, slowest
from .fitting import ResourceEstimate, Search, SharingChoice, too_large
from .front import Front
from .plans import alone, chooses_fold
from .product import Product, need_of
from .scheduled import of_joints, of_large, of_whole, refuse_few_multipliers, scheduled, smaller


def asked(front: Front, words: Pieces) -> Product:
    """The accelerator that a design asks for, or a smaller one that is as fast, in which joints
    are time-multiplexed; RobotError for a part that is too small for it."""
    large = of_large(front, words)
    made = large or as_asked(front, words)
    refuse_few_multipliers(made)
    if large is None and front.design.fit and too_large(need_of(made)):
        return smaller(front, words, made)
    return made


def as_asked(front: Front, words: Pieces) -> Product:
    """The accelerator that a design asks for; where it does not say, of a task every cycle.

    Limbs are time-multiplexed that are alike in all that their joints feel; partly so, where that
    is wanted.
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
    return of_whole(front, words, (f"limbs are not time-multiplexed: {turns}",))


def search(front: Front, words: Pieces) -> Search[Product]:
    """The search for the fastest accelerator that fits the part, where nobody says how often."""

    def make(design: Design, target: Target) -> tuple[ResourceEstimate, Product]:
        made = as_asked(replace(front, design=design, target=target), words)
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

    return Search(alone, ways, make, words.progress)
