"""A stage of an accelerator as data: a piece of the graph, its plan, its operands' sources."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..graph.fixed import FixedGraph, Format
from ..graph.node import STILL, Op
from ..schedule.partition import Piece
from ..schedule.plan import Plan
from .routes import STAGES, Source, StageVisit, origin, part_of


@dataclass(frozen=True, eq=False)
class Stage:
    """The stage that one piece of the graph became.

    ``plan`` is None for a piece without operations: its outputs are words that came, or constant.
    ``given``: how many of v's first entries are the base's, its motion being given. ``of_limbs``:
    the outputs that stages of limbs give, and not those that they are part of, with their part.
    """

    name: str
    piece: Piece
    plan: Plan | None
    given: int = 0
    of_limbs: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def fixed(self) -> FixedGraph:
        return self.piece.fixed

    @property
    def interval(self) -> int:
        """Cycles from task to task."""
        return self.plan.interval if self.plan else 1

    @property
    def latency(self) -> int:
        """Cycles from a task's entry to its result."""
        return self.plan.latency if self.plan else 1

    @property
    def takes_every(self) -> int:
        """n: it takes tasks, while it has room, in every n-th cycle, counted from reset."""
        return self.plan.takes_every if self.plan else 1

    @property
    def multipliers(self) -> int:
        return self.plan.multipliers if self.plan else 0

    @property
    def limbs(self) -> int:
        """How many limbs are time-multiplexed in the datapath of one."""
        turns = self.plan.turns if self.plan else None
        return turns.count if turns and turns.what == "limbs" else 1

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


def constant(fixed: FixedGraph) -> bool:
    """Whether no operation is left in a piece."""
    return all(n.op in (Op.INPUT, *STILL, Op.MULC) for n in fixed.graph.nodes)
