"""A core as an accelerator of one stage, without slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ..graph.fixed import FixedGraph, Format
from ..graph.graph import Graph
from ..graph.node import Op
from ..schedule.partition import Piece
from ..schedule.plan import Plan
from .routes import RESULT
from .stage import Stage
from .stages import Accelerator
from .visit import StageVisit

CORE = StageVisit("core")


class OneStage(Accelerator):
    """Each task brings all words and computes all functions; `one_stage` makes it."""

    @property
    def core(self) -> Stage:
        return self.stages[CORE.stage]

    @cached_property
    def words(self) -> dict[str, int]:
        """Width of each input, by name, in order."""
        return {name: word.width for name, word in self.inputs.items()}

    @cached_property
    def formats(self) -> dict[str, dict[str, Format]]:
        """Function → the inputs that its results follow from."""
        return {function: self._read(names) for function, names in self.results.items()}

    def _read(self, results: Sequence[str]) -> dict[str, Format]:
        whole = self.core.fixed.graph
        own = Graph(whole.inputs, {name: whole.outputs[name] for name in results})
        read = {node.name for node in own.nodes if node.op is Op.INPUT}
        return {name: word for name, word in self.inputs.items() if name in read}

    @cached_property
    def result_formats(self) -> dict[str, dict[str, Format]]:
        """Function → its outputs, in order, each with its format."""
        outputs = self.core.outputs
        return {own: {name: outputs[name] for name in names} for own, names in self.results.items()}

    @property
    def result_words(self) -> int:
        """How many words a result has: those of all functions."""
        return len(self.core.outputs)

    def word_of(self, field: str) -> str:
        """Each input is a word of its own."""
        return field

    def route(self, function: str) -> dict[StageVisit, tuple[StageVisit, ...]]:
        """The same for all functions."""
        return {CORE: (RESULT,)}

    def interval(self, function: str) -> int:
        """Cycles from task to task."""
        return self.core.interval

    def latency(self, function: str) -> int:
        """Cycles from a task's entry to its result."""
        return self.core.latency


def one_stage(
    functions: tuple[str, ...], fixed: FixedGraph, plan: Plan, results: Mapping[str, Sequence[str]]
) -> OneStage:
    """``results``: function → its outputs among those of ``fixed``, in their order."""
    stage = Stage(CORE.stage, Piece(fixed, {}), plan)
    named = {function: tuple(results[function]) for function in functions}
    return OneStage(functions, {CORE.stage: stage}, named, fixed.inputs, slots=0, in_order=True)
