"""From a robot to the accelerator of several functions: one graph, cut where functions part."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..design.choices import GIVES, LARGEST_INTERVAL, MOST_SLOTS
from ..design.design import Design, as_fitted, formulation_of, given_coordinates, is_left_open
from ..design.target import Target
from ..dynamics.interface import random_inputs
from ..graph.fixed import FixedGraph, Format
from ..graph.word import indices, kind_of, renamed
from ..passes.given import Given
from ..passes.limbs import LimbError, find_limbs
from ..passes.pieces import Piece
from ..robot.equal_limbs import cure
from ..robot.model import RobotError
from ..schedule.limbs import LimbPlan
from ..schedule.plan import Plan
from ..schedule.units import shared_jobs
from ..tasks.routes import CALLED, CODES, visit_counts
from ..tasks.stages import Accelerator, Stage, constant
from ..tasks.visit import LIMBS, parse
from .accelerator_area import accelerator_features
from .columns import IN_COLUMNS, MORE, PRODUCT, in_columns
from .fitting import Need, Search, Way, need, too_large
from .flow import front_end
from .front import Front, Progress, refuse_still
from .hips import cut_hips
from .paces import slowest, stage_intervals
from .plans import alone, chooses_fold, every
from .stage_pieces import StagePieces, cut_limbs, cut_whole
from .words import LIMB_SAMPLES, LIMB_SEED, sample_inputs, with_extremes

FEWEST_SLOTS = 4


@dataclass(frozen=True, eq=False)
class Accelerated:
    """A robot, the graph of all that its accelerator can be asked for, and the accelerator."""

    front: Front
    accelerator: Accelerator
    notes: tuple[str, ...] = field(default=())

    @property
    def design(self) -> Design:
        """The choices, the functions among them that tasks may ask for."""
        return self.front.design

    @property
    def graphs(self) -> dict[str, FixedGraph]:
        """Stage → its graph."""
        return {name: stage.fixed for name, stage in self.accelerator.stages.items()}

    @property
    def formats(self) -> Mapping[str, Mapping[str, Format]]:
        """Function → the words that its task brings."""
        return self.accelerator.formats


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
    _check(design)
    refuse_still(front)
    pieces = _Pieces(front, progress)
    if not is_left_open(design):
        made = _as_asked(front, pieces)
        _refuse_few_multipliers(made)
        note = too_large(_need(made)) if design.fit else ""
        return replace(made, notes=(*made.notes, note)) if note else made
    if design.fitted:
        made = _as_asked(replace(front, design=as_fitted(design)), pieces)
    else:
        design, made = _fastest(front, pieces)
    assert design.fitted is not None
    notes = (*made.notes, design.fitted.note)
    return replace(made, front=replace(front, design=design), notes=notes)


def _as_asked(front: Front, words: _Pieces) -> Accelerated:
    """The accelerator that a design asks for; where it does not say, of a task every cycle."""
    design, notes = front.design, list[str]()
    staged, intervals = _pieces(front, words, notes)
    staged, intervals = _columns(front, staged, intervals, words, notes)
    words.progress("schedule")
    stages = _stages(front, staged.pieces, intervals)
    functions = tuple(sorted(design.functions, key=CODES.__getitem__))
    results = {function: _results(function, stages) for function in functions}
    in_order = design.order == "issued"
    made = Accelerator(functions, stages, results, staged.inputs, FEWEST_SLOTS, in_order)
    made = replace(made, slots=design.slots or _slots(made))
    _refuse_no_inputs(front, made)
    return Accelerated(front, made, tuple(notes))


def _fastest(front: Front, words: _Pieces) -> tuple[Design, Accelerated]:
    """The fastest accelerator that fits the part, else the smallest; the design says so."""

    def make(design: Design, target: Target) -> tuple[Need, Accelerated]:
        made = _as_asked(replace(front, design=design, target=target), words)
        return _need(made), made

    def ways(design: Design, target: Target) -> list[Way]:
        budget = replace(design, ii=None, multipliers=target.multipliers)

        def intervals() -> Sequence[int]:
            try:
                least = slowest(budget, target, words.whole.pieces)
            except RobotError:  # more at any interval: the longest is the smallest
                least = LARGEST_INTERVAL
            return range(max(least, 2), LARGEST_INTERVAL + 1)

        return [Way("auto", 2, intervals)]

    return Search(alone, ways, make, words.progress).fastest(front.design, front.target)


def _need(made: Accelerated) -> Need:
    """The resources that the accelerator takes of its part."""
    accelerator = made.accelerator
    plans = [stage.plan for stage in accelerator.stages.values() if stage.plan]
    return need(
        made.front.target,
        made.design.ii or max(stage.interval for stage in accelerator.stages.values()),
        accelerator.multipliers,
        accelerator_features(accelerator),
        [plan.binding for plan in plans],
    )


class _Pieces:
    """The graph of a front in pieces, cut once however often they are scheduled."""

    def __init__(self, front: Front, progress: Progress) -> None:
        self.front, self.progress = front, progress

    @cached_property
    def given(self) -> Given:
        """Limits and samples of the inputs."""
        return sample_inputs(self.front)

    @cached_property
    def searched(self) -> Given:
        """The same for what is made in parts."""
        return with_extremes(self.front, self.given, self.progress)

    @cached_property
    def whole(self) -> StagePieces:
        """The robot's."""
        return cut_whole(self.front, self.given, self.progress)

    @cached_property
    def alike(self) -> tuple[tuple[int, ...], StagePieces, tuple[str, ...]] | str:
        """How many limbs are alike in each group, the pieces, of which one limb's stand for all,
        and why others do not take turns; or why none do.

        The robot consists of them, or they stand on a trunk that moves, or that others stand on.
        """
        front = self.front
        anything = random_inputs(front.canonical, front.graph.inputs, LIMB_SAMPLES, LIMB_SEED)
        try:
            limbs = find_limbs(front.graph, anything)
        except LimbError as error:
            why = str(error)
        else:
            pieces = cut_limbs(front, limbs, self.given, self.progress)
            return (len(limbs.reads),), pieces, ()
        if formulation_of(front.design) == "logarithmic":
            return f"{why}; sums in one frame are not cut where limbs meet a trunk"
        try:
            hips, pieces = cut_hips(front, self.searched, self.progress)
            return tuple(len(limbs.reads) for limbs in hips.groups), pieces, hips.apart
        except LimbError as error:
            return f"{why}; {error}"


def _pieces(front: Front, words: _Pieces, notes: list[str]) -> tuple[StagePieces, dict[str, int]]:
    """Pieces and their intervals: of limbs that are alike where they take turns in any stage."""
    design = front.design
    if design.fold == "limbs" or chooses_fold(design):
        alike = words.alike
        if isinstance(alike, str):
            why = alike + cure(front.canonical)
        else:
            counts, staged, apart = alike
            intervals = stage_intervals(design, front.target, staged.pieces, math.lcm(*counts))
            if note := _about_turns(staged.pieces, intervals, counts):
                notes.append(note)
                notes += [f"other limbs do not take turns: {why}" for why in apart]
                return staged, intervals
            why = f"no stage's interval is a multiple of the {_either(counts)} limbs"
        if design.fold == "limbs":
            raise RobotError(f"{front.robot.name}: fold: limbs: {why}")
        notes.append(f"limbs do not take turns: {why}")
    return words.whole, stage_intervals(design, front.target, words.whole.pieces)


def _columns(
    front: Front,
    staged: StagePieces,
    intervals: dict[str, int],
    words: _Pieces,
    notes: list[str],
) -> tuple[StagePieces, dict[str, int]]:
    """The product of matrices column by column where its interval has room for the columns."""
    design = front.design
    if design.fold != "auto" or PRODUCT not in staged.pieces:
        return staged, intervals
    most = MORE if design.multipliers is None else 1  # times those that are shared
    whole = intervals[PRODUCT]
    found = in_columns(front, staged.pieces, words.searched, whole, most, words.progress)
    if found is None:
        return staged, intervals
    pieces, shape = found
    in_turn = IN_COLUMNS if IN_COLUMNS in pieces else PRODUCT
    graphs = [piece.fixed.graph for name, piece in pieces.items() if name in (PRODUCT, in_turn)]
    program = pieces[in_turn].program
    assert program is not None
    graphs[0] = program.template.graph
    additions = sum(graph.operations()["add"] for graph in graphs)
    before = staged.pieces[PRODUCT].fixed.graph.operations()["add"]
    notes.append(
        f"columns of a product take turns in {in_turn}: {shape.turns} times {shape.parallel}, with "
        f"dot products of {shape.terms} entries; {additions} of {before} additions"
    )
    return replace(staged, pieces=pieces), {**intervals, in_turn: shape.interval}


def _takes_turns(piece: Piece, interval: int) -> bool:
    """Whether a piece at an interval is one limb's datapath, once for each of its limbs."""
    made = piece.program
    return made is not None and not constant(made.template) and interval % _visits(piece) == 0


def _visits(piece: Piece) -> int:
    """How many limbs a piece is of."""
    return len(piece.program.copies) if piece.program else 1


def _either(counts: Sequence[int]) -> str:
    return " or ".join(map(str, dict.fromkeys(counts)))


def _about_turns(
    pieces: Mapping[str, Piece], intervals: Mapping[str, int], limbs: Sequence[int]
) -> str:
    """Which stages the limbs take turns in, so many in each group; empty if in none."""
    there = [name for name, piece in pieces.items() if not constant(piece.fixed)]
    turns = [name for name in there if _takes_turns(pieces[name], intervals[name])]
    if not turns:
        return ""
    additions = {name: pieces[name].fixed.graph.operations()["add"] for name in turns}
    built = {name: n // _visits(pieces[name]) for name, n in additions.items()}
    note = (
        f"{' and '.join(map(str, limbs))} limbs that are alike take turns in the datapaths of one: "
        f"{', '.join(turns)}; {sum(built.values())} of {sum(additions.values())} additions"
    )
    others = [f"{name} (interval {intervals[name]})" for name in there if name not in turns]
    return note + (f"; not in {', '.join(others)}" if others else "")


def _stages(
    front: Front, pieces: Mapping[str, Piece], intervals: Mapping[str, int]
) -> dict[str, Stage]:
    """Each piece scheduled at its own interval."""
    design, target = front.design, front.target
    given = given_coordinates(design, front.robot)
    of_limbs = {
        output: parse(name).part
        for name, piece in pieces.items()
        if parse(name).part in LIMBS
        for output in piece.fixed.graph.outputs
    }
    return {
        name: Stage(name, piece, _plan(design, piece, intervals[name], target), given, of_limbs)
        for name, piece in pieces.items()
    }


def _plan(design: Design, piece: Piece, interval: int, target: Target) -> Plan | None:
    """None where there is nothing to do."""
    if constant(piece.fixed):
        return None
    if piece.program is None or not _takes_turns(piece, interval):
        return every(interval, design, piece.fixed, shared_jobs(piece.fixed, target), target)
    one, limbs = piece.program.template, len(piece.program.copies)
    own = every(interval // limbs, design, one, shared_jobs(one, target), target)
    return LimbPlan(own, piece.program)


def _check(design: Design) -> None:
    """RobotError for choices that the accelerator cannot follow."""
    for key, what in (("style", "latency"), ("fold", "joints")):
        if getattr(design, key) == what:
            raise RobotError(
                f"{key}: {what} is not for the accelerator, whose stages are pipelines"
            )


def _results(function: str, stages: Mapping[str, Stage]) -> tuple[str, ...]:
    """The names of a function's outputs: array by array, in the order of their indices."""
    there = {o for s in visit_counts(function, stages) for o in stages[s].outputs}
    gives = GIVES[function]
    own = {CALLED.get(kind, kind): kind for kind in gives}
    found = [renamed(o, own[kind_of(o)]) for o in there if kind_of(o) in own]
    return tuple(sorted(found, key=lambda o: (gives.index(kind_of(o)), indices(o))))


def _slots(accelerator: Accelerator) -> int:
    """The fewest slots, a power of two, whose tasks keep the stages of any function busy."""
    under_way = max(
        -(-accelerator.usual_latency(f) // accelerator.interval(f)) for f in accelerator.functions
    )
    return min(max(1 << (under_way - 1).bit_length(), FEWEST_SLOTS), MOST_SLOTS)


def _refuse_no_inputs(front: Front, accelerator: Accelerator) -> None:
    """RobotError for a function without inputs."""
    for function, inputs in accelerator.formats.items():
        if not inputs:
            raise RobotError(
                f"{front.robot.name}: accelerator: {function} is the same in every state, so there "
                "is nothing to compute; leave it out with --function"
            )


def _refuse_few_multipliers(made: Accelerated) -> None:
    """RobotError for a part that is too small for what was asked for."""
    design, target, accelerator = made.design, made.front.target, made.accelerator
    if accelerator.multipliers > target.multipliers:
        slowest = max(stage.interval for stage in accelerator.stages.values())
        raise RobotError(
            f"ii: {design.ii or slowest} takes {accelerator.multipliers} hardware multipliers, and "
            f"{target.part} has {target.multipliers}; give --multipliers {target.multipliers}, a "
            "longer --ii, or fewer functions"
        )
