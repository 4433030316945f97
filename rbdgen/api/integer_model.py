"""The integer model of a core for any number of states: in NumPy, in C, in C++ for HLS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codegen import hls_library
from ..codegen.c_program import GRAPH, core_function, sources
from ..codegen.compiled import Compiled, CompiledModel, CSources, Results
from ..codegen.hls_program import hls_files
from ..compile.core import Core
from ..design.naming import design_name
from ..graph.fixed import FixedGraph, Integers, evaluate_fixed
from ..graph.node import Node
from ..graph.parameters import parameter_words
from ..graph.visits import Program
from ..robot.model import RobotError
from ..schedule.flags import flagged_outputs
from ..system.c_library import FLAGS, c_library
from .program_folder import about

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
        self._held = parameter_words({"": core.fixed}) | dict(core.held)
        self._model = CompiledModel(self._source, len(core.fixed.graph.nodes), progress)

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

    def _source(self) -> CSources:
        return c_source(self.core, "model", ABOUT)


def c_source(core: Core, name: str, about: Mapping[str, str]) -> CSources:
    """The model in C, with a flag for each output. ``about``: ``robot`` and so on, in words."""
    flags = len(core.fixed.graph.outputs)
    file, function, word = core_function(core.fixed, flagged_outputs(core.plan), flags, name)
    return CSources(sources(file, [function], word, about), (function,), word)


def hls_program(core: Core, name: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The files of its functions, and what a manifest says of them."""
    plan = core.plan
    resources = _resources(core)
    # in logic too, they are multiplications to the tool, which limits all of them together
    shared = plan.interval > 1 and "fabric" not in resources.values()
    return hls_files(
        core.fixed,
        flagged_outputs(plan),
        {} if shared else resources,
        plan.interval,
        plan.multipliers if shared else 0,
        name,
        about(core.front),
        _program(core),
        plan.turns is not None,
    )


def _program(core: Core) -> tuple[Program, Mapping[str, FixedGraph]] | None:
    """The program that a core computes, if its design asks for loops."""
    if core.design.code != "loops":
        return None
    turns = core.plan.turns
    if turns is None or turns.what != "joints":
        raise RobotError("code: loops: of hls, for joints that take turns; add --fold joints")
    return turns.program.real, turns.program.templates


def _resources(core: Core) -> dict[tuple[str, Node], str]:
    """The resource (DSP or fabric) of each product, by kind and node; none for shared datapaths."""
    if core.plan.turns is not None:
        return {}
    binding, words = core.plan.binding, {"dsp": "dsp", "logic": "fabric"}
    kinds = {"mul": binding.style, "sincos": binding.sincos, "reciprocal": binding.recip}
    return {(kind, node): words[own] for kind, of in kinds.items() for node, own in of.items()}


def word_source(core: Core, language: str) -> tuple[CSources, tuple[str, ...]]:
    """The function in ``c`` or ``hls`` for states in rows, and the flags to compile it with.

    Of hls NoHeaders.
    """
    front = core.front
    name = design_name(front.robot.name, front.design)
    if language == "c":
        return c_source(core, name, {**about(front), "graph": GRAPH}), FLAGS
    return hls_library.batch_source(*hls_program(core, name), name), hls_library.flags()


def word_program(
    core: Core, language: str, progress: Callable[[str], None]
) -> Callable[[Mapping[str, Integers]], Results]:
    """The function in ``c`` or ``hls``: what `IntegerModel` gives, of the same words.

    NoCompiler, CompilerError; of hls NoHeaders, too.
    """
    source, flags = word_source(core, language)
    progress(f"{language}: {source.functions[0].name}, {len(core.fixed.graph.nodes)} nodes")
    library = c_library(source.files, flags=flags)
    assert library is not None
    compiled = Compiled(source, library)
    held = parameter_words({"": core.fixed}) | dict(core.held)

    def run(words: Mapping[str, Integers]) -> Results:
        n = len(next(iter(words.values())))
        return compiled.run("", {**words, **{k: np.full(n, word) for k, word in held.items()}})

    return run
