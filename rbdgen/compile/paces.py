"""How often each stage of an accelerator takes a task."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ..design.checks import mix
from ..design.choices import LARGEST_INTERVAL
from ..design.design import Design
from ..design.target import Target
from ..robot.model import RobotError
from ..schedule.candidates import Candidates
from ..schedule.partition import Piece
from ..schedule.units import shared_jobs
from ..tasks.routes import ROLLOUTS, stands_alone, visit_counts
from ..tasks.visit import parse


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
