"""The integer model of an accelerator, in compiled C where that costs less than NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..codegen.c_file import File, word_type
from ..codegen.c_program import sources
from ..codegen.compiled import CompiledModel, CSources, Results
from ..graph.fixed import Flags, Integers
from ..graph.parameters import Held
from .c import add_tasks, all_words
from .model import NOTHING_HELD, evaluate_task
from .routes import place
from .stages import Accelerator

ABOUT = {"robot": "", "functions": "tasks", "graph": ""}


class TaskModel:
    """``evaluate_task`` for repeated calls, in compiled C where that takes less time."""

    def __init__(
        self,
        accelerator: Accelerator,
        progress: Callable[[str], None] = lambda _: None,
        held: Held = NOTHING_HELD,
    ) -> None:
        self.accelerator, self._progress = accelerator, progress
        self.hold(held)

    def hold(self, words: Mapping[str, Any]) -> None:
        """Other words in the registers for many tasks, which stand in the C."""
        self.held: Held = {name: np.array(word) for name, word in words.items()}
        nodes = sum(len(stage.fixed.graph.nodes) for stage in self.accelerator.stages.values())
        self._model = CompiledModel(self._source, nodes, self._progress)

    def __call__(
        self, function: str, words: Mapping[str, Integers]
    ) -> tuple[dict[str, Integers], Flags]:
        """Results (N,) of tasks by output, and flags (N,); ``words`` fit the function's formats."""

        def reference(words: Mapping[str, Integers]) -> Results:
            found, flags = evaluate_task(self.accelerator, function, words, held=self.held)
            return found, flags[:, None]

        brought = {place(word): values for word, values in words.items()}
        words = {word: brought[place(word)] for word in self.accelerator.formats[function]}
        found, flags = self._model.run(function, words, reference)
        return found, flags[:, 0]

    def _source(self) -> CSources:
        return tasks_source(self.accelerator, self.held)


def tasks_source(accelerator: Accelerator, held: Held = NOTHING_HELD) -> CSources:
    """The accelerator's functions in C; ``held``: words in registers, in place of their own."""
    file = File("tasks")
    functions = tuple(add_tasks(file, accelerator, held))
    word = word_type(all_words(accelerator))
    return CSources(sources(file, functions, word, ABOUT), functions, word)
