"""Products as a design asks, and the ways to share hardware for the fastest that fits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

from ..design.choices import ERROR, LARGEST_INTERVAL, LARGEST_OF_JOINTS
from ..design.design import (
    Design,
    as_chosen,
    choice_of,
    chooses_fold,
    chooses_joints,
    formulation_of,
    has_least_latency,
    has_registers,
)
from ..design.effects import refuse_design, refused
from ..design.nested import FITTED
from ..design.rules import JOINTS
from ..design.target import Target, find_target
from ..graph.fixed import FixedGraph
from ..robot.model import RobotError
from ..schedule.features import operations
from ..schedule.partition import StagePieces
from ..schedule.units import shared_jobs
from ..tasks.routes import CORE
from ..words.wordlength import PrecisionError
from .expected import errors_in_graph, too_inexact
from .fitting import Fastest, SharingChoice
from .fixed_functions import FixedFunctions
from .front import Front
from .plans import stage_plan
from .product import Product, ResourceEstimate, as_core, need, need_of

if TYPE_CHECKING:
    from ..words.instances import FixedProgram


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
    pieces = words.pieces
    return scheduled(front, words, pieces, _stage_intervals(front, words, pieces), notes)


def of_joints(
    front: Front, words: FixedFunctions, stages: Collection[str] | None = None
) -> Product:
    """The product in which joints are time-multiplexed wherever a stage is theirs alone, of
    ``stages`` if these are given."""
    refuse_joints(front)
    staged = words.joints(front.design, stages)
    return scheduled(front, words, staged, _stage_intervals(front, words, staged), ())


def refuse_joints(front: Front) -> None:
    """RobotError for what time-multiplexed joints do not do; in an accelerator, in no stage."""
    refuse_design(front.design, front.robot.name, JOINTS, formulation=formulation_of(front.design))


def _stage_intervals(front: Front, words: FixedFunctions, staged: StagePieces) -> dict[str, int]:
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
    notes = (*why, note + words.note_of_width) if note else tuple(why)
    if fused := len(plan.fixed.fused):
        notes += (f"{fused} sums are in the cells of products, whose overflow they report",)
    return as_core(front, staged.ranges, plan, notes)


MANY = 5000  # operations: below, words are made sooner than it is seen that they do not fit
FAR = 2.0  # times a part's cells: what takes so many without ranges being searched is too large


def part_of(design: Design) -> Target:
    """The part; of operations that are chained within a clock, without products made in part of
    LUTs."""
    return find_target(design.target).without_digits(design.clock is not None)


def fastest(front: Front, words: FixedFunctions) -> tuple[Design, Product]:
    """The fastest design that fits the part, where nobody says how often; else the smallest.

    What was chosen before is made again.
    """
    if choice_of(front.design, FITTED):
        own = replace(front, design=as_chosen(front.design, FITTED))
        return front.design, as_asked(own, words)

    def make(design: Design, target: Target) -> tuple[ResourceEstimate, Product]:
        made = as_asked(replace(front, design=design, target=target), words)
        return need_of(made), made

    ways = Ways(front, words)
    sharing = ways.of_core if words.is_core else ways.of_accelerator
    search = Fastest(alone, sharing, make, words.progress, ways.beyond)
    return search.of(front.design, front.target)


def alone(design: Design) -> Design:
    """The design whose operations share nothing; of least latency, the one of all multipliers."""
    return design if has_least_latency(design) else replace(design, ii=1, fold="none")


class Ways:
    """How a design could do with less, and at which intervals its part has the multipliers."""

    def __init__(self, front: Front, words: FixedFunctions) -> None:
        self.front, self.words = front, words
        self.beyond = cache(self._beyond)

    def of_accelerator(self, design: Design, target: Target) -> list[SharingChoice]:
        """Intervals: who is time-multiplexed follows from them."""
        from .intervals import slowest

        budget = replace(design, ii=None, multipliers=target.multipliers)

        def intervals() -> Sequence[int]:
            try:
                least = slowest(budget, target, self.words.pieces.pieces)
            except RobotError:  # more at any interval: the longest is the smallest
                least = LARGEST_INTERVAL
            return range(max(least, 2), LARGEST_INTERVAL + 1)

        return [SharingChoice("auto", 2, intervals)]

    def of_core(self, design: Design, target: Target) -> list[SharingChoice]:
        """Time-multiplexed limbs, the smallest of one interval; multipliers; time-multiplexed
        joints, the least exact."""
        from ..schedule.candidates import Candidates
        from ..schedule.round_plan import GATHERING

        def shared() -> Sequence[int]:
            return _intervals(self.words.whole[1], target)

        def in_turn() -> Sequence[int]:
            limbs = self.limbs
            if limbs is None:
                return ()
            count = len(limbs.copies)
            return [count * k for k in _intervals(limbs.template, target, count)]

        def visiting() -> Sequence[int]:
            if self.joints is None:
                return ()
            return Candidates(self.joints, target).leaner(target.multipliers, LARGEST_OF_JOINTS)

        def least() -> ResourceEstimate:
            return self.beyond(target) or _least_alone(self.words.whole[1], target)

        if has_least_latency(design):
            return [] if design.clock is not None else [SharingChoice("auto", 1, shared)]
        return [
            SharingChoice("limbs", 2, in_turn),
            SharingChoice("none", 2, shared, least),
            SharingChoice("joints", GATHERING + 1, visiting, inexact=lambda: self.inexact),
        ]

    @cached_property
    def limbs(self) -> FixedProgram | None:
        """The visits to one limb that stands for all; None where limbs are not time-multiplexed."""
        alike = "" if has_registers(self.front.design) else self.words.alike(partly=True)
        return None if isinstance(alike, str) else alike[1].pieces[CORE.stage].program

    @cached_property
    def joints(self) -> FixedProgram | None:
        """The visits to joints; None where joints are time-multiplexed only on request."""
        design = replace(self.front.design, ii=1)
        if not chooses_joints(design):
            return None
        try:
            if refused(design, JOINTS, formulation=formulation_of(design)):
                return None
            return self.words.program[0]
        except (RobotError, PrecisionError):
            return None

    @cached_property
    def inexact(self) -> str:
        """The worst coordinate of time-multiplexed joints, where it is off by too much to choose
        them."""
        if self.joints is None:
            return ""
        front = self.front
        known = bool(self.beyond(front.target))
        others = () if known else errors_in_graph(front, self.words.whole[1]).errors
        errors = errors_in_graph(front, self.joints.whole).errors
        return too_inexact(errors, others, front.design.error or ERROR)

    def _beyond(self, target: Target) -> ResourceEstimate | None:
        """The least that a core takes whose operations share nothing, where it is far too much."""
        design, size = self.front.design, sum(self.front.graph.operations().values())
        if (
            not self.words.is_core
            or size < MANY
            or has_least_latency(design)
            or design.error is not None
        ):
            return None
        least = _least_alone(self.words.roughly, target)
        return least if least.filled > FAR else None


def _least_alone(fixed: FixedGraph, target: Target) -> ResourceEstimate:
    """The least area of any plan in which only products share hardware: that of its additions."""
    return need(target, LARGEST_INTERVAL, 0, operations(fixed), [])


def _intervals(fixed: FixedGraph, target: Target, limbs: int = 1) -> Sequence[int]:
    """The intervals at which a part has the multipliers; a limb's, where so many are
    time-multiplexed."""
    try:
        least = shared_jobs(fixed, target).least_interval(target.multipliers)
    except ValueError:  # it takes more at any interval
        return ()
    return range(max(least, 1 if limbs > 1 else 2), LARGEST_INTERVAL // limbs + 1)
