"""An accelerator of the pieces of its stages: their plans, columns in turn, slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..design.arrays import given_coordinates, left_out, root_of
from ..design.choices import MOST_SLOTS
from ..design.functions import GIVES
from ..graph.word import indices, kind_of, renamed
from ..robot.model import RobotError
from ..schedule.partition import Piece, StagePieces
from ..tasks.latency import usual_latency
from ..tasks.routes import CALLED, CODES, stands_alone, visit_counts
from ..tasks.stage import Stage, constant, of_limbs
from ..tasks.stages import Accelerator
from .accelerator_area import banks_in_block_ram
from .fixed_functions import FixedFunctions
from .front import Front
from .intervals import takes_turns
from .inverse_factors import INVERSE
from .matrix_rows import PRODUCT, InColumns, inverse_in_columns, product_in_columns
from .plans import stage_plan
from .product import Product

FEWEST_SLOTS = 4
_NO_COLUMNS = (
    "columns of the product are not time-multiplexed: their words have one binary point, and of "
    "those no error can be asked for"
)


def accelerator_of(
    front: Front,
    words: FixedFunctions,
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
    front: Front,
    staged: StagePieces,
    intervals: dict[str, int],
    words: FixedFunctions,
    notes: list[str],
) -> tuple[StagePieces, dict[str, int]]:
    """M⁻¹ column by column where its interval has room for the columns, and they save enough."""
    design = front.design
    by_turns = design.fold in ("auto", "joints") and design.multipliers is None
    by_turns = by_turns and root_of(design) != "each"  # whose factors differ by task
    if INVERSE not in staged.pieces or not by_turns or design.error is not None:
        return staged, intervals
    return _in_turns(inverse_in_columns, INVERSE, front, staged, intervals, words, notes)


def _columns(
    front: Front,
    staged: StagePieces,
    intervals: dict[str, int],
    words: FixedFunctions,
    notes: list[str],
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
    words: FixedFunctions,
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
    limbs_of, found = of_limbs(pieces), {}
    for name, piece in pieces.items():
        plan = None
        if not constant(piece.fixed):
            turned = not piece.joints and takes_turns(piece, intervals[name])
            limbs = len(piece.program.copies) if piece.program and turned else 1
            try:
                plan, _ = stage_plan(design, piece, target, intervals[name], limbs)
            except RobotError as error:
                if not piece.joints:
                    raise
                raise RobotError(f"fold: joints: stage {name}: {error}") from None
        if plan is not None and piece.joints:  # of what its datapaths compute
            piece = replace(piece, fixed=plan.whole)
        found[name] = Stage(name, piece, plan, given, limbs_of)
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
        -(-usual_latency(accelerator, f) // accelerator.interval(f)) for f in accelerator.functions
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
