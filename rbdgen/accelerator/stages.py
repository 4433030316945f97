"""The accelerator as data: its stages, its tasks' words and its results' words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..graph.fixed import FixedGraph, Format
from ..graph.node import Op
from ..passes.pieces import Piece
from ..schedule.limbs import AnyPlan
from .routes import (
    AGAIN,
    HOST,
    LAST,
    ORDER,
    WAITS,
    Source,
    kind_of,
    origin,
    place,
    route,
    stage_of,
    visits,
    words_taken,
)

HOP = 4  # cycles from a stage's result to the next stage's taking it
TAG = 16  # bits of a task's tag


@dataclass(frozen=True, eq=False)
class Stage:
    """What one piece of the graph became.

    ``plan`` is None for a piece without operations: its outputs are words that came, or constant.
    """

    name: str
    piece: Piece
    plan: AnyPlan | None

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
    def multipliers(self) -> int:
        return self.plan.multipliers if self.plan else 0

    @cached_property
    def outputs(self) -> dict[str, Format]:
        """The format of each output."""
        fixed = self.fixed
        return {name: fixed.formats[node] for name, node in fixed.graph.outputs.items()}

    def sources(self, function: str, visit: str) -> dict[str, Source]:
        """Where each operand of a visit comes from."""
        return {f: origin(f, function, visit, self.piece.reads) for f in self.fixed.graph.inputs}


@dataclass(frozen=True, eq=False)
class Accelerator:
    """Functions of a robot on shared stages.

    ``results``: function → the names of its outputs in the order in which they are given.
    ``slots``: tasks that may be under way. ``in_order``: results come in the order of the tasks,
    not as they finish (then too, those of one function are in order).
    """

    functions: tuple[str, ...]
    stages: Mapping[str, Stage]
    results: Mapping[str, tuple[str, ...]]
    slots: int
    in_order: bool

    @cached_property
    def words(self) -> dict[str, int]:
        """Width of each word of a task, by name, in order."""
        found: dict[str, int] = {}
        for stage in self.stages.values():
            for function, visit in self.visitors(stage.name):
                for field, source in stage.sources(function, visit).items():
                    if source.stage == HOST:
                        width = stage.fixed.inputs[field].width
                        found[source.field] = max(width, found.get(source.field, 0))
        return dict(sorted(found.items(), key=_position))

    @cached_property
    def formats(self) -> dict[str, dict[str, Format]]:
        """Function → the inputs that its task brings, in order, each with its format."""
        made = {}
        for function in self.functions:
            own: dict[str, Format] = {}
            for stage in self.stages.values():
                for visited, visit in self.visitors(stage.name):
                    if visited == function:
                        for field, source in stage.sources(function, visit).items():
                            if source.stage == HOST:
                                own[field] = stage.fixed.inputs[field]
            by_place = {place(field): field for field in own}
            taken = words_taken(function, self.words)
            # a word that only others read has a place all the same, and any format
            made[function] = {
                by_place.get(word, word): own[by_place[word]]
                if word in by_place
                else Format(self.words[word], 0)
                for word in taken
            }
        return made

    @cached_property
    def result_formats(self) -> dict[str, dict[str, Format]]:
        """Function → its outputs, in order, each with its format."""
        return {
            function: {
                name: self.stages[self.giver(function, name)].outputs[name]
                for name in self.results[function]
            }
            for function in self.functions
        }

    def giver(self, function: str, output: str) -> str:
        """The stage that gives an output of a function."""
        visited = visits(function, self.stages)
        return next(s for s in visited if output in self.stages[s].outputs)

    def visitors(self, stage: str) -> list[tuple[str, str]]:
        """(function, visit) of each way in which tasks come to a stage."""
        return [
            (function, visit)
            for function in self.functions
            for visit in self.route(function)
            if stage_of(visit) == stage
        ]

    def route(self, function: str) -> dict[str, tuple[str, ...]]:
        """Visit → where the task goes from there; without a stage `trig`, no visit to it."""
        whole = route(function, self.stages)
        return {visit: to for visit, to in whole.items() if stage_of(visit) in self.stages}

    def entries(self, function: str) -> tuple[str, ...]:
        """The stages that a task goes to when it comes."""
        return ("trig",) if "trig" in self.stages else route(function, self.stages)["trig"]

    def last(self, function: str) -> str:
        """The stage that completes a function."""
        return stage_of(LAST[function])

    @property
    def multipliers(self) -> int:
        """Hardware multipliers of all stages."""
        return sum(stage.multipliers for stage in self.stages.values())

    def interval(self, function: str) -> int:
        """Cycles from task to task of ``function`` alone, that the busiest stage needs."""
        counts = visits(function, self.stages)
        return max(count * self.stages[s].interval for s, count in counts.items())

    def latency(self, function: str) -> int:
        """About the cycles from a task's entry to its result, in an idle accelerator."""
        route = self.route(function)
        done: dict[str, int] = {}
        for visit in self.ordered(function):
            name = stage_of(visit)
            before = {v for v, leads in route.items() if visit in leads}
            before |= {WAITS[name]} & route.keys() if name in WAITS else set()
            start = max((done[v] for v in before), default=0)
            stage = self.stages[name]
            done[visit] = start + HOP + stage.interval // 2 + stage.latency
        return max(done.values()) + HOP

    def ordered(self, function: str) -> list[str]:
        """The visits of a function, each after those that it reads of."""
        late = (AGAIN, "gradient", "product")
        order = [*(name for name in self.stages if name not in late), *late]
        return sorted(self.route(function), key=order.index)


def constant(fixed: FixedGraph) -> bool:
    """Whether no operation is left in a piece."""
    return all(n.op in (Op.INPUT, Op.CONST, Op.MULC) for n in fixed.graph.nodes)


def _position(item: tuple[str, int]) -> tuple[int, list[int], str]:
    name, _ = item
    numbers = [int(k) for k in name[name.index("[") + 1 : name.index("]")].split(",")]
    return ORDER.index(kind_of(name)), numbers, name
