"""The integer model of a core for any number of states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..codegen.c_program import core_function, sources
from ..codegen.compiled import Model, Results, Source
from ..compile.core import Core
from ..graph.fixed import Integers, evaluate_fixed
from ..graph.held import held_words
from ..schedule.flags import flagged_outputs

ABOUT = {"robot": "", "functions": "functions", "graph": ""}


def integer_results(
    core: Core, words: Mapping[str, Integers]
) -> tuple[dict[str, Integers], NDArray[np.bool_]]:
    """Output words (N,) by name, and the overflow flag (N, outputs) of each."""
    result = evaluate_fixed(core.fixed, {**words, **core.held})
    n = len(next(iter(words.values()))) if words else 0
    return result.outputs, core.plan.flagged(result.overflowed, n)


class IntegerModel:
    """``integer_results``, in compiled C where that takes less time than NumPy."""

    def __init__(self, core: Core, progress: Callable[[str], None] = lambda _: None) -> None:
        self.core = core
        self._held = held_words({"": core.fixed}) | dict(core.held)
        self._model = Model(self._source, len(core.fixed.graph.nodes), progress)

    def __call__(self, words: Mapping[str, Integers]) -> Results:
        """Output words (N,) by name and flags (N, outputs), of words that fit their formats."""
        if fixed := self._held:
            n = len(next(iter(words.values())))
            words = {**words, **{name: np.full(n, word) for name, word in fixed.items()}}
        return self._model.run("", words, lambda own: integer_results(self.core, own))

    def hold(self, words: Mapping[str, int]) -> None:
        """Other words in the registers for many tasks."""
        self._held = {name: np.array(word) for name, word in words.items()}
        self.core = replace(self.core, held=self._held)

    def _source(self) -> Source:
        return c_source(self.core, "model", ABOUT)


def c_source(core: Core, name: str, about: Mapping[str, str]) -> Source:
    """The model in C, with a flag for each output. ``about``: ``robot`` and so on, in words."""
    flags = len(core.fixed.graph.outputs)
    file, function, word = core_function(core.fixed, flagged_outputs(core.plan), flags, name)
    return Source(sources(file, [function], word, about), (function,), word)
