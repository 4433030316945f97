"""The functions of a front in fixed point, in the pieces that stages compute."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from ..design.arrays import root_of
from ..design.design import Design
from ..dynamics.interface import random_inputs
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.visits import LIMB, Program
from ..schedule.partition import Piece, StagePieces, cut
from ..system.quoting import Progress
from ..tasks.routes import CORE
from ..words.input_domain import InputDomain
from ..words.program_ranges import ProgramDomain
from ..words.ranges import Ranges
from ..words.wordlength import input_formats
from .front import Front
from .words import (
    LIMB_SAMPLES,
    LIMB_SEED,
    in_words,
    program_in_words,
    program_of,
    sample_inputs,
    with_extremes,
)

if TYPE_CHECKING:
    from ..words.instances import FixedProgram
    from .limbs.split import Split


class FixedFunctions:
    """The functions of a front in fixed point, made once however often they are scheduled.

    An accelerator's are cut into the pieces of its stages; a core has one stage, `CORE`.
    """

    def __init__(self, front: Front, progress: Progress = lambda _: None) -> None:
        self.front, self.progress = front, progress
        self._alike: dict[bool, tuple[Split, StagePieces] | str] = {}
        self._joints: dict[tuple[frozenset[str], frozenset[str]], StagePieces] = {}

    @property
    def is_core(self) -> bool:
        """Whether there is one stage, each task of which computes all functions."""
        return not self.front.design.accelerator

    @cached_property
    def given(self) -> InputDomain:
        """Limits and samples of the inputs."""
        return sample_inputs(self.front)

    @cached_property
    def searched(self) -> InputDomain:
        """The same for what is made in parts."""
        return with_extremes(self.front, self.given, self.progress)

    @cached_property
    def whole(self) -> tuple[Ranges, FixedGraph]:
        """Ranges and words of the whole robot."""
        return in_words(self.front, self.front.graph, self.given, self.progress)

    @cached_property
    def roughly(self) -> FixedGraph:
        """The whole robot with ranges from states at random, without a search."""
        given = replace(self.given, domain=None)
        return in_words(self.front, self.front.graph, given, self.progress)[1]

    @cached_property
    def pieces(self) -> StagePieces:
        """The robot as it is; RobotError for a function that there is nothing to do for."""
        ranges, whole = self.whole
        if self.is_core:
            return StagePieces({CORE.stage: Piece(whole, {})}, whole.inputs, ranges=ranges)
        from .stage_pieces import complete, targets_of

        given = replace(self.given, extremes=ranges.extremes or self.given.extremes)
        return complete(self.front, cut(whole, targets_of(whole.graph)), whole.inputs, given)

    @cached_property
    def program(self) -> tuple[FixedProgram, int]:
        """The visits to joints of a core, and their width: the design's, or what its error takes.

        RobotError for joints that compute something else.
        """
        front, error = self.front, self.front.design.error
        if error is None:
            width = front.design.width
            made = program_in_words(front, front.graph, self.searched, width, self.progress)
            return made, width
        from ..words.program_words import program_within_error

        program = program_of(front, front.graph, self.searched, self.progress)
        return program_within_error(program, front.graph, self.searched, error, self.progress)

    @property
    def note_of_width(self) -> str:
        """The end of a note of `program`: the width that an error takes; empty without one."""
        error = self.front.design.error
        if error is None:
            return ""
        return f"; of one width, error {error:g} takes words of {self.program[1]} bits"

    def joints(self, design: Design, stages: Collection[str] | None = None) -> StagePieces:
        """The robot with time-multiplexed joints in some ``stages``, None: wherever they can be.

        The design differs from the front's in how often a task comes. RobotError where no joints
        can be time-multiplexed.
        """
        if self.is_core:
            program, _ = self.program
            piece = Piece(program.whole, {}, program, joints=True)
            return StagePieces({CORE.stage: piece}, program.whole.inputs)
        from .stage_pieces import BY_JOINTS, by_columns, pieces_of_joints

        stages, columns = stages or BY_JOINTS, by_columns(self.front, design)
        key = frozenset(stages), frozenset(columns)
        if key not in self._joints:
            self._joints[key] = pieces_of_joints(
                self.front, self.searched, self.progress, stages, columns
            )
        return self._joints[key]

    def alike(self, partly: bool) -> tuple[Split, StagePieces] | str:
        """The limbs that are alike, ``partly`` or in all that their joints feel, and the pieces, of
        which one limb's stand for all; or why none are.

        The robot consists of them, or, in an accelerator, they stand on a trunk that moves, or that
        others stand on.
        """
        if partly not in self._alike:
            self._alike[partly] = self._found(partly)
        return self._alike[partly]

    @cached_property
    def limbs(self) -> Program:
        """Visits to the first of the limbs that the robot consists of; LimbError if of none."""
        from .limbs.split import find_limbs

        front = self.front
        anything = random_inputs(front.canonical, front.graph.inputs, LIMB_SAMPLES, LIMB_SEED)
        return find_limbs(front.graph, front.canonical, anything)

    def _found(self, partly: bool) -> tuple[Split, StagePieces] | str:
        from .limbs.names import LimbError
        from .limbs.pieces import NOTHING, cut_limbs, split_limbs
        from .limbs.split import Split

        front = self.front
        try:
            if self.is_core:
                return Split(NOTHING, (self.limbs,), NOTHING, {}), self._of_limbs()
            if root_of(front.design) == "each":
                return "what their joints feel of the base differs by task (root: each)"
            limbs = split_limbs(front, partly)
            given = self.given if limbs.alone else self.searched
            return limbs, cut_limbs(front, limbs, given, self.progress)
        except LimbError as error:
            return str(error)

    def _of_limbs(self) -> StagePieces:
        """A core's, with the words of one limb, which serve all."""
        from ..words.instances import instantiate

        front, limbs = self.front, self.limbs
        given = ProgramDomain(limbs, self.given).of(LIMB)
        ranges, fixed = in_words(front, limbs.templates[LIMB], given, self.progress)
        names = Graph(front.graph.inputs, {})
        inputs = input_formats(names, self.given.limits, front.design.width)
        program = instantiate(limbs, {LIMB: fixed}, inputs)
        piece = Piece(program.whole, {}, program)
        return StagePieces({CORE.stage: piece}, inputs, ranges=ranges)
