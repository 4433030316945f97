"""How often each stage takes a task, and in which of them limbs are time-multiplexed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from ..design.checks import mix
from ..design.choices import LARGEST_INTERVAL
from ..design.design import Design
from ..design.target import Target
from ..robot.limb_unification import cure
from ..robot.model import RobotError
from ..schedule.candidates import Candidates
from ..schedule.partition import Piece, StagePieces
from ..schedule.units import shared_jobs
from ..tasks.routes import CORE, ROLLOUTS, parse, stands_alone, visit_counts
from ..tasks.stage import constant
from .fixed_functions import FixedFunctions
from .front import Front
from .plans import least_interval, too_often


def stage_intervals(
    design: Design, target: Target, pieces: Mapping[str, Piece], limbs: int = 1
) -> dict[str, int]:
    """Each stage's initiation interval, so that none waits for another.

    Once in ``design.ii`` cycles any function alone; or all tasks of ``design.mix`` together. A
    stage that is visited more often has that much less. Sines are made as often as τ.
    """
    return _at(slowest(design, target, pieces, limbs), _most(design, pieces))


def _at(whole: int, most: Mapping[str, int]) -> dict[str, int]:
    """Intervals of stages of which each is visited so many times in ``whole`` cycles."""
    return {name: max(1, whole // count) for name, count in most.items()}


def _most(design: Design, pieces: Mapping[str, Piece]) -> dict[str, int]:
    """How often each stage is visited by one task, or by all of the mix."""
    alone = stands_alone({name: piece.reads for name, piece in pieces.items()})
    visited = {f: visit_counts(f, pieces, alone) for f in design.functions}
    for function in visited.keys() & ROLLOUTS.keys():  # each turn of a rollout is as a task
        visited[function] = dict.fromkeys(visited[function], 1)
    if design.mix is None:
        most = {name: max(own.get(name, 0) for own in visited.values()) for name in pieces}
    else:
        shares = mix(design.mix)
        most = {n: sum(k * visited[f].get(n, 0) for f, k in shares.items()) for n in pieces}
        most = {name: max(count, 1) for name, count in most.items()}
    sines = [name for name in pieces if parse(name).step == "trig"]
    return most | {name: max(most[name], most.get("rnea", 1)) for name in sines}


def slowest(design: Design, target: Target, pieces: Mapping[str, Piece], limbs: int = 1) -> int:
    """The interval of the design: what is asked for, or the shortest within the multipliers.

    Where ``limbs`` are to be time-multiplexed, and nobody says how often, each stage is one limb's
    at least.
    """
    most = _most(design, pieces)
    step = limbs if design.fold == "limbs" else 1
    if design.multipliers is None:
        return design.ii or (step * max(most.values()) if step > 1 else 1)
    taken = {name: _multipliers(piece, target) for name, piece in pieces.items()}

    def multipliers(whole: int) -> float:
        return sum(taken[n](k) for n, k in _at(whole, most).items())

    for whole in range(step, LARGEST_INTERVAL + 1, step):
        if multipliers(whole) <= design.multipliers:
            return whole
    raise RobotError(
        f"multipliers: {design.multipliers} are too few for these functions: at one task in "
        f"{LARGEST_INTERVAL} cycles they take {multipliers(LARGEST_INTERVAL)}"
    )


def _multipliers(piece: Piece, target: Target) -> Callable[[int], float]:
    """Hardware multipliers of a piece by its interval; infinite where that is too short."""
    if not piece.joints:
        return shared_jobs(piece.fixed, target).multipliers
    assert piece.program is not None
    ways = Candidates(piece.program, target)

    def of_joints(interval: int) -> float:
        way = ways.leanest(interval, target.multipliers)
        return math.inf if way is None else way.multipliers

    return of_joints


# pieces and their intervals where limbs are time-multiplexed, and notes of who does
InTurn = tuple[StagePieces, dict[str, int], tuple[str, ...]]


def in_turn(front: Front, words: FixedFunctions, partly: bool) -> InTurn | str:
    """Limbs that are time-multiplexed in some stage; or why none do. ``partly``: as for
    `FixedFunctions.alike`."""
    alike = words.alike(partly)
    if isinstance(alike, str):
        return alike + cure(front.canonical)
    limbs, staged = alike
    if words.is_core:
        return _core_in_turn(front, staged)
    pieces, counts = staged.pieces, [len(own.reads) for own in limbs.groups]
    intervals = stage_intervals(front.design, front.target, pieces, math.lcm(*counts))
    note = _about_turns(pieces, intervals, counts)
    if not note:
        return f"no stage's interval is a multiple of the {_either(counts)} limbs"
    others = (f"other limbs are not time-multiplexed: {why}" for why in limbs.apart)
    return staged, intervals, (note, *others)


def _core_in_turn(front: Front, staged: StagePieces) -> InTurn | str:
    """The same in a core.

    A limb's datapath needs no multiplexers between limbs, so it is taken whenever it gives the
    interval that is asked for, or fits the budget at least as often as sharing units would.
    """
    design, target, program = front.design, front.target, staged.pieces[CORE.stage].program
    assert program is not None
    fixed, limbs = program.template, len(program.copies)
    jobs = shared_jobs(fixed, target)
    asked = design.fold == "limbs"
    budget = design.multipliers or target.multipliers
    if design.multipliers is not None:
        interval = least_interval(jobs, budget, target)
    elif design.ii is None:
        interval = 1
    elif design.ii % limbs:
        if asked:
            raise RobotError(
                f"ii: {design.ii} is no multiple of the {limbs} limbs that are time-multiplexed"
            )
        return f"{design.ii} is no multiple of the {limbs} limbs"
    else:
        interval = design.ii // limbs
    if interval > 1 and jobs.multipliers(interval) > budget:
        least = least_interval(jobs, budget, target)
        raise too_often(interval * limbs, least * limbs, target, budget)
    one, all_of = fixed.graph.operations(), front.graph.operations()
    if not asked and design.multipliers is not None:
        sharing = -(-all_of["mul"] // design.multipliers)  # its interval, about
        if interval * limbs > sharing:
            return "shared products are faster within the budget"
    note = (
        f"{limbs} limbs that are alike are time-multiplexed in the datapath of one: {one['mul']} "
        f"of {all_of['mul']} products, {one['add']} additions where sharing multipliers alone "
        f"would keep about {limbs * one['add']}, and no multiplexers between limbs"
    )
    return staged, {CORE.stage: interval * limbs}, (note,)


def takes_turns(piece: Piece, interval: int) -> bool:
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
    """Which stages the limbs are time-multiplexed in, so many in each group; empty if in none."""
    there = [name for name, piece in pieces.items() if not constant(piece.fixed)]
    turns = [name for name in there if takes_turns(pieces[name], intervals[name])]
    if not turns:
        return ""
    additions = {name: pieces[name].fixed.graph.operations()["add"] for name in turns}
    built = {name: n // _visits(pieces[name]) for name, n in additions.items()}
    note = (
        f"{' and '.join(map(str, limbs))} limbs that are alike are time-multiplexed in the "
        f"datapaths of one: {', '.join(turns)}; {sum(built.values())} of "
        f"{sum(additions.values())} additions"
    )
    others = [f"{name} (interval {intervals[name]})" for name in there if name not in turns]
    return note + (f"; not in {', '.join(others)}" if others else "")
