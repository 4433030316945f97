"""Sharing in accelerators: intervals of stages, time-multiplexed limbs.

How often each stage of an accelerator takes a task.

Limbs that are time-multiplexed in an accelerator: which, in which stages, and why others do
not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property

from ..design.arrays import root_of
from ..design.checks import mix
from ..design.choices import LARGEST_INTERVAL
from ..design.design import Design
from ..design.target import Target
from ..robot.limb_unification import cure
from ..robot.model import RobotError
from ..schedule.candidates import Candidates
from ..schedule.partition import Piece
from ..schedule.units import shared_jobs
from ..system.messages import Progress
from ..tasks.routes import ROLLOUTS, parse, stands_alone, visit_counts
from ..tasks.stage import constant
from ..words.input_domain import InputDomain
from .front import Front
from .limbs.names import LimbError
from .limbs.pieces import cut_limbs, split_limbs
from .limbs.split import Split
from .stage_pieces import StagePieces, by_columns, cut_whole, pieces_of_joints
from .words import sample_inputs, with_extremes


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


class Pieces:
    """The graph of a front in pieces, cut once however often they are scheduled."""

    def __init__(self, front: Front, progress: Progress) -> None:
        self.front, self.progress = front, progress
        self._alike: dict[bool, tuple[Split, StagePieces] | str] = {}
        self._joints: dict[tuple[frozenset[str], frozenset[str]], StagePieces] = {}

    @cached_property
    def given(self) -> InputDomain:
        """Limits and samples of the inputs."""
        return sample_inputs(self.front)

    @cached_property
    def searched(self) -> InputDomain:
        """The same for what is made in parts."""
        return with_extremes(self.front, self.given, self.progress)

    @cached_property
    def whole(self) -> StagePieces:
        """The robot's."""
        return cut_whole(self.front, self.given, self.progress)

    def joints(self, stages: Collection[str], design: Design) -> StagePieces:
        """The robot's with time-multiplexed joints in some ``stages`` of a design that differs from
        the front's in how often a task comes; RobotError where they cannot be time-multiplexed."""
        columns = by_columns(self.front, design)
        key = frozenset(stages), frozenset(columns)
        if key not in self._joints:
            self._joints[key] = pieces_of_joints(
                self.front, self.searched, self.progress, stages, columns
            )
        return self._joints[key]

    def alike(self, partly: bool) -> tuple[Split, StagePieces] | str:
        """The limbs that are alike, ``partly`` or in all that their joints feel, and the pieces, of
        which one limb's stand for all; or why none are.

        The robot consists of them, or they stand on a trunk that moves, or that others stand on.
        """
        if partly not in self._alike:
            self._alike[partly] = self._found(partly)
        return self._alike[partly]

    def _found(self, partly: bool) -> tuple[Split, StagePieces] | str:
        front = self.front
        if root_of(front.design) == "each":
            return "what their joints feel of the base differs by task (root: each)"
        try:
            limbs = split_limbs(front, partly)
            given = self.given if limbs.alone else self.searched
            return limbs, cut_limbs(front, limbs, given, self.progress)
        except LimbError as error:
            return str(error)


def in_turn(front: Front, words: Pieces, partly: bool) -> InTurn | str:
    """Limbs that are time-multiplexed in some stage; or why none do. ``partly``: as for
    `Pieces.alike`."""
    alike = words.alike(partly)
    if isinstance(alike, str):
        return alike + cure(front.canonical)
    limbs, staged = alike
    pieces, counts = staged.pieces, [len(own.reads) for own in limbs.groups]
    intervals = stage_intervals(front.design, front.target, pieces, math.lcm(*counts))
    note = _about_turns(pieces, intervals, counts)
    if not note:
        return f"no stage's interval is a multiple of the {_either(counts)} limbs"
    others = (f"other limbs are not time-multiplexed: {why}" for why in limbs.apart)
    return staged, intervals, (note, *others)


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
