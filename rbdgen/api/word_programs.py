"""A core's integer model as its C and its HLS C++ have it: compiled from that text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..codegen import hls_library
from ..codegen.c_program import GRAPH
from ..codegen.compiled import Compiled, Results, Source
from ..compile.core import Core
from ..design.naming import design_name
from ..graph.fixed import Integers
from ..graph.held import held_words
from ..system.c_library import FLAGS, c_library
from .hls_program import hls_program
from .integer_model import c_source
from .program_folder import about


def word_source(core: Core, language: str) -> tuple[Source, tuple[str, ...]]:
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
    held = held_words({"": core.fixed}) | dict(core.held)

    def run(words: Mapping[str, Integers]) -> Results:
        n = len(next(iter(words.values())))
        return compiled.run("", {**words, **{k: np.full(n, word) for k, word in held.items()}})

    return run
