"""A stage of an accelerator as data: a piece of the graph, its plan, its operands' sources."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..design.facts import StageFacts
from ..graph.fixed import FixedGraph, Flagged, Format
from ..graph.node import STILL, Op
from ..schedule.partition import Piece
from ..schedule.plan import Plan, flagged_outputs
from .routes import LIMBS, STAGES, Source, StageVisit, origin, parse, part_of

AT_ONCE = StageFacts(1, 1, 0, 1, {})  # of a stage without operations


@dataclass(frozen=True, eq=False)
class Stage:
    """The stage that one piece of the graph became.

    ``plan`` is None for a piece without operations: its outputs are words that came, or constant;
    and for a stage that is read from a design's folder, which says in ``filed`` and ``raised`` what
    tasks and their flags need of a plan. ``given``: how many of v's first entries are the base's,
    its motion being given. ``of_limbs``: `of_limbs` of all pieces.
    """

    name: str
    piece: Piece
    plan: Plan | None
    given: int = 0
    of_limbs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    filed: StageFacts = AT_ONCE
    raised: Flagged = dataclasses.field(default_factory=dict)

    @property
    def fixed(self) -> FixedGraph:
        return self.piece.fixed

    @property
    def interval(self) -> int:
        """Cycles from task to task."""
        return (self.plan or self.filed).interval

    @property
    def latency(self) -> int:
        """Cycles from a task's entry to its result."""
        return (self.plan or self.filed).latency

    @property
    def takes_every(self) -> int:
        """n: it takes tasks, while it has room, in every n-th cycle, counted from reset."""
        return (self.plan or self.filed).takes_every

    @property
    def multipliers(self) -> int:
        return (self.plan or self.filed).multipliers

    @property
    def limbs(self) -> int:
        """How many limbs are time-multiplexed in the datapath of one."""
        if self.plan is None:
            return self.filed.limbs_in_turn
        turns = self.plan.turns
        return turns.count if turns and turns.what == "limbs" else 1

    @cached_property
    def flagged(self) -> Flagged:
        """Node that can overflow → the outputs, by number, whose flags it raises in a core."""
        return self.raised if self.plan is None else flagged_outputs(self.plan)

    @cached_property
    def outputs(self) -> dict[str, Format]:
        """The format of each output."""
        fixed = self.fixed
        return {name: fixed.formats[node] for name, node in fixed.graph.outputs.items()}

    def sources(self, function: str, visit: StageVisit) -> Mapping[str, Source]:
        """Where each operand of a visit comes from."""
        if (function, visit) not in self._sources:
            self._sources[function, visit] = self._found(function, visit)
        return self._sources[function, visit]

    @cached_property
    def _sources(self) -> dict[tuple[str, StageVisit], dict[str, Source]]:
        return {}  # what has been asked for

    def _found(self, function: str, visit: StageVisit) -> dict[str, Source]:
        reads, given = self.piece.reads, self.given
        found = {f: origin(f, function, visit, reads, given) for f in self.fixed.graph.inputs}
        for name, source in found.items():
            if name not in reads and source.stage in STAGES and source.field in self.of_limbs:
                part = self.of_limbs[source.field]
                found[name] = Source(part_of(source.stage, part), source.field)
        return found


def of_limbs(pieces: Mapping[str, Piece]) -> dict[str, str]:
    """The outputs that stages of limbs give, and not those that they are part of, with the part."""
    return {
        output: parse(name).part
        for name, piece in pieces.items()
        if parse(name).part in LIMBS
        for output in piece.fixed.graph.outputs
    }


def constant(fixed: FixedGraph) -> bool:
    """Whether no operation is left in a piece."""
    return all(n.op in (Op.INPUT, *STILL, Op.MULC) for n in fixed.graph.nodes)
