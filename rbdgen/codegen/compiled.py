"""Functions in integers for batches: in NumPy, and in compiled C once that costs less.

What NumPy computes is the specification, and C the same in every bit. Compiling takes as long as
NumPy takes for some 200000 states, or for one state 60 times. So it is begun when NumPy has taken
that long, and a run takes at most twice what the better of the two would have. What was compiled
before is looked for sooner. Results do not show which it was.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph.fixed import Integers
from ..system.compiler import CompilerError, NoCompiler, c_library
from ..system.quoting import Progress
from ..system.records import Record
from .c_file import CFunction

COMPILING = 0.6e-3  # s a node, of gcc
LOOKING = 0.05  # of that, for the text, by whose digest a library is found
CHUNK = 10_000  # states at a time

Results = tuple[dict[str, Integers], NDArray[np.bool_]]  # words (N,) by name, flags (N, flags)
Reference = Callable[[Mapping[str, Integers]], Results]


@dataclass(frozen=True)
class CSources(Record):
    """C files by name, the functions in them, and the type of a word."""

    files: Mapping[str, str]
    functions: tuple[CFunction, ...]
    word: str


class Compiled:
    """Functions of a library, called with arrays."""

    def __init__(self, source: CSources, library: ctypes.CDLL) -> None:
        self._type = np.dtype(source.word.removesuffix("_t"))
        self._functions = {function.short: function for function in source.functions}
        self._calls = {}
        for short, function in self._functions.items():
            call = self._calls[short] = library[f"{function.name}_batch"]
            call.argtypes = [ctypes.c_size_t, *[ctypes.c_void_p] * 3]
            call.restype = ctypes.c_size_t

    def run(self, short: str, words: Mapping[str, Integers]) -> Results:
        """The results of the function that is ``short`` for words (N,) that fit their formats."""
        function = self._functions[short]
        n = len(words[function.inputs[0].name])
        given = np.empty((n, len(function.inputs)), self._type)
        for k, word in enumerate(function.inputs):
            given[:, k] = words[word.name]
        found = np.empty((n, len(function.outputs)), self._type)
        flags = np.empty((n, function.flags), np.uint8)
        self._calls[short](n, given.ctypes.data, found.ctypes.data, flags.ctypes.data)
        columns = found.T.astype(np.int64)
        names = [word.name for word in function.outputs]
        return dict(zip(names, columns, strict=True)), flags.astype(np.bool_)


class CompiledModel:
    """Functions in integers of graphs with so many ``nodes``.

    ``source``: them in C, or what writes them.
    """

    def __init__(
        self, source: CSources | Callable[[], CSources], nodes: int, progress: Progress
    ) -> None:
        self._expected, self._progress = COMPILING * nodes, progress
        self._nodes, self._spent, self._looked = nodes, 0.0, False
        self._make = source if callable(source) else lambda: source
        self._source = None if callable(source) else source
        self._compiled: Compiled | None = None

    def run(self, short: str, words: Mapping[str, Integers], reference: Reference) -> Results:
        """Results for words (N,) that fit their formats; ``reference`` is the same in NumPy."""
        n = len(next(iter(words.values())))
        if n <= CHUNK:
            return self._run(short, words, reference)
        chunks = []
        for start in range(0, n, CHUNK):
            some = {name: values[start : start + CHUNK] for name, values in words.items()}
            chunks.append(self._run(short, some, reference))
        results = {name: np.concatenate([own[name] for own, _ in chunks]) for name in chunks[0][0]}
        return results, np.concatenate([flags for _, flags in chunks])

    def _run(self, short: str, words: Mapping[str, Integers], reference: Reference) -> Results:
        if self._compiled is None:
            self._consider()
        if self._compiled is not None:
            return self._compiled.run(short, words)
        start = time.thread_time()
        found = reference(words)
        self._spent += time.thread_time() - start
        return found

    def _consider(self) -> None:
        """Compile, if NumPy has taken as long as that may take; or take what is kept."""
        if self._source is None and self._spent < LOOKING * self._expected:
            return
        wanted = self._spent >= self._expected
        if self._looked and not wanted:
            return
        self._looked = True
        try:
            self._source = self._source or self._make()
            library = c_library(self._source.files, kept_only=True)
            if library is None and wanted:
                self._progress(f"integer model: compiling {self._nodes} nodes")
                library = c_library(self._source.files)
            if library is not None:
                self._compiled = Compiled(self._source, library)
        except (NoCompiler, CompilerError) as error:
            self._progress(f"note: integer model stays in NumPy: {error}")
            self._expected = float("inf")
