"""Limbs that are time-multiplexed in an accelerator: which, in which stages, and why others do
not."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from ..design.design import Design
from ..robot.limb_unification import cure
from ..schedule.partition import Piece
from ..system.progress import Progress
from ..tasks.stage import constant
from ..words.input_domain import InputDomain
from .front import Front
from .limbs.names import LimbError
from .limbs.pieces import cut_limbs, split_limbs
from .limbs.split import Split
from .paces import stage_intervals
from .stage_pieces import StagePieces, by_columns, cut_whole, pieces_of_joints
from .words import sample_inputs, with_extremes

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
        if front.design.root == "each":
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
