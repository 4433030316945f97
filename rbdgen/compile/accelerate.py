"""From a robot to the accelerator of several functions: one graph, cut where functions part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..design.arrays import given_coordinates
from ..design.choices import GIVES, LARGEST_INTERVAL, MOST_SLOTS
from ..design.design import Design, as_fitted, is_left_open
from ..design.target import Target
from ..graph.fixed import FixedGraph, Format
from ..graph.held import Held
from ..graph.word import indices, kind_of, renamed
from ..passes.given import Given
from ..passes.pieces import Piece
from ..robot.model import RobotError
from ..schedule.limbs import LimbPlan
from ..schedule.plan import Plan
from ..schedule.units import shared_jobs
from ..tasks.routes import CALLED, CODES, stands_alone, visit_counts
from ..tasks.stages import Accelerator, Stage, constant
from ..tasks.visit import LIMBS, parse
from .accelerator_area import (
    accelerator_features,
    luts_of_sums,
    stage_luts,
    sums_apart,
)
from .columns import IN_COLUMNS, PRODUCT, in_columns, most_of
from .fitting import Need, Search, Way, need, too_large
from .flow import front_end
from .front import Front, Progress, is_large, refuse_still
from .inverse_columns import FORWARD, INVERSE, OF_FACTORS, inverse_in_columns
from .joint_stages import BY_JOINTS
from .limbs_in_turn import Pieces, in_turn, takes_turns
from .paces import slowest, stage_intervals
from .plans import alone, chooses_fold, every, refuse_joints, rounds
from .stage_pieces import StagePieces

FEWEST_SLOTS = 4
_NO_COLUMNS = (
    "columns of the product do not take turns: their words have one binary point, and of those no "
    "error can be asked for"
)


@dataclass(frozen=True, eq=False)
class Accelerated:
    """A robot, the graph of all that its accelerator can be asked for, and the accelerator."""

    front: Front
    accelerator: Accelerator
    notes: tuple[str, ...] = field(default=())
    held: Held = field(default_factory=dict)  # words in registers, unless its own

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
    if design.style == "latency":
        raise RobotError("style: latency is not for the accelerator, whose stages are pipelines")
    refuse_still(front)
    pieces = Pieces(front, progress)
    if not is_left_open(design):
        large = _of_large(front, pieces)
        made = large or _as_asked(front, pieces)
        _refuse_few_multipliers(made)
        if large is None and design.fit and too_large(_need(made)):
            made = _smaller(front, pieces, made)
        note = too_large(_need(made)) if design.fit else ""
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
        return _of_whole(front, words, ())
    turns = in_turn(front, words, partly=design.fold == "limbs")
    if not isinstance(turns, str):
        return _scheduled(front, words, turns.pieces, turns.intervals, turns.notes)
    if design.fold == "limbs":
        raise RobotError(f"{front.robot.name}: fold: limbs: {turns}")
    return _of_whole(front, words, (f"limbs do not take turns: {turns}",))


def _smaller(front: Front, words: Pieces, made: Accelerated) -> Accelerated:
    """The accelerator, or one in which joints take turns, in all stages that can be theirs or in
    those where they take fewer LUTs: whichever takes fewest by the area model. A note says what
    the others would take."""
    if not chooses_fold(front.design):
        return made
    try:
        other = of_joints(front, words)
        tried = {"with joints in turn": other}
        there, without = (stage_luts(a.accelerator, front.target) for a in (other, made))
        turns = [name for name in BY_JOINTS if name in there]
        own = [name for name in turns if there[name] < without.get(name, 0)]
        if own and own != turns:
            tried[f"with joints in turn in {', '.join(own)} alone"] = of_joints(front, words, own)
        for other in tried.values():
            _refuse_few_multipliers(other)
    except RobotError as error:
        return replace(made, notes=(*made.notes, f"joints do not take turns: {error}"))
    tried["without joints in turn"] = made
    needs = {name: _need(other) for name, other in tried.items()}
    few, *more = sorted(needs, key=lambda name: _luts(needs[name]))
    others = "; ".join(f"{name} it would take {needs[name]}" for name in more)
    note = f"made {few}, by the area model: {needs[few]}; {others}"
    return replace(tried[few], notes=(*tried[few].notes, note))


def _luts(need: Need) -> int:
    return need.cells["luts"] if need.cells else 0


def _of_large(front: Front, words: Pieces) -> Accelerated | None:
    """Of a large robot the accelerator with joints in turn, where there is no need to make the
    other one to know that it is larger: sums alone would take more in these stages.

    Where that is not known of one stage, it is made without, too, and the smaller is taken.
    """
    design = front.design
    if not (design.fit and chooses_fold(design) and is_large(front)):
        return None
    if not isinstance(in_turn(front, words, partly=False), str):  # limbs share additions, too
        return None
    try:
        made = of_joints(front, words)
        _refuse_few_multipliers(made)
        luts = stage_luts(made.accelerator, front.target)
        taken = {name: luts[name] for name in BY_JOINTS if name in luts}
        least = {name: luts_of_sums(n, front) for name, n in sums_apart(front.graph).items()}
        sure = [name for name in taken if taken[name] < least[name]]
        if not sure or sum(taken.values()) >= sum(least[name] for name in taken):
            return None
        others = [of_joints(front, words, sure)] if len(sure) < len(taken) else []
    except RobotError:
        return None
    note = (
        f"joints take turns by the area model: {', '.join(taken)} take about "
        f"{sum(taken.values())} LUTs; without, their sums alone take "
        f"{sum(least[name] for name in taken)}"
    )
    best = min([made, *others], key=lambda one: _luts(_need(one)))
    return replace(best, notes=(*best.notes, note))


def _of_whole(front: Front, words: Pieces, notes: Sequence[str]) -> Accelerated:
    """The accelerator in which no limbs take turns."""
    pieces = words.whole.pieces
    intervals = stage_intervals(front.design, front.target, pieces)
    return _scheduled(front, words, words.whole, intervals, notes)


def of_joints(front: Front, words: Pieces, stages: Collection[str] = BY_JOINTS) -> Accelerated:
    """The accelerator in which joints take turns wherever a stage of ``stages`` is theirs alone."""
    design = front.design
    refuse_joints(design, front.robot.name)
    staged = words.joints(stages, design)
    intervals = stage_intervals(design, front.target, staged.pieces)
    return _scheduled(front, words, staged, intervals, ())


def _scheduled(
    front: Front,
    words: Pieces,
    staged: StagePieces,
    intervals: dict[str, int],
    why: Sequence[str],
) -> Accelerated:
    """The accelerator of these pieces; ``why``: notes of who takes turns."""
    design, notes = front.design, [*why]
    staged, intervals = _inverse(front, staged, intervals, words, notes)
    staged, intervals = _columns(front, staged, intervals, words, notes)
    words.progress("schedule")
    stages = _stages(front, staged.pieces, intervals)
    notes += _about_joints(stages)
    functions = tuple(sorted(design.functions, key=CODES.__getitem__))
    results = {function: _results(function, stages) for function in functions}
    in_order = design.order == "issued"
    made = Accelerator(functions, stages, results, staged.inputs, FEWEST_SLOTS, in_order)
    made = replace(made, slots=design.slots or _slots(made))
    _refuse_no_inputs(front, made)
    return Accelerated(front, made, tuple(notes))


def _fastest(front: Front, words: Pieces) -> tuple[Design, Accelerated]:
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


def _searched(staged: StagePieces, words: Pieces) -> Callable[[], Given]:
    """Limits and samples of the robot's words, searched for when they are first asked for."""
    return lambda: staged.given or words.searched


def _inverse(
    front: Front,
    staged: StagePieces,
    intervals: dict[str, int],
    words: Pieces,
    notes: list[str],
) -> tuple[StagePieces, dict[str, int]]:
    """M⁻¹ column by column where its interval has room for the columns, and they save enough."""
    design = front.design
    by_turns = design.fold in ("auto", "joints") and design.multipliers is None
    if INVERSE not in staged.pieces or not by_turns or design.error is not None:
        return staged, intervals

    whole = intervals[INVERSE]
    found = inverse_in_columns(
        front, staged.pieces, _searched(staged, words), whole, words.progress
    )
    if found is None:
        return staged, intervals
    pieces, turn, note = found
    notes.append(note)
    turns = dict.fromkeys((INVERSE, FORWARD), turn)
    return replace(staged, pieces=pieces), {**intervals, OF_FACTORS: whole, **turns}


def _columns(
    front: Front,
    staged: StagePieces,
    intervals: dict[str, int],
    words: Pieces,
    notes: list[str],
) -> tuple[StagePieces, dict[str, int]]:
    """The product of matrices column by column where its interval has room for the columns."""
    design = front.design
    if design.fold not in ("auto", "joints") or PRODUCT not in staged.pieces:
        return staged, intervals
    whole = intervals[PRODUCT]
    if design.error is not None:
        if staged.pieces[PRODUCT].program is None:
            notes.append(_NO_COLUMNS)
        return staged, intervals

    searched = _searched(staged, words)
    found = in_columns(front, staged.pieces, searched, whole, most_of(front), words.progress)
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
    found = {}
    for name, piece in pieces.items():
        plan = _plan(design, name, piece, intervals[name], target)
        if plan is not None and piece.joints:  # of what its datapaths compute
            piece = replace(piece, fixed=plan.whole)
        found[name] = Stage(name, piece, plan, given, of_limbs)
    return found


def _about_joints(stages: Mapping[str, Stage]) -> list[str]:
    """A note of the stages in which joints take turns, if there are such."""
    turns = {name: s.plan.turns for name, s in stages.items() if s.plan and s.plan.turns}
    own = [
        f"{name} ({len(of.program.real.reads)} visits to {len(of.program.real.templates)} kinds of "
        f"datapaths in {of.count} rounds of {of.latency} cycles)"
        for name, of in turns.items()
        if of.what == "joints"
    ]
    if not own:
        return []
    return [f"joints take turns in {', '.join(own)}"]


def _plan(design: Design, name: str, piece: Piece, interval: int, target: Target) -> Plan | None:
    """None where there is nothing to do."""
    if constant(piece.fixed):
        return None
    if piece.joints:
        assert piece.program is not None
        try:
            at = replace(design, ii=interval, multipliers=None)
            return rounds(at, piece.program, target)[0]
        except RobotError as error:
            raise RobotError(f"fold: joints: stage {name}: {error}") from None
    if piece.program is None or not takes_turns(piece, interval):
        return every(interval, design, piece.fixed, shared_jobs(piece.fixed, target), target)
    one, limbs = piece.program.template, len(piece.program.copies)
    own = every(interval // limbs, design, one, shared_jobs(one, target), target)
    return LimbPlan(own, piece.program)


def _results(function: str, stages: Mapping[str, Stage]) -> tuple[str, ...]:
    """The names of a function's outputs: array by array, in the order of their indices."""
    alone = stands_alone({name: stage.piece.reads for name, stage in stages.items()})
    there = {o for s in visit_counts(function, stages, alone) for o in stages[s].outputs}
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
