"""Pieces of a graph scheduled at their intervals: an accelerator.

Whether joints are time-multiplexed in an accelerator that does not say so, by the area model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..design.arrays import given_coordinates, left_out, root_of
from ..design.choices import MOST_SLOTS
from ..design.design import Design
from ..design.functions import GIVES
from ..design.target import Target
from ..graph.word import indices, kind_of, renamed
from ..robot.model import RobotError
from ..schedule.limbs import in_limbs
from ..schedule.partition import Piece
from ..schedule.plan import Plan
from ..schedule.units import shared_jobs
from ..tasks.routes import CALLED, CODES, stands_alone, visit_counts
from ..tasks.stage import Stage, constant, of_limbs
from ..tasks.stages import Accelerator
from .accelerator_area import banks_in_block_ram, luts_of_sums, stage_luts
from .accelerator_sharing import Pieces, in_turn, stage_intervals, takes_turns
from .expected import too_inexact_beside
from .front import Front, is_large
from .inverse_factors import INVERSE
from .matrix_rows import PRODUCT, InColumns, inverse_in_columns, product_in_columns
from .plans import chooses_fold, every, refuse_joints, rounds
from .product import Product, luts_of, need_of
from .stage_pieces import BY_JOINTS, StagePieces, sums_apart

FEWEST_SLOTS = 4
_NO_COLUMNS = (
    "columns of the product are not time-multiplexed: their words have one binary point, and of "
    "those no error can be asked for"
)


def of_whole(front: Front, words: Pieces, notes: Sequence[str]) -> Product:
    """The accelerator in which no limbs are time-multiplexed."""
    pieces = words.whole.pieces
    intervals = stage_intervals(front.design, front.target, pieces)
    return scheduled(front, words, words.whole, intervals, notes)


def of_joints(front: Front, words: Pieces, stages: Collection[str] = BY_JOINTS) -> Product:
    """The accelerator in which joints are time-multiplexed wherever a stage of ``stages`` is theirs
    alone."""
    design = front.design
    refuse_joints(design, front.robot.name)
    staged = words.joints(stages, design)
    intervals = stage_intervals(design, front.target, staged.pieces)
    return scheduled(front, words, staged, intervals, ())


def scheduled(
    front: Front,
    words: Pieces,
    staged: StagePieces,
    intervals: dict[str, int],
    why: Sequence[str],
) -> Product:
    """The accelerator of these pieces; ``why``: notes of who is time-multiplexed."""
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
    made = replace(made, blocks=banks_in_block_ram(made, front.target))
    if made.blocks:
        banks = ", ".join(f"{sender} to {reader}" for sender, reader in sorted(made.blocks))
        notes.append(f"words between stages are in block RAM, and come a cycle later: {banks}")
    _refuse_no_inputs(front, made)
    return Product(front, made, tuple(notes))


def _inverse(
    front: Front, staged: StagePieces, intervals: dict[str, int], words: Pieces, notes: list[str]
) -> tuple[StagePieces, dict[str, int]]:
    """M⁻¹ column by column where its interval has room for the columns, and they save enough."""
    design = front.design
    by_turns = design.fold in ("auto", "joints") and design.multipliers is None
    by_turns = by_turns and root_of(design) != "each"  # whose factors differ by task
    if INVERSE not in staged.pieces or not by_turns or design.error is not None:
        return staged, intervals
    return _in_turns(inverse_in_columns, INVERSE, front, staged, intervals, words, notes)


def _columns(
    front: Front, staged: StagePieces, intervals: dict[str, int], words: Pieces, notes: list[str]
) -> tuple[StagePieces, dict[str, int]]:
    """The product of matrices column by column where its interval has room for the columns."""
    design = front.design
    if design.fold not in ("auto", "joints") or PRODUCT not in staged.pieces:
        return staged, intervals
    if design.error is not None:
        if staged.pieces[PRODUCT].program is None:
            notes.append(_NO_COLUMNS)
        return staged, intervals
    return _in_turns(product_in_columns, PRODUCT, front, staged, intervals, words, notes)


def _in_turns(
    in_columns: InColumns,
    stage: str,
    front: Front,
    staged: StagePieces,
    intervals: dict[str, int],
    words: Pieces,
    notes: list[str],
) -> tuple[StagePieces, dict[str, int]]:
    """The pieces as they come ``in_columns``, where they do, noted."""
    found = in_columns(
        front,
        staged.pieces,
        lambda: staged.given or words.searched,
        intervals[stage],
        words.progress,
    )
    if found is None:
        return staged, intervals
    pieces, turns, note = found
    notes.append(note)
    return replace(staged, pieces=pieces), {**intervals, **turns}


def _stages(
    front: Front, pieces: Mapping[str, Piece], intervals: Mapping[str, int]
) -> dict[str, Stage]:
    """Each piece scheduled at its own interval."""
    design, target = front.design, front.target
    given = given_coordinates(design, front.robot)
    limbs, found = of_limbs(pieces), {}
    for name, piece in pieces.items():
        plan = _plan(design, name, piece, intervals[name], target)
        if plan is not None and piece.joints:  # of what its datapaths compute
            piece = replace(piece, fixed=plan.whole)
        found[name] = Stage(name, piece, plan, given, limbs)
    return found


def _about_joints(stages: Mapping[str, Stage]) -> list[str]:
    """A note of the stages in which joints are time-multiplexed, if there are such."""
    turns = {name: s.plan.turns for name, s in stages.items() if s.plan and s.plan.turns}
    own = [
        f"{name} ({len(of.program.real.reads)} visits to {len(of.program.real.templates)} kinds of "
        f"datapaths in {of.count} rounds of {of.latency} cycles)"
        for name, of in turns.items()
        if of.what == "joints"
    ]
    if not own:
        return []
    return [f"joints are time-multiplexed in {', '.join(own)}"]


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
    return in_limbs(own, piece.program)


def _results(function: str, stages: Mapping[str, Stage]) -> tuple[str, ...]:
    """The names of a function's outputs: array by array, in the order of their indices."""
    alone = stands_alone({name: stage.piece.reads for name, stage in stages.items()})
    there = {o for s in visit_counts(function, stages, alone) for o in stages[s].outputs}
    gives = GIVES[function]
    own = {CALLED.get(kind, kind): kind for kind in gives}
    first = left_out(function)
    found = [
        renamed(o, own[kind_of(o)]) for o in there if kind_of(o) in own and min(indices(o)) >= first
    ]
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


def refuse_few_multipliers(made: Product) -> None:
    """RobotError for a part that is too small for what was asked for."""
    design, target, accelerator = made.design, made.front.target, made.accelerator
    if accelerator.multipliers > target.multipliers:
        slowest = max(stage.interval for stage in accelerator.stages.values())
        raise RobotError(
            f"ii: {design.ii or slowest} takes {accelerator.multipliers} hardware multipliers, and "
            f"{target.part} has {target.multipliers}; give --multipliers {target.multipliers}, a "
            "longer --ii, or fewer functions"
        )


def smaller(front: Front, words: Pieces, made: Product) -> Product:
    """The accelerator, or one in which joints are time-multiplexed, in all stages that can be
    theirs or in those where they take fewer LUTs: whichever takes fewest by the area model, of
    those that fit and are not `too_inexact`, or, if none is, of all. A note says what each takes,
    and leaves."""
    if not chooses_fold(front.design):
        return made
    try:
        other = of_joints(front, words)
        tried = {"with time-multiplexed joints": other}
        there, without = (stage_luts(a.accelerator, front.target) for a in (other, made))
        turns = [name for name in BY_JOINTS if name in there]
        own = [name for name in turns if there[name] < without.get(name, 0)]
        if own and own != turns:
            tried[f"with time-multiplexed joints in {', '.join(own)} alone"] = of_joints(
                front, words, own
            )
        for other in tried.values():
            refuse_few_multipliers(other)
    except RobotError as error:
        return replace(made, notes=(*made.notes, f"joints are not time-multiplexed: {error}"))
    tried["without time-multiplexed joints"] = made
    needs = {name: need_of(other) for name, other in tried.items()}
    off = {n: too_inexact_beside(other, made) for n, other in tried.items() if other is not made}
    exact = [name for name in tried if not off.get(name) and needs[name].fits]
    few = min(exact or tried, key=lambda name: luts_of(tried[name]) or 0)
    more = [name for name in tried if name != few]
    leaves = {name: f", and leaves {inexact}" if inexact else "" for name, inexact in off.items()}
    others = "; ".join(f"{n} it would take {needs[n]}{leaves.get(n, '')}" for n in more)
    note = f"made {few}, by the area model: {needs[few]}{leaves.get(few, '')}; {others}"
    return replace(tried[few], notes=(*tried[few].notes, note))


def of_large(front: Front, words: Pieces) -> Product | None:
    """The accelerator of a large robot with shared joint datapaths; None if the choice is open.

    The other accelerator is not compiled where the sums in the same stages alone would take more
    LUTs. Where that is unknown of one stage, it is compiled without sharing, too, and the smaller
    one is taken.
    """
    design = front.design
    if not (design.fit and chooses_fold(design) and is_large(front)):
        return None
    if not isinstance(in_turn(front, words, partly=False), str):  # limbs share additions, too
        return None
    try:
        made = of_joints(front, words)
        refuse_few_multipliers(made)
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
        f"joints are time-multiplexed by the area model: {', '.join(taken)} take about "
        f"{sum(taken.values())} LUTs; without, their sums alone take "
        f"{sum(least[name] for name in taken)}"
    )
    best = min([made, *others], key=lambda one: luts_of(one) or 0)
    return replace(best, notes=(*best.notes, note))
